"""Notebook 00's prediction: what each answer says is computed, and true of the right one alone."""

import pytest

from course_lib import data
from course_lib.attention import self_attention
from course_lib.exercises.predictions import PREDICTIONS


def at_dog(sentence):
    """The score and the weight that "bites" gives to "dog"."""
    tokens, X = data.vectors(sentence)
    found = self_attention(X, *data.saw()[3:])
    pair = tokens.index("bites"), tokens.index("dog")
    return found.scores[pair], found.weights[pair]


def test_the_weight_of_dog_grows_when_two_words_go():
    (score, weight), (same, now) = at_dog("the dog bites the man"), at_dog("the dog bites")
    assert same == pytest.approx(score) and f"{weight:.2f}" == "0.29"  # as the question says
    assert PREDICTIONS["00-fewer"].tells == [f"{now:.2f}"]
    true = {
        "It stays at 0.29": now == pytest.approx(weight),
        "It falls": now < weight - 1e-9,
        "It grows": now > weight + 1e-9,
    }
    assert {answer.text: answer.right for answer in PREDICTIONS["00-fewer"].answers} == true


def test_it_is_the_only_prediction_of_the_notebook():
    assert [name for name in PREDICTIONS if name.startswith("00-")] == ["00-fewer"]
