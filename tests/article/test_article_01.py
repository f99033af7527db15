"""What the article says and notebook 01 shows: A1 and A3, and with them A2 and A4."""

import itertools

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import self_attention
from course_lib.explore.why_the_whole_sequence import SIGHTS, sight, task
from course_lib.sequence import ceiling, convolution, fully_connected

SENTENCES = [([word.lower() for word in words], labels) for words, labels in data.sentences()]
LABELS = [label for _, own in SENTENCES for label in own]


def arrays():
    """Words, frames of a sound and patches of a picture, each (n, d)."""
    frames = data.vowels()[0].reshape(36, 160) * np.hanning(160)
    spectra = np.abs(np.fft.rfft(frames, axis=1))[:, :50]
    patches = data.digit().reshape(4, 2, 4, 2).swapaxes(1, 2).reshape(16, 4)
    words = data.vectors("the dog near the old lake saw the man")[1]
    return {"words": words, "frames": spectra / spectra.max(), "patches": patches / 9}


def best(name):
    """The ceiling of a sight on the labeled sentences."""
    return ceiling(
        [sight(tuple(words), i, name) for words, _ in SENTENCES for i in range(len(words))], LABELS
    )


def moved(layer, X, j):
    """Which outputs move when token j does, from 0."""
    changed = X.copy()
    changed[j] += 1
    return np.flatnonzero(np.abs(layer(changed) - layer(X)).max(axis=1) > 1e-9)


def test_a1_a_word_a_window_and_all_before_have_a_ceiling_on_real_sentences():
    right = {name: best(name) * len(LABELS) for name in [*(f"radius {r}" for r in range(8)), *SIGHTS[-2:]]}
    expected = [496, 547, 547, 561, 563, 569, 570, 571, 558, 571]
    assert [*right.values()] == pytest.approx(expected) and len(LABELS) == 571


@pytest.mark.parametrize("distance", range(-3, 4))
def test_a1_the_ceiling_is_the_formula_at_every_distance(distance):
    for name in SIGHTS:
        pairs = [(sight(x, i, name), y[i]) for x, y in task(distance) for i in range(7)]
        sees = name == "all" or (
            distance <= 0 if name == "all before" else abs(distance) <= int(name.split()[1])
        )
        assert ceiling(*zip(*pairs)) == pytest.approx(1 if sees else (7 + abs(distance)) / 14)


@pytest.mark.parametrize("radius", range(4))
def test_a1_layers_do_not_move_for_a_token_out_of_reach(radius):
    rng = np.random.default_rng(radius)
    X, W = rng.normal(size=(9, 3)), rng.normal(size=(2 * radius + 1, 3, 20))
    for j in range(9):
        window = np.flatnonzero(np.abs(np.arange(9) - j) <= radius)
        assert moved(lambda X: convolution(X, W), X, j).tolist() == window.tolist()
        assert moved(lambda X: fully_connected(X, W[0]), X, j).tolist() == [j]


def test_a1_a_wide_window_seldom_comes_twice():
    known, right = [], []
    for radius in range(8):
        rows = [
            (sight(tuple(words), i, f"radius {radius}"), label, k)
            for k, (words, own) in enumerate(SENTENCES)
            for i, label in enumerate(own)
        ]
        told = [[b for s, b, j in rows if s == seen and j != k] for seen, _, k in rows]
        known.append(sum(map(bool, told)))
        pairs = zip(told, LABELS)
        right.append(sum(bool(labels) and max(labels, key=labels.count) == label for labels, label in pairs))
    assert known == [550, 244, 95, 38, 20, 6, 2, 0]
    assert right == [426, 196, 47, 18, 4, 2, 0, 0]  # each sentence from the others: far below the ceilings
    for radius in range(1, 8):  # wrong are both of a pair that says the opposite, and no others
        missed = round(len(LABELS) * (1 - best(f"radius {radius}")))
        assert known[radius] - right[radius] == 2 * missed


def test_a1_stacked_convolutions_reach_the_sum_of_their_radii():
    rng = np.random.default_rng(0)
    X, first, next = rng.normal(size=(9, 3)), rng.normal(size=(5, 3, 20)), rng.normal(size=(5, 20, 20))
    for layers in range(1, 5):

        def stacked(X):
            for W in [first, *(layers - 1) * [next]]:
                X = convolution(X, W)
            return X

        assert moved(stacked, X, 8).tolist() == list(range(8 - 2 * layers, 9))


@pytest.mark.parametrize("name", ["words", "frames", "patches"])
def test_a3_words_sound_and_picture_become_rows_and_one_function_takes_them(name):
    X = arrays()[name]
    assert X.shape == {"words": (9, 3), "frames": (36, 50), "patches": (16, 4)}[name]
    W = np.random.default_rng(0).normal(size=(3, X.shape[1], 6)) / np.sqrt(X.shape[1])
    for i, j in itertools.product([0, len(X) // 2, len(X) - 1], repeat=2):
        assert i in moved(lambda X: self_attention(X, *W).output, X, j)


def test_a3_the_frames_of_ah_and_ee_have_their_ink_in_other_places():
    spectra = arrays()["frames"]
    hertz = 50 * spectra[[6, 18, 30]].argmax(axis=1)  # a frame of each vowel
    assert hertz[0] == hertz[2] == 750 and hertz[1] == 250
    assert np.allclose(spectra[6], spectra[30], atol=0.02) and not np.allclose(
        spectra[6], spectra[18], atol=0.2
    )


def test_a3_patches_hold_every_pixel_once():
    patches = 9 * arrays()["patches"]
    assert sorted(patches.ravel()) == sorted(data.digit().ravel())
    assert np.array_equal(patches[5], data.digit()[2:4, 2:4].ravel())


@pytest.mark.parametrize("name", ["words", "frames", "patches"])
def test_a4_a_row_out_for_a_row_in_whatever_it_stands_for(name):
    X = arrays()[name]
    W = np.ones((3, X.shape[1], 6))
    for n in (1, len(X) // 2, len(X)):
        assert self_attention(X[:n], *W).output.shape == (n, 6)
