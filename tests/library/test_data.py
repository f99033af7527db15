"""What is read from data/, and that it is what its README says."""

import hashlib
import subprocess
import sys

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


def test_the_labeled_sentences():
    pairs = data.sentences()
    assert len(pairs) == 123 and len({tuple(words) for words, _ in pairs}) == 123
    labels = {}
    for words, own in pairs:
        assert len(words) == len(own) >= 2 and set(own) <= {"noun", "verb", "other"}
        for word, label in zip(words, own):
            assert word.isalpha()
            labels.setdefault(word.lower(), set()).add(label)
    assert labels["saw"] == labels["watch"] == labels["rest"] == {"noun", "verb"}
    for little in ("the", "a", "is", "to", "and", "or", "only", "today"):
        assert labels[little] == {"other"}


def test_the_sound_is_made_by_its_script(tmp_path):
    script = tmp_path / "make_vowels.py"
    script.write_text((data.DATA / "make_vowels.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, script], check=True, timeout=60)
    assert (tmp_path / "vowels.wav").read_bytes() == (data.DATA / "vowels.wav").read_bytes()
    samples, rate = data.vowels()
    assert rate == 8000 and np.abs(samples).max() == pytest.approx(20000 / 2**15)


def test_the_digit_is_ink_on_paper():
    assert data.digit().shape == (8, 8) and data.digit().min() == 0 and data.digit().max() == 9
