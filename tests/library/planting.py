"""Wrong lines, planted in a copy of a module: the tests above them must turn red."""

import contextlib
import warnings
from pathlib import Path

import numpy as np
import pytest


def plant(module, pairs):
    """The functions of `module` as they are with each right line exchanged for a wrong one."""
    source = Path(module.__file__).read_text(encoding="utf-8")
    for right, wrong in pairs:
        assert right in source, f"the slip no longer fits the source: {right}"
        source = source.replace(right, wrong)
    return defined(source)


def defined(source):
    """What the source of a module (as text or tree) defines: its functions and classes by name."""
    names = {"__name__": "planted"}
    exec(compile(source, "planted", "exec"), names)
    return {name: each for name, each in names.items() if getattr(each, "__module__", None) == "planted"}


@contextlib.contextmanager
def noticed():
    """What is inside must fail, and not because the slip itself cannot run."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), pytest.raises(BaseException) as caught:
        warnings.simplefilter("ignore")
        yield
    assert not isinstance(caught.value, (KeyboardInterrupt, NameError, SyntaxError, AttributeError))
