"""Checks of the exercises: run the learner's function, name the slip, never break the cell."""

import contextlib
import copy
import difflib
import io
import warnings
from typing import NamedTuple

import numpy as np

from course_lib.exercises import EXERCISES

NUMBERS = (np.ndarray, np.generic, float)


class Problem(str):
    """In place of an answer: why there is none, in one line."""


class Result(NamedTuple):
    """What a check found: passed or not, the name of the slip if it is a known one, and what to say."""

    passed: bool
    slip: str | None
    message: str


def check(exercise, function):
    """Print what grade finds, for the learner.  exercise: an id such as "04-softmax"."""
    result = grade(exercise, function)
    slip = f" ({result.slip})" if result.slip else ""
    print(f"{exercise}: {'passed' if result.passed else 'not yet'}{slip}. {result.message}")


def grade(exercise, function):
    """Compare a learner's function with the reference on every probe.  ->  Result

    Raises nothing, whatever the function does: an unknown exercise and a function that is none are answered too.
    """
    if not isinstance(exercise, str) or exercise not in EXERCISES:
        near = difflib.get_close_matches(str(exercise), EXERCISES, n=1) or sorted(EXERCISES)
        return Result(False, None, f"There is no exercise of this name; there is {', '.join(near)}.")
    if not callable(function):
        return Result(False, None, f"Give the function itself, without brackets: this is {_kind(function)}.")
    try:
        return _grade(function, *EXERCISES[exercise])
    except Exception as error:  # a result so odd that comparing it fails
        return Result(
            False, None, f"What your function returns cannot be compared: {type(error).__name__}: {error}"
        )


def _grade(function, reference, probes, slips):
    answers = []
    for probe in probes:
        inputs = copy.deepcopy(probe)
        answers.append(_run(function, inputs))
        if not _same(inputs, probe):
            return Result(
                False,
                "changes its input",
                "Your function writes into the arrays it is given. Work on new "
                "arrays: X = X + 1 makes one, X += 1 does not.",
            )
    wanted = [reference(*copy.deepcopy(probe)) for probe in probes]
    if all(map(_same, answers, wanted)):
        return Result(True, None, f"Equal to the reference on every input tried ({len(probes)}).")
    telling = [
        i for i, got in enumerate(answers) if not isinstance(got, Problem) and not _same(got, wanted[i])
    ]
    for slip in slips if telling else ():
        if all(_same(got, _run(slip.wrong, copy.deepcopy(probe))) for got, probe in zip(answers, probes)):
            first = telling[0]
            with np.errstate(all="ignore"):
                number = slip.number(answers[first], wanted[first], *probes[first])
            return Result(False, slip.name, slip.hint.format(number=number))
    for got, want in zip(answers, wanted):
        if isinstance(got, Problem):
            return Result(False, None, got)
        if not _same(got, want):
            return Result(False, None, _difference(got, want))


def _run(function, inputs):
    """The function's result on these inputs, or the Problem it has."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = function(*inputs)
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        shapes = ", ".join(str(np.shape(i)) for i in inputs if isinstance(i, np.ndarray))
        given = f" (inputs of shape {shapes})" if shapes else ""
        return Problem(f"Your function stopped with {type(error).__name__}: {text}{given}.")
    if result is None or result is ...:
        return Problem("Your function returns None: write your lines and return what they make.")
    return result


def _same(got, want):
    """Equal in kind, shape and (to 1e-9) in numbers; tuples part by part, words exactly, sets in any order."""
    if isinstance(want, Problem):
        return isinstance(got, Problem) and got == want
    if isinstance(want, tuple):
        return isinstance(got, tuple) and len(got) == len(want) and all(map(_same, got, want))
    if isinstance(want, set):
        return isinstance(got, (set, list, tuple)) and set(got) == want
    if isinstance(want, NUMBERS):
        return (
            isinstance(got, (*NUMBERS, int))
            and np.shape(got) == np.shape(want)
            and np.asarray(got).dtype.kind in ("b" if np.asarray(want).dtype == bool else "iuf")
            and np.allclose(got, want, rtol=1e-9, atol=1e-9, equal_nan=True)
        )
    return type(got) is type(want) and got == want


def _difference(got, want, part=""):
    """One sentence on the first thing that is not as it should be."""
    if isinstance(want, tuple):
        if not isinstance(got, tuple) or len(got) != len(want):
            return f"Return {len(want)} things, separated by commas; this is {_kind(got)}."
        at = next(i for i in range(len(want)) if not _same(got[i], want[i]))
        return _difference(got[at], want[at], f"Of what you return, number {at + 1}: ")
    if isinstance(want, set) and isinstance(got, (set, list, tuple)):
        return f"{part}You name {len(set(got))} of which {len(set(got) & want)} are right; {len(want - set(got))} are missing."
    if not isinstance(want, NUMBERS):
        return (
            f"{part}Not {got!r}."
            if type(got) is type(want)
            else f"{part}This is {_kind(got)}, not {_kind(want)}."
        )
    if not isinstance(got, (*NUMBERS, int)):
        thing = f"a NumPy array of shape {np.shape(want)}" if np.shape(want) else "a single number"
        return f"{part}This is {_kind(got)}; return {thing}."
    if np.shape(got) != np.shape(want):
        return f"{part}Your shape is {np.shape(got)}, it should be {np.shape(want)}."
    if np.asarray(want).dtype == bool or np.asarray(got).dtype.kind not in "iuf":
        if np.asarray(got).dtype != np.asarray(want).dtype:
            return f"{part}Your array holds {np.asarray(got).dtype}, it should hold {np.asarray(want).dtype}."
    got, want = np.asarray(got, dtype=float), np.asarray(want)
    if np.isnan(got).any() and not np.isnan(want).any():
        return f"{part}{np.isnan(got).sum()} of {got.size} entries are nan."
    if got.size and np.allclose(got, want, rtol=1e-4, atol=1e-4):
        return (
            f"{part}Close, but off by {np.abs(got - want).max():.1e}: compute in float64 and round nothing."
        )
    place = tuple(map(int, np.argwhere(~np.isclose(got, want, rtol=1e-9, atol=1e-9, equal_nan=True))[0]))
    where = f"entry {list(place)}" if place else "the number"
    return f"{part}The shape is right, but {where} is {got[place]:.3f} where it should be {want[place]:.3f}."


def _kind(thing):
    return {
        "ndarray": "an array",
        "tuple": "a tuple",
        "list": "a list",
        "NoneType": "None",
        "str": "a text",
    }.get(type(thing).__name__, f"of type {type(thing).__name__}")
