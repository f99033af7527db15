"""What every test and every notebook kernel starts from."""

import os
import tempfile

# Tests run side by side, one a core: threads of the matrix library would be in each other's way.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
# Neither start-up files of the reader's own IPython, nor his history of commands.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["IPYTHONDIR"] = tempfile.mkdtemp(prefix="course-ipython-")

# No examples kept from run to run, and no test that fails because a machine is slow.
from hypothesis import settings

settings.register_profile("course", database=None, deadline=None, derandomize=True, max_examples=50)
settings.load_profile("course")
