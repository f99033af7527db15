"""Notebook 02's predictions: what each answer says is computed, and true of the right one alone."""

import itertools
import re

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import self_attention
from course_lib.exercises.predictions import PREDICTIONS

TOKENS, _, X, W_q, W_k, W_v = data.saw()
I, SAW, A = 0, 1, 2
BEFORE = self_attention(X, W_q, W_k, W_v, scaled=False)


def number(text):
    """The number in an answer, its minus sign as printed in text."""
    return float(re.search(r"−?\d+", text).group().replace("−", "-"))


def most_named_rightly():
    """The best of all functions of one token: one kind for each different row; the saws are of two kinds."""
    kinds, rows = ("deed", "being", "thing"), [tuple(row) for row in X]
    rules = (dict(zip(set(rows), named)) for named in itertools.product(kinds, repeat=len(set(rows))))
    return max((rule[rows[1]] == "deed") + (rule[rows[3]] == "thing") for rule in rules)


def alone():
    best = most_named_rightly()
    return {"Both": best == 2, "One at most": best == 1, "None": best == 0}


def values():
    """Each answer names stages; the right one names those that move, whichever entry changes and how."""
    rng, moved = np.random.default_rng(0), set()
    for entry in np.ndindex(W_v.shape):
        changed = W_v.copy()
        changed[entry] += rng.normal()
        after = self_attention(X, W_q, W_k, changed, scaled=False)
        pairs = zip(BEFORE._fields, after, BEFORE)
        moved.add(frozenset(name for name, now, then in pairs if not np.array_equal(now, then)))
    (moved,) = moved
    answers = [answer.text for answer in PREDICTIONS["02-values"].answers]
    named = {text: set(re.findall(r"\b(?:Q|K|V|scores|weights|output)\b", text)) for text in answers}
    return {text: stages == moved for text, stages in named.items()}


def swap():
    after = self_attention(X, W_k, W_q, W_v, scaled=False).scores
    np.testing.assert_array_equal(after, BEFORE.scores.T)
    assert (BEFORE.scores[SAW, A], BEFORE.scores[A, SAW]) == (-1, 1)  # as the question says
    return {text: number(text) == after[SAW, A] for text in ("Now 1", "Still −1", "Now 0")}


def turn():
    R = np.array([[0, 1], [-1, 0]])
    after = self_attention(X, W_q @ R, W_k @ R, W_v, scaled=False)
    assert (np.abs(after.Q - BEFORE.Q).max(axis=1) > 0).all()  # every query is a new one
    changed, some = after.scores != BEFORE.scores, BEFORE.scores != 0
    flipped = np.array_equal(after.scores[some], -BEFORE.scores[some])
    return {"All:": changed[some].all(), "All change": flipped, "None": not changed.any()}


def nothing():
    after = self_attention(X, 0 * W_q, W_k, W_v)
    assert not after.Q.any() and not after.scores.any()
    return {
        "Zeros": not after.output.any(),
        "The plain mean": np.allclose(after.output, after.V.mean(axis=0)),
        "Its own value": np.allclose(after.output, after.V),
    }


def one_matrix():
    shared = self_attention(X, W_q, W_q, W_v, scaled=False).scores
    assert shared[SAW, A] == 3  # as the question says
    rng = np.random.default_rng(0)
    drawn = [(rng.normal(size=(5, 3)), rng.normal(size=(3, 2))) for _ in range(20)]
    mutual = all(
        np.allclose(found.scores, found.scores.T) for x, W in drawn for found in [self_attention(x, W, W, W)]
    )
    return {
        "−3": shared[A, SAW] == -3,
        "It cannot be said": not mutual,
        "3 as well": mutual and shared[A, SAW] == 3,
    }


CLAIMS = {
    "02-alone": alone,
    "02-values": values,
    "02-swap": swap,
    "02-turn": turn,
    "02-nothing": nothing,
    "02-one-matrix": one_matrix,
}


def test_every_prediction_of_the_notebook_is_computed():
    assert set(CLAIMS) == {name for name in PREDICTIONS if name.startswith("02-")}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_right_answer_is_the_one_that_is_true(name):
    answers, claims = PREDICTIONS[name].answers, CLAIMS[name]()
    assert len(claims) == len(answers)
    for begins, true in claims.items():
        (answer,) = [each for each in answers if each.text.startswith(begins)]
        assert answer.right == bool(true), answer.text
