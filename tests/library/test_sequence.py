"""Positions: a shift is a rotation. RNNs: a step needs the one before. Windows: nothing outside is seen."""

import itertools
import math

import numpy as np
import onnx_reference
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.sequence import (
    bidirectional_rnn,
    ceiling,
    convolution,
    fully_connected,
    positions,
    rnn,
    windows,
)


@given(st.integers(0, 40), st.integers(1, 8))
def test_every_entry_is_the_formula(n, half):
    P = positions(n, 2 * half)
    assert P.shape == (n, 2 * half)
    for p in range(n):
        for i in range(half):
            angle = p / 10000 ** (2 * i / (2 * half))
            assert math.isclose(P[p, 2 * i], math.sin(angle), abs_tol=1e-12)
            assert math.isclose(P[p, 2 * i + 1], math.cos(angle), abs_tol=1e-12)


@given(st.integers(0, 20))
def test_a_shift_is_one_rotation_for_every_place(k):
    P = positions(60, 6)
    angles = k / 10000 ** (np.arange(0, 6, 2) / 6)
    turn = np.zeros((6, 6))
    for i, angle in enumerate(angles):
        turn[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [
            [np.cos(angle), -np.sin(angle)],
            [np.sin(angle), np.cos(angle)],
        ]
    np.testing.assert_allclose(P[: 60 - k] @ turn, P[k:], atol=1e-12)
    products = (P[: 60 - k] * P[k:]).sum(axis=1)
    np.testing.assert_allclose(products, products[0], atol=1e-12)


def test_no_two_of_a_thousand_places_are_equal():
    P = positions(1000, 4)
    assert len(np.unique(P.round(9), axis=0)) == 1000


def test_the_base_says_how_much_slower_the_later_pairs_turn():
    P = positions(50, 6, base=8.0)
    for i, pair in enumerate(np.split(P, 3, axis=1)):
        angles = np.arange(50) / 8 ** (i / 3)  # 1, 2 and 4 times slower
        np.testing.assert_allclose(pair, np.stack([np.sin(angles), np.cos(angles)], axis=1), atol=1e-12)
    alike = positions(5, 4, base=1)
    np.testing.assert_array_equal(alike[:, :2], alike[:, 2:])
    assert np.isfinite(positions(50, 600, base=1e308)).all()


def test_no_places_and_no_features():
    assert positions(0, 4).shape == (0, 4) and positions(3, 0).shape == (3, 0)


SIZES = st.tuples(st.integers(0, 999), *3 * [st.integers(1, 6)])


def drawn(seed, n, d, d_h, front=(), kind=np.float64):
    """Tokens, and W_x and W_h for two directions."""
    rng = np.random.default_rng(seed)
    shapes = [(*front, n, d), (d, d_h), (d_h, d_h), (d, d_h), (d_h, d_h)]
    X, *W = (rng.normal(size=shape).astype(kind) for shape in shapes)
    return X, W[:2], W[2:]


def by_loops(X, W_x, W_h):
    """One sequence, number by number."""
    states, before = [], [0.0] * len(W_h)
    for x in X:
        before = [
            math.tanh(
                math.fsum(x[f] * W_x[f, j] for f in range(len(x)))
                + math.fsum(before[g] * W_h[g, j] for g in range(len(W_h)))
            )
            for j in range(len(W_h))
        ]
        states.append(before)
    return np.array(states)


@given(SIZES)
def test_an_rnn_is_its_formula_number_by_number(sizes):
    X, there, back = drawn(*sizes)
    d_h = len(there[1])
    np.testing.assert_allclose(rnn(X, *there), by_loops(X, *there), atol=1e-12)
    both = bidirectional_rnn(X, there, back)
    np.testing.assert_allclose(both[:, :d_h], by_loops(X, *there), atol=1e-12)
    np.testing.assert_allclose(both[:, d_h:], by_loops(X[::-1], *back)[::-1], atol=1e-12)


@given(SIZES, st.integers(1, 3))
def test_agrees_with_the_onnx_reference(sizes, batch):
    X, there, back = drawn(*sizes, front=(batch,), kind=np.float32)
    want = onnx_reference.rnn(X.swapaxes(0, 1), there, back)  # (n, B, 2, d_h)
    for i in range(batch):
        both = bidirectional_rnn(X[i], there, back)
        np.testing.assert_allclose(both, want[:, i].reshape(len(X[i]), -1), atol=2e-6)
    assert both.dtype == np.float32
    alone = onnx_reference.rnn(X.swapaxes(0, 1), there)[:, 0, 0]
    np.testing.assert_allclose(rnn(X[0], *there), alone, atol=2e-6)


@given(SIZES, st.sampled_from([(), (2,), (3, 2), (0,)]))
def test_sequences_of_a_stack_do_not_meet(sizes, front):
    X, there, back = drawn(*sizes, front=front)
    before = X.copy()
    states = rnn(X, *there)
    assert states.shape == (*X.shape[:-1], len(there[1]))
    for place in np.ndindex(front):
        np.testing.assert_allclose(states[place], rnn(X[place], *there), atol=1e-12)
    assert bidirectional_rnn(X, there, back).shape == (*X.shape[:-1], 2 * len(there[1]))
    np.testing.assert_array_equal(X, before)


def test_the_state_before_the_first_token_is_0_and_without_tokens_there_is_none():
    X, there, back = drawn(0, 3, 2, 4)
    np.testing.assert_allclose(rnn(X, *there)[0], np.tanh(X[0] @ there[0]), atol=1e-12)
    assert rnn(X[:0], *there).shape == (0, 4) and bidirectional_rnn(X[:0], there, back).shape == (0, 8)
    narrow = (back[0][:, :1], back[1][:1, :1])
    assert bidirectional_rnn(X, there, narrow).shape == (3, 5)  # the two ways may differ in width
    whole = rnn([[1, 2]], [[1], [0]], [[3]])
    assert whole.dtype == float and whole.item() == pytest.approx(math.tanh(1))


@given(SIZES)
def test_a_state_knows_of_no_later_token_and_of_every_earlier_one(sizes):
    seed, n, d, d_h = sizes
    X, there, back = drawn(seed, n, d, d_h)
    there, back = ((each[0] / 4, each[1] / 4) for each in (there, back))  # or tanh may be 1 to the last digit
    for j in range(n):
        changed = X.copy()
        changed[j] += 0.1
        moved = np.abs(rnn(changed, *there) - rnn(X, *there)).max(axis=1)
        assert (moved[:j] == 0).all() and (moved[j:] > 0).all()
        both = bidirectional_rnn(changed, there, back) - bidirectional_rnn(X, there, back)
        assert (np.abs(both).max(axis=1) > 0).all()


@given(st.integers(0, 999), st.integers(1, 7), st.integers(1, 4), st.integers(0, 5))
def test_a_window_holds_the_neighbors_and_zeros_beyond_the_edges(seed, n, d, radius):
    X = np.random.default_rng(seed).normal(size=(2, n, d))
    seen = windows(X, radius)
    assert seen.shape == (2, n, 2 * radius + 1, d)
    for b, i, j in itertools.product(range(2), range(n), range(2 * radius + 1)):
        k = i + j - radius
        assert np.array_equal(seen[b, i, j], X[b, k] if 0 <= k < n else np.zeros(d))


@given(st.integers(0, 999), st.integers(1, 7), st.integers(0, 3))
def test_a_convolution_is_its_formula_and_agrees_with_numpy(seed, n, radius):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, 3)), rng.normal(size=(2 * radius + 1, 3, 2))
    want = np.zeros((n, 2))
    for i, j in itertools.product(range(n), range(2 * radius + 1)):
        if 0 <= i + j - radius < n:
            want[i] += X[i + j - radius] @ W[j]
    np.testing.assert_allclose(convolution(X, W), np.maximum(want, 0), atol=1e-12)
    full = [np.convolve(X[:, f], W[::-1, f, 0])[radius : radius + n] for f in range(3)]
    np.testing.assert_allclose(convolution(X, W)[:, 0], np.maximum(np.sum(full, axis=0), 0), atol=1e-12)
    np.testing.assert_allclose(convolution(X, W[radius : radius + 1]), fully_connected(X, W[radius]))


@given(st.integers(0, 999), st.integers(0, 3), st.integers(0, 8))
def test_outputs_do_not_move_when_a_token_out_of_reach_moves(seed, radius, j):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(9, 3)), rng.normal(size=(2 * radius + 1, 3, 8))
    changed = X.copy()
    changed[j] += 1
    moved = (convolution(changed, W) != convolution(X, W)).any(axis=1)
    far = np.abs(np.arange(9) - j) > radius
    assert not moved[far].any()
    alone = (fully_connected(changed, W[0]) != fully_connected(X, W[0])).any(axis=1)
    assert not np.delete(alone, j).any()


def test_a_ceiling_is_what_the_best_of_all_functions_reaches():
    rng = np.random.default_rng(0)
    for _ in range(20):
        seen, labels = rng.integers(0, 4, 9).tolist(), rng.integers(0, 3, 9).tolist()
        best = max(
            sum(answer[s] == label for s, label in zip(seen, labels))
            for answer in itertools.product(range(3), repeat=4)
        )
        assert ceiling(seen, labels) == best / 9
    assert ceiling("abc", "xyz") == 1 and ceiling("aaa", "xxy") == 2 / 3


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: ceiling([], []), "0 seen"),
        (lambda: ceiling("ab", "x"), "2 seen, 1 labels"),
        (lambda: windows(np.ones((3, 2)), -1), "radius"),
        (lambda: fully_connected(np.ones((3, 2)), np.ones((3, 2))), "(3, 2) and (3, 2)"),
        (lambda: convolution(np.ones((3, 2)), np.ones((2, 2))), "3 axes"),
        (lambda: convolution(np.ones((3, 2)), np.ones((2, 2, 1))), "odd number"),
    ],
)
def test_windows_and_ceilings_say_what_does_not_fit(call, says):
    with pytest.raises(ValueError) as error:
        call()
    assert says in str(error.value)
