"""The predictions of notebook 03: what each answer claims is computed, and the right one alone is true."""

import numpy as np
import pytest

from course_lib import data, explore
from course_lib.attention import project, scores, softmax
from course_lib.exercises.predictions import PREDICTIONS

Q, K, V = project(*data.saw()[2:])
ALPHA = scores(Q, K, scaled=False)
PAIRS = list(np.ndindex(4, 4))
random = np.random.default_rng(0)
Q_many, K_many = random.normal(size=(1000, 256)), random.normal(size=(64, 256))  # as in the notebook
UNDIVIDED = Q_many[:, :64] @ K_many[:, :64].T


def check_answers(name, claims):
    """claims: {text of an answer: whether what it claims is so}, for all answers."""
    assert claims == {answer.text: answer.right for answer in PREDICTIONS[name].answers}


def effective_keys(alpha):
    weights = softmax(alpha)
    return np.exp(-np.sum(weights * np.log(weights), axis=-1)).mean()


def test_length_the_key_that_reaches_farther_wins():
    q, a, b = np.array([2, 1]), np.array([1, 0.5]), np.array([3, 0])
    angles = [np.degrees(np.arccos(q @ k / np.linalg.norm(q) / np.linalg.norm(k))) for k in (a, b)]
    assert np.allclose(angles, [0, 27], atol=0.5) and np.linalg.norm(b) > np.linalg.norm(a)
    claims = {"Key A": q @ a > q @ b, "Both the same": q @ a == q @ b, "Key B": q @ b > q @ a}
    check_answers("03-length", claims)


def test_key_a_key_is_read_in_its_column():
    other = K.copy()
    other[1] = [1, 1]
    changed = {tuple(place) for place in np.argwhere(scores(Q, other, scaled=False) != ALPHA)}
    row, column = {(1, j) for j in range(4)}, {(i, 1) for i in range(4)}
    claims = {
        "Those of row 2": changed == row,
        "Those of row 2 and of column 2": changed == row | column,
        "Those of column 2": changed == column,
        "All sixteen": changed == set(PAIRS),
    }
    check_answers("03-key", claims)


def test_order_no_score_depends_on_when_it_is_computed():
    changed = set()
    for pairs in ([(j, i) for i, j in PAIRS], random.permutation(PAIRS).tolist()):
        filled = np.full((4, 4), np.nan)
        for i, j in pairs:
            filled[i, j] = Q[i] @ K[j]
        changed |= {tuple(place) for place in np.argwhere(filled != ALPHA)}
    claims = {
        "None of them": changed == set(),
        "Those off the diagonal": changed == {(i, j) for i, j in PAIRS if i != j},
        "All but the first": changed == set(PAIRS[1:]),
    }
    check_answers("03-order", claims)


def test_rnn_every_state_carries_its_past():
    X, W = data.saw().X, data.saw().W_v

    def states(order):
        h, kept = np.zeros(2), np.zeros((4, 2))
        for i in order:
            h = kept[i] = np.tanh(X[i] @ W + h)
        return kept

    moved = np.abs(states([3, 2, 1, 0]) - states([0, 1, 2, 3])).max(axis=1) > 0.01
    claims = {
        "None": not moved.any(),
        "All four": moved.all(),
        "The first and the last only": moved.tolist() == [True, False, False, True],
    }
    check_answers("03-rnn", claims)


def test_grow_64_products_spread_8_far():
    spread = UNDIVIDED.std()
    check_answers("03-grow", {f"About {far}": abs(spread / far - 1) < 0.1 for far in (1, 8, 64)})
    terms = random.normal(size=(20_000, 64)) * random.normal(size=(20_000, 64))
    assert np.mean(terms < 0) == pytest.approx(0.5, abs=0.01)  # "half of them are negative"
    assert np.abs(terms).sum(axis=1).mean() < 45  # of one sign they would not make 64


def test_sweep_undivided_scores_leave_two_keys():
    found = effective_keys(UNDIVIDED)
    check_answers("03-sweep", {f"At about {m}": abs(found / m - 1) < 0.15 for m in (2, 16, 60)})
    assert effective_keys(UNDIVIDED / 4) == pytest.approx(16, abs=1)  # "fits a standard deviation of 2"
    assert np.exp(8) == pytest.approx(3000, rel=0.01)


def test_variances_of_independent_numbers_add():
    products = random.normal(size=(20_000, 64)) * random.normal(size=(20_000, 64))
    sums = products.cumsum(axis=1)
    assert all(sums[:, d_k - 1].var() == pytest.approx(d_k, rel=0.06) for d_k in (1, 2, 4, 16, 64))


def test_what_the_text_says_of_the_panel():
    panel = explore.scale()

    def walk(rule, changes):
        panel.set({"d_k": 64, "draw": 0, "rule": rule})
        for change in changes:
            panel.set(change)
            yield panel.state["numbers"][rule]

    from_16 = [{"d_k": 2**i} for i in range(4, 9)]
    wandering = [keys for *_, keys in walk("√d_k", from_16)]
    assert 33 <= min(wandering) and max(wandering) <= 50
    falling = [keys for *_, keys in walk("none", from_16)]
    assert falling[0] == pytest.approx(10, abs=0.5) and falling[-1] == pytest.approx(1, abs=0.05)
    one = [[*walk(rule, [{"d_k": 1}])][0] for rule in ("none", "√d_k", "d_k")]
    assert one[0] == one[1] == one[2]
    flat = [keys for *_, keys in walk("d_k", [{"d_k": d_k} for d_k in (64, 128, 256)])]
    for draw in range(1000):  # all there are
        rng = np.random.default_rng(draw)
        q, keys = rng.normal(size=(1, 256)), rng.normal(size=(64, 256))
        some = [effective_keys(q[:, :d_k] @ keys[:, :d_k].T / d_k) for d_k in (64, 128, 256)]
        assert min(some) > 62 and (draw > 0 or np.allclose(some, flat))
    draws = [keys for *_, keys in walk("√d_k", [{"draw": draw} for draw in range(20)])]
    assert (round(min(draws)), round(max(draws))) == (18, 51)
