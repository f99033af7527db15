"""Claims of the article that notebook 03 shows: a query meets every key (A6), for every token (A8),
in any order (A10); and what the division by sqrt(d_k) does, which the article leaves out (A9)."""

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import project, scores, softmax

Q, K, _ = project(*data.saw()[2:])
PAIRS = list(np.ndindex(4, 4))
random = np.random.default_rng(0)
Q_many, K_many = random.normal(size=(1000, 256)), random.normal(size=(64, 256))


def fill(Q, K, pairs):
    alpha = np.full((len(Q), len(K)), np.nan)
    for i, j in pairs:
        alpha[i, j] = sum(a * b for a, b in zip(Q[i], K[j]))
    return alpha


def rnn(X, W, order):
    h, states = np.zeros(W.shape[1]), np.zeros((len(X), W.shape[1]))
    for i in order:
        h = states[i] = np.tanh(X[i] @ W + h)
    return states


def effective_keys(weights):
    """e to the mean entropy of the rows."""
    return np.exp(-np.mean(np.sum(weights * np.log(weights), axis=-1)))


def test_a6_a_query_meets_every_key_and_its_own():
    alpha = scores(Q, K, scaled=False)
    assert np.array_equal(alpha[0], [0, 2, 1, 2])
    moved = K + np.array([[1.0], [0], [0], [0]])  # the first key alone
    assert list(np.argwhere(scores(Q, moved, scaled=False)[0] != alpha[0]).ravel()) == [0]


def test_a6_a_dot_product_is_angle_and_length_and_nothing_sideways():
    q, k = random.normal(size=(2, 5))
    cosine = q @ k / np.linalg.norm(q) / np.linalg.norm(k)
    sideways = random.normal(size=5)
    sideways -= q * (sideways @ q) / (q @ q)
    [[score, longer, shifted]] = scores([q], [k, 3 * k, k + sideways], scaled=False)
    assert np.isclose(score, cosine * np.linalg.norm(q) * np.linalg.norm(k))
    assert np.isclose(longer, 3 * score) and np.isclose(shifted, score)
    assert np.linalg.norm(sideways) > 0.1


@pytest.mark.parametrize("n", [1, 2, 4, 30])
def test_a6_a_row_is_as_long_as_the_sequence(n):
    X, (W_q, W_k, W_v) = random.normal(size=(n, 3)), data.saw()[3:]
    Q, K, _ = project(X, W_q, W_k, W_v)
    assert scores(Q[:1], K).shape == (1, n)


def test_a8_every_row_is_made_like_the_first():
    alpha = scores(Q, K, scaled=False)
    assert all(np.array_equal(scores(Q[[i]], K, scaled=False)[0], alpha[i]) for i in range(4))
    assert not np.array_equal(alpha, alpha.T)


def test_a10_scores_are_the_same_in_any_order_and_all_at_once():
    at_once = scores(Q, K, scaled=False)
    for order in (PAIRS, [(j, i) for i, j in PAIRS], random.permutation(PAIRS)):
        assert np.array_equal(fill(Q, K, order), at_once)


def test_a10_no_score_reads_another():
    for i, j in PAIRS:
        alone = fill(Q[[i]], K[[j]], [(0, 0)])
        assert alone[0, 0] == scores(Q, K, scaled=False)[i, j]


def test_a10_a_step_of_an_rnn_needs_the_step_before():
    X, W = data.saw().X, data.saw().W_v
    forward = rnn(X, W, range(4))
    assert (np.abs(rnn(X, W, [3, 2, 1, 0]) - forward).max(axis=1) > 0.1).all()
    alone = np.array([rnn(X[[i]], W, [0])[0] for i in range(4)])  # each step without what came before
    assert np.array_equal(alone[0], forward[0]) and (np.abs(alone - forward)[1:].max(axis=1) > 0.1).all()


@pytest.mark.parametrize("d_k", [4, 16, 64, 256])
def test_a9_scores_spread_like_the_root_of_d_k(d_k):
    plain = scores(Q_many[:, :d_k], K_many[:, :d_k], scaled=False)
    assert abs(plain.std() / np.sqrt(d_k) - 1) < 0.05
    assert abs(scores(Q_many[:, :d_k], K_many[:, :d_k]).std() - 1) < 0.05


@pytest.mark.parametrize(
    "divisor, std, keys", [(1, 8, 1.8), (8, 1, 39.9), (64, 0.125, 63.5), (np.sqrt(512), 0.354, 60.2)]
)
def test_a9_what_64_keys_get_for_each_scale(divisor, std, keys):
    alpha = scores(Q_many[:, :64], K_many[:, :64], scaled=False) / divisor
    assert np.isclose(alpha.std(), std, rtol=0.03)
    assert np.isclose(effective_keys(softmax(alpha)), keys, rtol=0.03)


def test_a9_gradients_shrink_without_scale_but_do_not_vanish():
    traces = {}
    for scaled in (False, True):
        weights = softmax(scores(Q_many[:, :64], K_many[:, :64], scaled=scaled))
        traces[scaled] = np.sum(weights * (1 - weights), axis=-1)
    assert np.isclose(traces[True].mean(), 0.96, atol=0.01) and np.isclose(
        traces[False].mean(), 0.29, atol=0.02
    )
    assert 0.1 < np.mean(traces[False] < 0.01) < 0.25 and traces[True].min() > 0.5


def test_a9_the_slope_of_a_weight_against_its_own_score():
    row, step = np.array([2.0, 0, -1, 0]), 1e-6
    nudged = np.diag(softmax(row + step * np.eye(4)))
    weights = softmax(row)
    assert np.allclose((nudged - weights) / step, weights * (1 - weights), atol=1e-5)
