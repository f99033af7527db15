"""Every exercise: what is right passes, what is wrong does not, and each slip gets its own hint."""

import ast
import copy
import json
import re
from pathlib import Path

import numpy as np
import pytest
from loops import LOOPS
from right import RIGHT
from wrong import cases, wrong_answers

from course_lib import checks
from course_lib.checks import grade
from course_lib.exercises import EXERCISES
from course_lib.exercises.compare import same

HERE = Path(__file__).resolve()
NOTEBOOKS = HERE.parents[2] / "notebooks"
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
    """What the notebook imports: all that an answer may lean on."""
    names = {}
    for name, source in cells("code"):
        for node in ast.parse(source).body if name == path and "%" not in source[:1] else []:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                exec(ast.unparse(node), names)
    return names


def called(function, call):
    *places, named = copy.deepcopy(call) if isinstance(call[-1], dict) else (*copy.deepcopy(call), {})
    return function(*places, **named)


def others(name, count=2000):
    """Calls that the text allows and a check does not make."""
    rng = np.random.default_rng(1)
    for _ in range(count):
        yield EXERCISES[name].draw(rng)


def outcome(name, slip):
    """What a slip gives on each call that a check makes, as far as it is asked."""
    exercise = EXERCISES[name]
    return (checks._comes(slip.wrong, exercise, number) for number in range(len(exercise.calls)))


@pytest.mark.parametrize("name", EXERCISES)
def test_the_reference_equals_a_loop_and_passes(name):
    assert grade(name, EXERCISES[name].reference).passed
    for call in [*EXERCISES[name].calls, *others(name, 100)]:
        assert same(called(EXERCISES[name].reference, call), called(LOOPS[name], call)), call


@pytest.mark.parametrize("name, slip", SLIPS, ids=[f"{name}: {slip.name}" for name, slip in SLIPS])
def test_a_slip_gets_its_own_hint_and_no_other(name, slip, monkeypatch):
    few = EXERCISES[name].calls[:60]  # what tells slips apart on these does so on all
    monkeypatch.setattr(EXERCISES[name], "calls", few)
    result = grade(name, slip.wrong)
    assert (result.passed, result.slip) == (False, slip.name)
    hint, *call = result.message.splitlines()
    assert re.search(r"\{\w+", slip.hint) and "{" not in hint and re.search(r"\d|nan", hint)
    assert (
        call[0].startswith(("your_function(", slip.wrong.__name__))
        if hasattr(slip.wrong, "__name__")
        else call
    )
    for other in set(EXERCISES[name].slips) - {slip}:
        with np.errstate(all="ignore"):
            same_always = all(map(same, outcome(name, slip), outcome(name, other)))
        assert not same_always, f"never told from {other.name}"


@pytest.mark.parametrize("name", EXERCISES)
def test_an_exercise_knows_enough_slips_and_never_says_the_answer(name):
    slips = EXERCISES[name].slips
    assert len(slips) >= 7, "an exercise knows seven slips or more"
    assert len({slip.name for slip in slips}) == len(slips)
    assert not any(code in slip.hint for slip in slips for code in ("@", "np.", "swapaxes(", "def "))


def test_slips_that_a_learner_meets_have_a_name():
    names = {name: {slip.name for slip in exercise.slips} for name, exercise in EXERCISES.items()}
    assert {"cut by reshape alone"} <= names["07-split"] and {"pasted by reshape alone"} <= names["07-merge"]
    assert "only the last product" in names["03-scores"] & names["00-warm-up"]  # = for +=
    for name in ("03-scaled", "05-one-token", "05-attention", "06-row-form", "07-multi-head"):
        assert {"not scaled", "divided by d_k", "divided by half of d_k", "divided by twice d_k"} <= names[
            name
        ]
    assert {"(1 - mask) * -inf", "nan hidden", "-1e9 added"} <= names["04-masked-softmax"]
    assert {"the bare powers", "nan hidden"} <= names["04-softmax"]
    assert {"scores added before the softmax", "both by reshape"} <= names["07-multi-head"]
    for name in ("05-one-token", "05-attention", "06-row-form", "07-multi-head"):
        assert {
            "no softmax",
            "keepdims missing",
            "always the root of 2",
            "softmax down the columns",
        } <= names[name]
        assert {"queries and keys exchanged", "W_q used for the keys"} <= names[name]
    assert {"scores transposed", "values mixed with scores", "W_k used for the values"} <= names[
        "05-attention"
    ]
    assert "brackets of the exponent missing" in names["06-positions"]
    assert {"h_0 kept", "the first token skipped", "tanh at the very end"} <= names["08-rnn"]
    assert {"stack made one sentence", "stack flattened", "K.T on a stack"} <= names["06-row-form"]
    assert {"brackets missing", "all brackets missing"} <= names["06-positions"]
    assert {"W_k used for the values", "root of the number of heads", "K.T on heads"} <= names[
        "07-multi-head"
    ]
    assert "batch taken for heads" in names["07-split"] & names["07-merge"]
    assert (
        "scores and weights exchanged" in names["05-attention"]
        and "exponent doubled" in names["06-positions"]
    )
    assert "W_v moves the weights" in names["02-moves"] and "matrices turned over" in names["02-project"]
    assert {"nothing subtracted", "maximum of the undivided scores"} <= names["04-temperature"]


def test_there_are_enough_exercises():
    for place, names in (("a notebook", STUBS), ("loops.py", LOOPS), ("right.py", RIGHT)):
        assert set(names) == set(EXERCISES), f"not in {place}, or only there"
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
    assert not result.passed
    assert result.message == "Your function returns None: write your lines and return what they make."


@pytest.mark.parametrize("name", EXERCISES)
def test_the_answer_folded_in_the_notebook_passes(name):
    path, _, function = STUBS[name]
    names = imports_of(path)
    exec(ANSWERS[path, function], names)
    assert grade(name, names[function]).passed


@pytest.mark.parametrize("name", EXERCISES)
def test_draws_reach_all_that_the_text_allows(name):
    calls = EXERCISES[name].calls
    for case, holds in cases(name).items():
        assert any(holds(call) for call in calls), case
        assert name == "02-moves" or case == "n is 1" or not all(holds(call) for call in calls), case


@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_answers_are_refused_because_a_tried_call_shows_each(name):
    calls = EXERCISES[name].calls
    wants = [called(EXERCISES[name].reference, call) for call in calls]
    wrong = wrong_answers(name)
    assert len(wrong) >= 30
    for number, (what, make) in enumerate(wrong.items()):
        answer = make()
        with np.errstate(all="ignore"):
            assert not all(right_here(answer, *each) for each in zip(calls, wants)), f"passes: {what}"
        if number % 20 == 0:  # what grade says of some of them
            result = grade(name, make())
            assert not result.passed and result.message and "{" not in result.message.splitlines()[0], what


def right_here(answer, call, want):
    """Whether an answer that may raise anything is right on a call, and leaves its arguments as they are."""
    given = copy.deepcopy(call)
    *places, named = given if isinstance(given[-1], dict) else (*given, {})
    try:
        result = answer(*places, **named)
    except Exception:
        return False
    unchanged = all(np.array_equal(g, c) for g, c in zip(given, call) if isinstance(c, np.ndarray))
    return unchanged and same(result, want)


@pytest.mark.parametrize("name", EXERCISES)
def test_right_answers_are_taken_however_they_are_written(name):
    assert len(RIGHT[name]) >= 10
    for number, answer in enumerate(RIGHT[name]):
        result = grade(name, answer)
        assert result.passed, (number, result.message)


def test_the_slips_of_the_notebook_on_heads_are_those_of_the_exercises():
    from course_lib.exercises.multi_head import cut, paste

    assert grade("07-split", cut).slip == "cut by reshape alone"
    assert grade("07-merge", paste).slip == "pasted by reshape alone"
