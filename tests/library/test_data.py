"""What is read from data/, and that it is what its README says."""

import hashlib

import numpy as np
import pytest

from course_lib import data


def test_the_running_example():
    tokens, features, X, W_q, W_k, W_v = data.saw()
    assert tokens == ["I", "saw", "a", "saw"] and features == ["deed", "being", "thing"]
    assert X.shape == (4, 3) and W_q.shape == W_k.shape == W_v.shape == (3, 2)
    assert all(np.array_equal(each, each.round()) for each in (X, W_q, W_k, W_v))
    assert np.array_equal(X[1], X[3])


def test_every_file_is_named_in_the_readme_with_its_hash():
    readme = (data.DATA / "README.md").read_text(encoding="utf-8")
    for path in data.DATA.iterdir():
        assert path.name in readme or path.name in ("README.md", "__pycache__")
    assert hashlib.sha256((data.DATA / "words.csv").read_bytes()).hexdigest() in readme


def test_a_sentence_of_ones_own():
    tokens, X = data.vectors("The DOG bites the man!")
    assert tokens == ["The", "DOG", "bites", "the", "man"] and X.shape == (5, 3)
    assert X[1].argmax() == X[4].argmax() == 1 and X[2].argmax() == 0
    assert np.array_equal(X[0], X[3])


@pytest.mark.parametrize(
    "sentence, words",
    [
        ("the elefant", "'elefant'.*elephant"),
        ("", "no word"),
        ("...", "no word"),
        ("don't go", "don't"),
        ("dog 猫", "猫"),
    ],
)
def test_a_word_without_a_vector_is_named(sentence, words):
    with pytest.raises(ValueError, match=words):
        data.vectors(sentence)


@pytest.mark.parametrize("sentence", [None, 3, ["the", "dog"], b"the dog"])
def test_a_sentence_is_text(sentence):
    with pytest.raises(ValueError, match="text in quotes"):
        data.vectors(sentence)
