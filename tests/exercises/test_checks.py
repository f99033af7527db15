"""Every exercise: the reference passes, each slip gets its own hint, the answer in the notebook passes, nothing breaks."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib.checks import Result, check, grade
from course_lib.exercises import EXERCISES

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
SLIPS = [(name, slip) for name, exercise in EXERCISES.items() for slip in exercise.slips]


def cells(kind, folder=NOTEBOOKS):
    for path in sorted(folder.glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == kind:
                yield path.name, "".join(cell["source"])


STUBS = {
    name: (path, source, function)
    for path, source in cells("code")
    for name, function in re.findall(r'^check\("([\w-]+)", (\w+)\)', source, flags=re.M)
}
ANSWERS = {
    (path, ast.parse(block).body[0].name): block
    for path, source in cells("markdown")
    for block in re.findall(r"<summary>Answer</summary>\s+```python\n(.*?)```", source, flags=re.S)
}


def imports_of(path):
    """The notebook's import cell, run: all that an answer may lean on."""
    first = next(source for name, source in cells("code") if name == path)
    names = {}
    exec(first, names)
    return names


@pytest.mark.parametrize("name", EXERCISES)
def test_the_reference_passes(name):
    assert grade(name, EXERCISES[name].reference).passed


@pytest.mark.parametrize("name, slip", SLIPS, ids=[f"{name}: {slip.name}" for name, slip in SLIPS])
def test_a_slip_gets_its_own_hint_with_a_number(name, slip):
    result = grade(name, slip.wrong)
    assert (result.passed, result.slip) == (False, slip.name)
    assert "{number" in slip.hint and re.search(r"\d|nan|inf", result.message)


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_knows_enough_slips_and_never_says_the_answer(name):
    exercise = EXERCISES[name]
    assert len(exercise.slips) >= 3
    assert (
        len({slip.name for slip in exercise.slips})
        == len({slip.hint for slip in exercise.slips})
        == len(exercise.slips)
    )
    assert not any(code in slip.hint for slip in exercise.slips for code in ("@", "np.", "swapaxes(", "def "))


def test_there_are_enough_exercises():
    assert set(STUBS) == set(EXERCISES)
    for number, least in {"02": 2, "03": 2, "04": 2, "05": 2, "06": 3, "07": 3}.items():
        assert sum(name.startswith(number) for name in EXERCISES) >= least
    assert sum(name[:2] in ("02", "03", "04", "05") for name in EXERCISES) >= 10


@pytest.mark.parametrize("name", EXERCISES)
def test_the_stub_in_the_notebook_fails_kindly(name):
    path, source, function = STUBS[name]
    assert path.startswith(name[:2])
    names = imports_of(path)
    exec(source, names)
    result = grade(name, names[function])
    assert not result.passed and "returns None" in result.message


@pytest.mark.parametrize("name", EXERCISES)
def test_the_answer_folded_in_the_notebook_passes(name):
    path, _, function = STUBS[name]
    names = imports_of(path)
    exec(ANSWERS[path, function], names)
    assert grade(name, names[function]).passed


class Odd:
    """Something that refuses to be compared, shown or measured."""

    def __eq__(self, other):
        raise RuntimeError("no")

    __repr__ = __len__ = __array__ = __eq__
    __hash__ = None


def raises(*inputs):
    raise ZeroDivisionError("division by zero\nsecond line")


def leaves(*inputs):
    raise SystemExit(3)


def forever(*inputs):
    return forever(*inputs)


ODD = {
    "None": lambda *i: None,
    "dots": lambda *i: ...,
    "list": lambda *i: [1.0, 2.0],
    "text": lambda *i: "text",
    "dict": lambda *i: {"a": 1},
    "ragged": lambda *i: [[1], [1, 2]],
    "objects": lambda *i: np.array([None, "x"]),
    "texts": lambda *i: np.array(["a"]),
    "complex": lambda *i: np.array([1j]),
    "nan": lambda *i: np.array(np.nan),
    "raises": raises,
    "leaves": leaves,
    "recursion": forever,
    "input itself": lambda *i: i[0],
    "odd": lambda *i: Odd(),
    "tuple of odd": lambda *i: (Odd(), Odd(), Odd()),
    "set of lists": lambda *i: [[1], [2]],
    "no arguments": lambda: 1,
    "generator": lambda *i: (x for x in i),
    "not a function": 3,
    "a class": Odd,
    "True": lambda *i: True,
}


@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.parametrize("function", ODD.values(), ids=ODD)
def test_nothing_a_learner_returns_breaks_the_check(name, function, capsys):
    result = grade(name, function)
    assert isinstance(result, Result) and not result.passed and result.message
    check(name, function)
    printed = capsys.readouterr().out
    assert printed.startswith(f"{name}: not yet") and printed.count("\n") == 1


@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_kinds_of_the_right_numbers_are_told(name):
    reference = EXERCISES[name].reference

    def turned(kind):
        def function(*inputs):
            right = reference(*inputs)
            return tuple(map(kind, right)) if isinstance(right, tuple) else kind(right)

        return function

    right = reference(*EXERCISES[name].probes[0])
    if isinstance(right, (np.ndarray, tuple)):
        assert "list" in grade(name, turned(lambda part: part.tolist())).message
        assert "complex128" in grade(name, turned(lambda part: part + 0j)).message
        assert "<U" in grade(name, turned(lambda part: part.astype(str))).message
        assert "shape" in grade(name, turned(lambda part: part[None])).message


@pytest.mark.parametrize(
    "name", [name for name, exercise in EXERCISES.items() if isinstance(exercise.probes[0][0], np.ndarray)]
)
def test_changing_the_input_is_noticed_and_harmless(name):
    def careless(*inputs):
        right = EXERCISES[name].reference(*inputs)
        inputs[0][...] = 7
        return right

    before = [probe[0].copy() for probe in EXERCISES[name].probes]
    assert grade(name, careless).slip == "changes its input"
    assert all(np.array_equal(probe[0], kept) for probe, kept in zip(EXERCISES[name].probes, before))
    assert grade(name, EXERCISES[name].reference).passed


def test_printing_does_not_disturb(capsys):
    def chatty(*inputs):
        print("hello")
        return EXERCISES["02-project"].reference(*inputs)

    assert grade("02-project", chatty).passed
    assert capsys.readouterr().out == ""


def test_the_first_differing_entry_is_named_with_both_values():
    def off(X, W_q, W_k, W_v):
        Q, K, V = X @ W_q, X @ W_k, X @ W_v
        K[1, 0] += 5
        return Q, K, V

    message = grade("02-project", off).message
    X, _, W_k, _ = EXERCISES["02-project"].probes[0]
    value = (X @ W_k)[1, 0]
    assert "number 2" in message and "[1, 0]" in message
    assert f"{value + 5:.3f}" in message and f"{value:.3f}" in message


def test_an_unknown_exercise_is_answered_with_a_near_one():
    assert "02-project" in grade("02-projekt", lambda: 1).message
    assert "02-project" in grade("something else entirely", lambda: 1).message
    assert not grade(None, lambda: 1).passed
    assert not grade(["02-project"], lambda: 1).passed


def test_float32_is_told_to_be_too_coarse():
    def coarse(*inputs):
        return tuple(part.astype(np.float32) for part in EXERCISES["02-project"].reference(*inputs))

    assert "float64" in grade("02-project", coarse).message
