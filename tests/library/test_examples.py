"""Every public function of the maths and of data shows one example, and the example is true."""

import doctest
import importlib
import inspect

import pytest

ROOMS = ["attention", "heads", "sequence", "data"]


def public(module):
    return [
        each
        for name, each in vars(module).items()
        if inspect.isfunction(each) and each.__module__ == module.__name__ and not name.startswith("_")
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_examples_are_true(room):
    assert doctest.testmod(importlib.import_module(f"course_lib.{room}")).failed == 0


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_function_has_an_example(room):
    functions = public(importlib.import_module(f"course_lib.{room}"))
    assert functions
    assert [each.__name__ for each in functions if ">>> " not in each.__doc__] == []
