"""Everything the course reads from data/; data/README.md says what each file is and where it is from."""

import csv
import difflib
import functools
import json
import pathlib
import re
import wave
from typing import NamedTuple

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE / "files" if (HERE / "files").exists() else HERE.parent  # installed from a wheel, or a clone
DATA = ROOT / "data"


class Example(NamedTuple):
    """The running example: tokens, the names of their features, and the three matrices."""

    tokens: list
    features: list
    X: np.ndarray  # (4, 3)  one row a token
    W_q: np.ndarray  # (3, 2)
    W_k: np.ndarray  # (3, 2)
    W_v: np.ndarray  # (3, 2)


def saw():
    """The four tokens "I saw a saw" with numbers small enough for paper.  ->  Example

    >>> saw().tokens, saw().X.shape, saw().W_q.shape
    (['I', 'saw', 'a', 'saw'], (4, 3), (3, 2))
    """
    stored = json.loads((DATA / "saw.json").read_text(encoding="utf-8"))
    words = {name: stored.pop(name) for name in ("tokens", "features")}
    return Example(**words, **{name: np.array(rows, dtype=float) for name, rows in stored.items()})


@functools.cache
def _words():
    with open(DATA / "words.csv", encoding="utf-8", newline="") as file:
        return {word: tuple(map(float, numbers)) for word, *numbers in list(csv.reader(file))[1:]}


def vectors(sentence):
    """A sentence of your own as tokens and vectors.  ->  list of n tokens, X (n, 3): deed, being, thing

    Capitals and punctuation do not matter. ValueError for what is no text, for a sentence
    without words, and for a word that is not listed, naming some spelled like it. Source: data/words.csv.

    >>> tokens, X = vectors("The dog bites!")
    >>> tokens, X.shape
    (['The', 'dog', 'bites'], (3, 3))
    """
    if not isinstance(sentence, str):
        raise ValueError(f"a sentence is text in quotes, not {sentence!r}")
    tokens = re.findall(r"\w+(?:['’]\w+)?", sentence)
    if not tokens:
        raise ValueError(f"there is no word in {sentence!r}")
    for token in tokens:
        if token.lower() not in _words():
            near = difflib.get_close_matches(token.lower(), _words(), n=3) if token.isalpha() else []
            like = f"; spelled like it: {', '.join(near)}" if near else "; try another"
            like = like if token.isalpha() else ", where words have letters only; try another"
            raise ValueError(f"{token!r} is not in the list of words{like}")
    return tokens, np.array([_words()[token.lower()] for token in tokens])


def sentences():
    """123 labeled sentences.  ->  list of pairs: the words of one, and their labels, noun, verb or other

    >>> sentences()[0]
    (['I', 'saw', 'a', 'saw'], ['other', 'verb', 'other', 'noun'])
    """
    lines = (DATA / "sentences.txt").read_text(encoding="utf-8").splitlines()
    pairs = [[word.partition("/")[::2] for word in line.split()] for line in lines]
    return [([word for word, _ in line], [label or "other" for _, label in line]) for line in pairs]


def vowels():
    """A small sound, "ah ee ah".  ->  samples (5760,) from -1 to 1, and how many of them make a second

    >>> samples, rate = vowels()
    >>> samples.shape, rate
    ((5760,), 8000)
    """
    with wave.open(str(DATA / "vowels.wav")) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 2**15, file.getframerate()


def digit():
    """A drawn 3.  ->  (8, 8): ink from 0 to 9

    >>> digit()[0].tolist()
    [0.0, 0.0, 5.0, 9.0, 9.0, 5.0, 0.0, 0.0]
    """
    return np.loadtxt(DATA / "digit.txt")
