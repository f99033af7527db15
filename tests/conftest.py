"""What every test and every notebook kernel starts from."""

import atexit
import os
import shutil
import tempfile

import pytest
from hypothesis import Phase, settings

# Tests run side by side, one a core: threads of the matrix library would be in each other's way.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
# Neither start-up files of the reader's own IPython, nor his history of commands.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["IPYTHONDIR"] = tempfile.mkdtemp(prefix="course-ipython-")
    atexit.register(shutil.rmtree, os.environ["IPYTHONDIR"], ignore_errors=True)

# No examples kept from run to run, and no test that fails because a machine is slow.
settings.register_profile("course", database=None, deadline=None, derandomize=True, max_examples=30)
settings.load_profile("course")


@pytest.fixture
def unshrunk(request, monkeypatch):
    """For planted failures: the module's property tests stop at the first one and do not make it smaller.

    A property test takes its settings where it is defined and offers no other way to change them.
    """
    first = settings(max_examples=15, phases=[Phase.explicit, Phase.generate])
    for test in vars(request.module).values():
        if hasattr(test, "_hypothesis_internal_use_settings"):
            monkeypatch.setattr(test, "_hypothesis_internal_use_settings", first)
