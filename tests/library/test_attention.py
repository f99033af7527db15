"""One head: against an explicit loop, against ONNX, by its properties, and on wrong input."""

import math

import numpy as np
import onnx_reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planting import noticed, plant

from course_lib import attention
from course_lib.attention import (
    Attention,
    causal_mask,
    padding_mask,
    scores,
    self_attention,
    self_attention_columns,
    softmax,
    weighted_sum,
)

sizes = st.integers(1, 6)
seeds = st.integers(0, 10_000)


def draw(seed, n, d, d_k, d_v, batch=()):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(*batch, n, d)),
        *(rng.normal(size=shape) for shape in ((d, d_k), (d, d_k), (d, d_v))),
    )


def by_loop(X, W_q, W_k, W_v, *, mask=None, scaled=True):
    """Self-attention of one sequence, one number at a time."""
    n, d_k = len(X), W_q.shape[1]

    def dot(a, b):
        return sum(float(x) * float(y) for x, y in zip(a, b))

    Q, K, V = ([[dot(x, column) for column in W.T] for x in X] for W in (W_q, W_k, W_v))
    alpha = [[dot(q, k) / (math.sqrt(d_k) if scaled else 1) for k in K] for q in Q]
    weights, output = [], []
    for i in range(n):
        seen = [j for j in range(n) if mask is None or mask[i][j]]
        top = max((alpha[i][j] for j in seen), default=0)
        powers = [math.exp(alpha[i][j] - top) if j in seen else 0.0 for j in range(n)]
        weights.append([p / sum(powers) if seen else 0.0 for p in powers])
        output.append([sum(w * v[f] for w, v in zip(weights[i], V)) for f in range(W_v.shape[1])])
    return Attention(*map(np.array, (Q, K, V, alpha, weights, output)))


# Against other implementations


@given(seeds, sizes, sizes, sizes, sizes, st.booleans(), st.booleans())
def test_every_stage_equals_an_explicit_loop(seed, n, d, d_k, d_v, scaled, masked):
    inputs = draw(seed, n, d, d_k, d_v)
    mask = np.random.default_rng(seed).random((n, n)) < 0.6 if masked else None
    for mine, loop in zip(
        self_attention(*inputs, mask=mask, scaled=scaled), by_loop(*inputs, mask=mask, scaled=scaled)
    ):
        np.testing.assert_allclose(mine, loop, rtol=1e-12, atol=1e-12)


@settings(max_examples=40)
@given(
    seeds, sizes, sizes, sizes, sizes, st.booleans(), st.sampled_from([None, "causal", "padding", "random"])
)
def test_agrees_with_the_onnx_reference(seed, n, n_k, d_k, d_v, scaled, kind):
    rng = np.random.default_rng(seed)
    n_k = n if kind == "causal" else n_k
    Q, K, V = (
        rng.normal(size=(2, 3, *shape)).astype(np.float32) for shape in ((n, d_k), (n_k, d_k), (n_k, d_v))
    )
    mask = {
        None: None,
        "causal": causal_mask(n),
        "random": rng.random((n, n_k)) < 0.6,
        "padding": np.broadcast_to(padding_mask([1, n_k], n_k)[:, None], (2, 3, n, n_k)),
    }[kind]
    if kind == "random":
        mask[:, 0] = True  # ONNX has no answer for a row with nothing to see
    weights = softmax(scores(Q, K, scaled=scaled), mask=mask)
    output = weighted_sum(weights, V)
    want_output, want_weights = onnx_reference.attention(Q, K, V, mask=mask, scaled=scaled)
    assert weights.dtype == output.dtype == np.float32
    np.testing.assert_allclose(weights, want_weights, rtol=0, atol=1e-6)
    np.testing.assert_allclose(output, want_output, rtol=1e-6, atol=1e-6)


@given(seeds, sizes, sizes, sizes, sizes, st.booleans())
def test_the_column_form_is_the_row_form_transposed(seed, n, d, d_k, d_v, scaled):
    X, W_q, W_k, W_v = draw(seed, n, d, d_k, d_v)
    columns = self_attention_columns(X.T, W_q.T, W_k.T, W_v.T, scaled=scaled)
    for row, column in zip(self_attention(X, W_q, W_k, W_v, scaled=scaled), columns):
        np.testing.assert_allclose(column.T, row, rtol=1e-13, atol=1e-13)


def test_scores_are_scaled_unless_told_and_the_articles_columns_are_not():
    X, W_q, W_k, W_v = draw(0, 4, 3, 2, 5)
    products = (X @ W_q) @ (X @ W_k).T
    np.testing.assert_allclose(scores(X @ W_q, X @ W_k), products / math.sqrt(2), rtol=1e-13)
    np.testing.assert_allclose(self_attention(X, W_q, W_k, W_v).scores, products / math.sqrt(2), rtol=1e-13)
    columns = self_attention_columns(X.T, W_q.T, W_k.T, W_v.T)
    np.testing.assert_allclose(columns.scores.T, products, rtol=1e-13)


# Properties


@given(seeds, sizes, sizes)
def test_rows_of_weights_are_above_0_and_sum_to_1(seed, n_q, n_k):
    weights = softmax(np.random.default_rng(seed).normal(size=(n_q, n_k)))
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-12)


@given(seeds, st.floats(-100, 100), st.floats(0.1, 10))
def test_adding_a_number_to_a_row_changes_nothing(seed, shift, temperature):
    row = np.random.default_rng(seed).normal(size=5)
    np.testing.assert_allclose(
        softmax(row + shift, temperature=temperature), softmax(row, temperature=temperature), rtol=1e-9
    )


@given(seeds, sizes)
def test_permuting_the_tokens_permutes_the_output(seed, n):
    X, *matrices = draw(seed, n, 3, 2, 5)
    order = np.random.default_rng(seed).permutation(n)
    np.testing.assert_allclose(
        self_attention(X[order], *matrices).output,
        self_attention(X, *matrices).output[order],
        rtol=1e-10,
        atol=1e-12,
    )


@given(seeds, sizes)
def test_an_output_lies_between_the_values(seed, n):
    found = self_attention(*draw(seed, n, 3, 2, 4))
    assert (found.output <= found.V.max(axis=0) + 1e-12).all()
    assert (found.output >= found.V.min(axis=0) - 1e-12).all()


@given(seeds, sizes, sizes)
def test_hidden_keys_get_nothing_and_the_others_what_they_would_get_alone(seed, n_q, n_k):
    rng = np.random.default_rng(seed)
    alpha, mask = rng.normal(size=(n_q, n_k)), rng.random(n_k) < 0.5
    weights = softmax(alpha, mask=mask)
    assert (weights[:, ~mask] == 0).all()
    np.testing.assert_allclose(weights[:, mask], softmax(alpha[:, mask]), rtol=1e-12)


def test_a_row_with_nothing_to_see_gives_zeros():
    X, *matrices = draw(0, 4, 3, 2, 5)
    mask = np.ones((4, 4), dtype=bool)
    mask[2] = False
    found = self_attention(X, *matrices, mask=mask)
    assert (found.weights[2] == 0).all() and (found.output[2] == 0).all()
    assert (softmax(np.full((2, 3), -np.inf)) == 0).all()
    np.testing.assert_allclose(found.output[[0, 1, 3]], self_attention(X, *matrices).output[[0, 1, 3]])


@pytest.mark.parametrize("size", [1e3, 1e4, 1e300])
def test_large_scores_give_no_nan(size):
    with np.errstate(all="raise", under="ignore"):
        weights = softmax(np.array([[size, 0, -size], [-size, -size, -size], [0, -size, 0]]))
    np.testing.assert_allclose(weights, [[1, 0, 0], [1 / 3] * 3, [0.5, 0, 0.5]])


def test_what_becomes_0_on_purpose_raises_no_alarm():
    far = [[-702.0], [0]]  # exp(-702) is 1e-305, times a value of 1e-10 it is below the smallest float
    with np.errstate(all="raise"):
        weights = softmax([[0, -740, -1e4, -1e308, 1e308, -np.inf], [0, -740, -np.inf, -1e9, -5, 0]])
        row = self_attention([[1], [0]], [[-26]], [[27]], [[1e-10]])
        column = self_attention_columns([[1, 0]], [[-26]], [[27]], [[1e-10]])
    assert weights[0].tolist() == [0, 0, 0, 0, 1, 0] and np.isfinite(weights[1]).all()
    for found in (row.scores[:1].T, column.scores[:, :1]):
        assert found.tolist() == far
    assert 0 < row.weights[0, 0] < 1e-300 and row.output[0, 0] < 1e-300 and column.output[0, 0] < 1e-300


def test_products_too_large_for_floats_are_refused_by_the_next_step():
    with np.errstate(over="ignore"):
        alpha = scores([[1e200]], [[1e200], [1]])
    assert alpha.tolist() == [[np.inf, 1e200]]
    with pytest.raises(ValueError, match=r"scores\[0, 0\] is inf"):
        softmax(alpha)


def test_whole_numbers_of_64_bits_become_floats():
    assert scores([[2**63]], [[-(2**63)]]).tolist() == [[-(2.0**126)]]
    assert softmax([2**63, -(2**63)]).tolist() == [1, 0]


def test_temperature_flattens_and_sharpens():
    row = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(softmax(row, temperature=2), softmax(row / 2))
    assert softmax(row, temperature=0.1).max() > 0.99 > softmax(row, temperature=1).max()


@given(seeds)
def test_sequences_of_a_batch_do_not_meet(seed):
    X, *matrices = draw(seed, 4, 3, 2, 5, batch=(2, 3))
    together = self_attention(X, *matrices)
    for place in np.ndindex(2, 3):
        for mine, alone in zip(together, self_attention(X[place], *matrices)):
            np.testing.assert_allclose(mine[place], alone, rtol=1e-12, atol=1e-12)


def test_inputs_are_not_changed_and_types_are_kept():
    inputs = draw(0, 4, 3, 2, 5)
    copies = [each.copy() for each in inputs]
    mask = causal_mask(4)
    self_attention(*inputs, mask=mask)
    self_attention_columns(inputs[0].T, *(W.T for W in inputs[1:]))
    alpha = scores(inputs[0], inputs[0])
    before = alpha.copy()
    softmax(alpha)
    weighted_sum(alpha, inputs[0])
    assert np.array_equal(alpha, before)
    assert all(map(np.array_equal, inputs, copies)) and np.array_equal(mask, causal_mask(4))
    assert softmax(np.float32([1, 2]), mask=[True, False], temperature=2).dtype == np.float32
    assert all(
        stage.dtype == np.float32 for stage in self_attention(*(each.astype(np.float32) for each in inputs))
    )
    assert all(
        stage.dtype == np.float64 for stage in self_attention([[1, 2]], [[1], [2]], [[3], [4]], [[5], [6]])
    )


def test_no_tokens_in_no_tokens_out():
    found = self_attention(np.zeros((0, 3)), np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 5)))
    assert found.weights.shape == (0, 0) and found.output.shape == (0, 5)


def test_normalize_is_used_and_sees_the_mask():
    seen = {}

    def uniform(alpha, mask=None):
        seen["mask"] = mask
        return np.full(alpha.shape, 1 / alpha.shape[-1])

    X, *matrices = draw(0, 4, 3, 2, 5)
    found = self_attention(X, *matrices, mask=causal_mask(4), normalize=uniform)
    np.testing.assert_allclose(found.output, np.tile(found.V.mean(axis=0), (4, 1)))
    assert np.array_equal(seen["mask"], causal_mask(4))


def test_masks_say_what_may_be_looked_at():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert padding_mask([1, 3], 3).tolist() == [[[True, False, False]], [[True, True, True]]]
    assert padding_mask(2, 3).tolist() == [[True, True, False]]


# Planted slips: each wrong line from the collection of misconceptions must be noticed by what is above

MASKED = "np.where(mask, alpha, alpha.dtype.type(-np.inf))"
SLIPS = {
    "softmax down the columns": [("axis=-1", "axis=-2")],
    "no maximum subtracted": [("alpha - largest", "alpha + 0")],
    "one maximum for all rows": [("alpha.max(axis=-1, keepdims=True", "alpha.max(axis=None, keepdims=True")],
    "the mean in place of the maximum": [
        ("alpha.max(axis=-1, keepdims=True, initial=-np.inf)", "alpha.mean(axis=-1, keepdims=True)")
    ],
    "the first score in place of the maximum": [
        ("alpha.max(axis=-1, keepdims=True, initial=-np.inf)", "alpha[..., :1].copy()")
    ],
    "the scores themselves changed": [("powers = alpha - largest", "powers = alpha; powers -= largest")],
    "no exponential": [("np.exp(powers, out=powers)", "pass")],
    "not divided by the sum": [("powers /= total", "pass")],
    "divided by the mean": [("powers.sum(axis=-1", "powers.mean(axis=-1")],
    "K.T on a stack": [("K.swapaxes(-1, -2)", "K.T")],
    "divided by d_k": [("math.sqrt(Q.shape[-1])", "Q.shape[-1]")],
    "divided by sqrt of the number of keys": [("math.sqrt(Q.shape[-1])", "math.sqrt(K.shape[-2])")],
    "multiplied by sqrt(d_k)": [("alpha /= math.sqrt(Q.shape[-1])", "alpha *= math.sqrt(Q.shape[-1])")],
    "never scaled": [("if scaled:\n        alpha /= math.sqrt(Q", "if False:\n        alpha /= math.sqrt(Q")],
    "always scaled": [("if scaled:\n        alpha /= math.sqrt(Q", "if True:\n        alpha /= math.sqrt(Q")],
    "divided by sqrt(d_model)": [
        ("scores(Q, K, scaled=scaled)", "scores(Q, K, scaled=False) / (math.sqrt(len(W_q)) if scaled else 1)")
    ],
    "scores times the mask": [(MASKED, "alpha * mask")],
    "mask added to the scores": [(MASKED, "alpha + mask")],
    "-1e9 for hidden": [("alpha.dtype.type(-np.inf)", "alpha.dtype.type(-1e9)")],
    "polarity": [("np.where(mask,", "np.where(~mask,")],
    "mask forgotten": [("if mask is not None:", "if False:")],
    "weights of hidden keys deleted late": [
        (MASKED, "alpha"),
        ("return powers", "return powers if mask is None else powers * mask"),
    ],
    "nothing to see gives nan": [("total[total == 0] = 1", "pass")],
    "nothing to see gives nan, earlier": [("largest[largest == -np.inf] = 0", "pass")],
    "float64 for all": [("alpha.dtype.type(-np.inf)", "np.float64(-np.inf)")],
    "causal mask hides oneself": [("places <= places[:, None]", "places < places[:, None]")],
    "causal mask shows the future": [("places <= places[:, None]", "places >= places[:, None]")],
    "padding on the query axis": [
        (
            "np.arange(n) < lengths[..., None, None]",
            "(np.arange(n) < lengths[..., None, None]).swapaxes(-1, -2)",
        )
    ],
    "padding shown, text hidden": [("np.arange(n) < lengths", "np.arange(n) >= lengths")],
    "one key too many": [("np.arange(n) < lengths", "np.arange(n) <= lengths")],
    "keys made with W_q": [("X @ W_q, X @ W_k, X @ W_v", "X @ W_q, X @ W_q, X @ W_v")],
    "values made with W_k": [("X @ W_q, X @ W_k, X @ W_v", "X @ W_q, X @ W_k, X @ W_k")],
    "queries and keys exchanged": [("X @ W_q, X @ W_k, X @ W_v", "X @ W_k, X @ W_q, X @ W_v")],
    "scores transposed": [("Q @ K.swapaxes(-1, -2)", "(Q @ K.swapaxes(-1, -2)).swapaxes(-1, -2).copy()")],
    "weights transposed": [("return weights @ V", "return weights.swapaxes(-1, -2) @ V")],
    "output of raw scores": [("output = weighted_sum(weights, V)", "output = weighted_sum(alpha, V)")],
    "output of the keys": [("output = weighted_sum(weights, V)", "output = weighted_sum(weights, K)")],
    "temperature multiplies": [("powers /= temperature", "powers *= temperature")],
    "temperature forgotten": [("powers /= temperature", "pass")],
    "an alarm for what is 0 on purpose": [('np.errstate(over="ignore", under="ignore")', "np.errstate()")],
    "an alarm for a tiny weight": [('np.errstate(under="ignore"):  # a tiny', "np.errstate():  # a tiny")],
    "columns: an alarm for a tiny weight": [('np.errstate(under="ignore"):\n', "np.errstate():\n")],
    "columns: softmax along the rows": [("softmax(alpha.T).T", "softmax(alpha)")],
    "columns: Q^T K": [("alpha = K.T @ Q", "alpha = Q.T @ K")],
    "columns: never scaled": [
        ("if scaled:\n        alpha /= math.sqrt(len(Q))", "if False:\n        alpha /= math.sqrt(len(Q))")
    ],
    "scores unscaled unless asked": [
        ("def scores(Q, K, *, scaled=True)", "def scores(Q, K, *, scaled=False)")
    ],
    "attention unscaled unless asked": [("mask=None, scaled=True, norm", "mask=None, scaled=False, norm")],
    "columns: scaled unasked": [("W_v, *, scaled=False)", "W_v, *, scaled=True)")],
    "columns: divided by sqrt(n)": [("math.sqrt(len(Q))", "math.sqrt(len(alpha))")],
    "columns: V A'^T": [("V @ weights  #", "V @ weights.T  #")],
    "input changed": [
        ("Q, K, V = project(X, W_q, W_k, W_v)", "X *= 1.5; Q, K, V = project(X, W_q, W_k, W_v)")
    ],
}


def look_hard():
    """Everything above that concerns numbers, in one call, on the functions as now bound here."""
    test_masks_say_what_may_be_looked_at()
    test_large_scores_give_no_nan(1e3)
    test_temperature_flattens_and_sharpens()
    test_a_row_with_nothing_to_see_gives_zeros()
    test_what_becomes_0_on_purpose_raises_no_alarm()
    test_inputs_are_not_changed_and_types_are_kept()
    test_scores_are_scaled_unless_told_and_the_articles_columns_are_not()
    test_the_column_form_is_the_row_form_transposed()
    test_every_stage_equals_an_explicit_loop()
    test_hidden_keys_get_nothing_and_the_others_what_they_would_get_alone()
    test_sequences_of_a_batch_do_not_meet()


@pytest.mark.parametrize("pairs", SLIPS.values(), ids=SLIPS)
def test_a_planted_slip_is_noticed(pairs, monkeypatch, unshrunk):
    for name, function in plant(attention, pairs).items():
        monkeypatch.setitem(globals(), name, function)
    with noticed():
        look_hard()


def test_without_a_slip_nothing_is_noticed():
    look_hard()
