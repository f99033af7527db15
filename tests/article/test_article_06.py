"""The article's claims A2, A4 and A13: the whole sequence, the lengths, the matrix form."""

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import self_attention, self_attention_columns, softmax
from course_lib.sequence import positions


def inputs(seed=0, n=4, d=3, d_k=2, d_v=5):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in ((n, d), (d, d_k), (d, d_k), (d, d_v))]


@pytest.mark.parametrize("seed", range(5))
def test_a2_every_output_moves_when_any_input_moves(seed):
    X, *W = inputs(seed)
    for j in range(4):
        for step in (1e-4, 1.0):
            nudged = X.copy()
            nudged[j] += step
            moved = np.abs(self_attention(nudged, *W).output - self_attention(X, *W).output).max(axis=1)
            assert (moved > 1e-9).all()


def test_a2_a_window_does_not_reach_so_far():
    X, *W = inputs(n=6)
    window = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) <= 1
    nudged = X.copy()
    nudged[5] += 1
    moved = np.abs(
        self_attention(nudged, *W, mask=window).output - self_attention(X, *W, mask=window).output
    ).max(axis=1)
    assert (moved[:4] == 0).all() and (moved[4:] > 0).all()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a4_as_many_columns_out_as_columns_in(n):
    X, *W = inputs(n=n)
    assert self_attention_columns(X.T, *(matrix.T for matrix in W)).output.shape == (5, n)


@pytest.mark.parametrize("seed", range(5))
def test_a13_the_column_form_is_the_row_form_transposed(seed):
    X, *W = inputs(seed)
    columns = self_attention_columns(X.T, *(matrix.T for matrix in W))
    for row, column in zip(self_attention(X, *W, scaled=False), columns):
        assert np.abs(row - column.T).max() <= 1e-15 * max(1, np.abs(row).max()) * 4


def test_a13_the_alphas_must_be_columns():
    _, _, X, *W = data.saw()
    found = self_attention_columns(X.T, *(matrix.T for matrix in W))
    alpha = [softmax(found.Q[:, i] @ found.K) for i in range(4)]
    b = np.stack([sum(alpha[i][j] * found.V[:, j] for j in range(4)) for i in range(4)], axis=1)
    as_columns, as_rows = np.stack(alpha, axis=1), np.stack(alpha, axis=0)
    np.testing.assert_allclose(found.V @ as_columns, b, atol=1e-15)
    np.testing.assert_allclose(found.V @ as_rows.T, b, atol=1e-15)
    assert round(np.abs(found.V @ as_rows - b).max(), 2) == 0.97


def test_a13_order_counts_only_with_positions():
    _, _, X, *W = data.saw()
    X, W = np.hstack([X, np.zeros((4, 1))]), [np.vstack([matrix, [1, -1]]) for matrix in W]
    new = [1, 0, 3, 2]
    for strength, only_reordered in ((0, True), (0.5, False)):
        P = strength * positions(4, 4)
        straight, moved = self_attention(X + P, *W).output, self_attention(X[new] + P, *W).output
        assert np.allclose(moved, straight[new]) == only_reordered
        assert np.allclose(straight[1], straight[3]) == only_reordered
