"""The predictions of notebook 01: what each answer claims is computed, and the right one alone is true."""

import numpy as np
import pytest

from course_lib import data
from course_lib.exercises.predictions import PREDICTIONS
from course_lib.explore.why_the_whole_sequence import sight, task
from course_lib.sequence import ceiling, convolution

SENTENCES = [([word.lower() for word in words], labels) for words, labels in data.sentences()]


def check_answers(name, claims):
    """claims: {text of an answer: whether what it claims is so}, for all answers."""
    assert claims == {answer.text: answer.right for answer in PREDICTIONS[name].answers}


def window(text, word, radius):
    words = text.lower().split()
    return sight(words, words.index(word), f"radius {radius}")


def test_window_one_pair_looks_the_same():
    pairs = {
        "“I need a saw” and “I saw”": ("i need a saw", "i saw", "saw"),
        "“a swim and walk” and “to swim and walk”": ("a swim and walk", "to swim and walk", "walk"),
        "“the only cook is ill” and “they only cook fish”": (
            "the only cook is ill",
            "they only cook fish",
            "cook",
        ),
    }
    claims = {text: window(a, word, 1) == window(b, word, 1) for text, (a, b, word) in pairs.items()}
    check_answers("01-window", claims)
    assert window("a swim and walk", "walk", 3) != window("to swim and walk", "walk", 3)


def test_step_nothing_until_the_cue_is_in_the_window():
    def best(radius):
        pairs = [(sight(x, i, f"radius {radius}"), y[i]) for x, y in task(-3) for i in range(7)]
        return ceiling(*zip(*pairs))

    found = [best(radius) for radius in range(4)]
    claims = {
        "It rises a little with every radius, as more is seen": all(np.diff(found) > 0),
        "It is high from radius 1 on: neighbors tell most": found[1] > 0.9,
        "It stays as it is up to radius 2, and is 100 % from 3 on": found == 3 * [found[0]] + [1],
    }
    check_answers("01-step", claims)


def test_prefix_the_first_word_must_be_guessed():
    seen = {}
    for text in ("work at home is hard", "work at home today"):
        ((words, labels),) = [pair for pair in SENTENCES if pair[0] == text.split()]
        for i, label in enumerate(labels):
            seen.setdefault(tuple(words[: i + 1]), set()).add(label)
    guessed = {prefix for prefix, labels in seen.items() if len(labels) > 1}
    claims = {
        "At “Work”, the first word": guessed == {("work",)},
        "At the last word, since the start is long ago": any(len(prefix) > 3 for prefix in guessed),
        "Nowhere: in the end it has read the whole sentence": not guessed,
    }
    check_answers("01-prefix", claims)


def test_memory_longer_windows_are_rarer():
    def known(radius):
        where = {}
        for k, (words, _) in enumerate(SENTENCES):
            for i in range(len(words)):
                where.setdefault(sight(words, i, f"radius {radius}"), []).append(k)
        return sum(len(each) for each in where.values() if len(set(each)) > 1)

    steps = np.diff([known(radius) for radius in range(6)])
    claims = {
        "They become more, as the ceiling does": (steps > 0).all(),
        "They become fewer": (steps < 0).all(),
        "They stay as many: the words are the same": (steps == 0).all(),
    }
    check_answers("01-memory", claims)


@pytest.mark.parametrize("seed", range(5))
def test_reach_two_layers_carry_twice_as_far(seed):
    rng = np.random.default_rng(seed)
    X, first, second = rng.normal(size=(9, 3)), rng.normal(size=(5, 3, 20)), rng.normal(size=(5, 20, 20))
    moved = X + np.eye(9)[:, 8:]

    def two(X):
        return convolution(convolution(X, first), second)

    rows = set(np.flatnonzero((np.abs(two(moved) - two(X)) > 1e-9).any(axis=1)) + 1)
    claims = {
        "The last only, as token 9 is the last": rows == {9},
        "The last three: the radius is 2": rows == {7, 8, 9},
        "The last five": rows == {5, 6, 7, 8, 9},
        "All nine: two layers see everything": len(rows) == 9,
    }
    check_answers("01-reach", claims)
