"""One head: against an explicit loop, against ONNX, by its properties, and on wrong input."""

import math

import numpy as np
import onnx_reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import attention
from course_lib.attention import (
    Attention,
    causal_mask,
    padding_mask,
    project,
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
    dot = lambda a, b: sum(float(x) * float(y) for x, y in zip(a, b))
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


# Properties


@given(seeds, sizes, sizes)
def test_rows_of_weights_are_positive_and_sum_to_1(seed, n_q, n_k):
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
    assert all(map(np.array_equal, inputs, copies)) and np.array_equal(mask, causal_mask(4))
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


# Wrong input: a ValueError that names both shapes, or the cause

X0, WQ0, WK0, WV0 = draw(0, 5, 3, 2, 4)
WRONG = {
    "features": (
        lambda: project(np.ones((5, 4)), WQ0, WK0, WV0),
        r"X has 4 features but W_q takes 3: \(5, 4\) @ \(3, 2\)",
    ),
    "features of the values": (
        lambda: project(X0, WQ0, WK0, np.ones((2, 4))),
        r"W_v takes 2: \(5, 3\) @ \(2, 4\)",
    ),
    "d_k": (lambda: project(X0, WQ0, np.ones((3, 7)), WV0), r"\(3, 2\) and \(3, 7\)"),
    "a stack of matrices": (
        lambda: project(X0, np.ones((1, 3, 2)), WK0, WV0),
        r"W_q must be one matrix.*\(1, 3, 2\)",
    ),
    "d_k of the scores": (lambda: scores(np.ones((5, 2)), np.ones((5, 3))), r"\(5, 2\) and \(5, 3\)"),
    "no features": (lambda: scores(np.ones((5, 0)), np.ones((5, 0))), r"d_k >= 1"),
    "batches": (lambda: scores(np.ones((2, 5, 2)), np.ones((3, 5, 2))), r"\(2, 5, 2\) and \(3, 5, 2\)"),
    "number of values": (
        lambda: weighted_sum(np.ones((5, 4)), np.ones((5, 4))),
        r"4 weights but V has 5.*\(5, 4\) @",
    ),
    "batches of values": (
        lambda: weighted_sum(np.ones((2, 5, 4)), np.ones((3, 4, 4))),
        r"\(2, 5, 4\) and \(3, 4, 4\)",
    ),
    "mask shape": (
        lambda: softmax(np.ones((5, 4)), mask=np.ones((4, 5), dtype=bool)),
        r"\(4, 5\) and \(5, 4\)",
    ),
    "mask of more axes": (
        lambda: softmax(np.ones((5, 4)), mask=np.ones((2, 5, 4), dtype=bool)),
        r"\(2, 5, 4\) and",
    ),
    "mask of numbers": (lambda: softmax(np.ones((5, 4)), mask=np.ones((5, 4))), "boolean.*float64"),
    "temperature 0": (lambda: softmax(np.ones(3), temperature=0), "above 0"),
    "temperature nan": (lambda: softmax(np.ones(3), temperature=math.nan), "above 0"),
    "temperatures": (lambda: softmax(np.ones(3), temperature=np.ones(3)), "one number above 0"),
    "one token as a vector": (lambda: project(np.ones(3), WQ0, WK0, WV0), r"X needs 2 axes.*\(3,\)"),
    "a number": (lambda: softmax(3.0), r"scores needs 1 axes"),
    "complex": (lambda: project(X0 + 1j, WQ0, WK0, WV0), r"real numbers, not complex128: shape \(5, 3\)"),
    "object": (lambda: project(X0.astype(object), WQ0, WK0, WV0), "real numbers, not object"),
    "text": (lambda: project([["I", "saw", "a"]], WQ0, WK0, WV0), "real numbers, not <U3"),
    "nan": (lambda: project(np.where(np.eye(5, 3) > 0, np.nan, 1), WQ0, WK0, WV0), r"X\[0, 0\] is nan"),
    "infinite": (lambda: weighted_sum(np.eye(2), [[1, 2], [np.inf, 4]]), r"V\[1, 0\] is inf"),
    "infinite score": (lambda: softmax([0.0, np.inf]), r"scores\[1\] is inf"),
    "nan score": (lambda: softmax([np.nan, 0.0]), r"scores\[0\] is nan"),
    "columns": (lambda: self_attention_columns(X0, WQ0.T, WK0.T, WV0.T), r"W_q.*\(2, 3\) @ \(5, 3\)"),
    "columns d_k": (
        lambda: self_attention_columns(X0.T, WQ0.T, np.ones((7, 3)), WV0.T),
        r"\(2, 3\).*\(7, 3\)",
    ),
    "n": (lambda: causal_mask(-1), "whole number from 0 up, not -1"),
    "half a token": (lambda: causal_mask(2.5), "not 2.5"),
    "true tokens": (lambda: causal_mask(True), "not True"),
    "length": (lambda: padding_mask([2, 6], 5), r"0 to n = 5, not \[2, 6\]"),
    "negative length": (lambda: padding_mask(-1, 5), "not -1"),
    "half a length": (lambda: padding_mask([1.5], 5), "whole numbers"),
}


@pytest.mark.parametrize("call, words", WRONG.values(), ids=WRONG)
def test_wrong_input_is_answered(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# Planted slips: each wrong line from the collection of misconceptions must be noticed by what is above

SLIPS = {
    "softmax down the columns": ("axis=-1, keepdims=True", "axis=-2, keepdims=True"),
    "no maximum subtracted": ("(scores - largest)", "scores"),
    "one maximum for all rows": (
        "scores.max(axis=-1, keepdims=True, initial=-np.inf)",
        "scores.max(initial=-np.inf)",
    ),
    "K.T on a stack": ("K.swapaxes(-1, -2)", "K.T"),
    "divided by d_k": ("products / math.sqrt(d_k)", "products / d_k"),
    "divided by sqrt of the number of keys": (
        "products / math.sqrt(d_k)",
        "products / math.sqrt(K.shape[-2])",
    ),
    "multiplied by sqrt(d_k)": ("products / math.sqrt(d_k)", "products * math.sqrt(d_k)"),
    "never scaled": ("if scaled else products", "if False else products"),
    "divided by sqrt(d_model)": (
        "scores(Q, K, scaled=scaled)",
        "scores(Q, K, scaled=False) / (math.sqrt(W_q.shape[0]) if scaled else 1)",
    ),
    "scores times the mask": (
        "scores = np.where(checked_mask(mask, scores.shape), scores, -np.inf).astype(scores.dtype)",
        "scores = scores * checked_mask(mask, scores.shape)",
    ),
    "mask added to the scores": (
        "scores = np.where(checked_mask(mask, scores.shape), scores, -np.inf).astype(scores.dtype)",
        "scores = scores + checked_mask(mask, scores.shape)",
    ),
    "-1e9 for hidden": ("scores, -np.inf).astype", "scores, -1e9).astype"),
    "polarity": ("np.where(checked_mask(mask, scores.shape)", "np.where(~checked_mask(mask, scores.shape)"),
    "nothing to see gives nan": ("np.where(total == 0, 1, total)", "total"),
    "causal mask hides oneself": (
        'np.tri(whole("n", n), dtype=bool)',
        'np.tri(whole("n", n), k=-1, dtype=bool)',
    ),
    "causal mask shows the future": (
        'np.tri(whole("n", n), dtype=bool)',
        'np.tri(whole("n", n), dtype=bool).T',
    ),
    "padding on the query axis": (
        "return np.arange(n) < lengths[..., None, None]",
        "return (np.arange(n) < lengths[..., None, None]).swapaxes(-1, -2)",
    ),
    "padding shown, text hidden": ("np.arange(n) < lengths", "np.arange(n) >= lengths"),
    "keys made with W_q": ("X @ W_q, X @ W_k, X @ W_v", "X @ W_q, X @ W_q, X @ W_v"),
    "queries and keys exchanged": ("X @ W_q, X @ W_k, X @ W_v", "X @ W_k, X @ W_q, X @ W_v"),
    "scores transposed": (
        "products = Q @ K.swapaxes(-1, -2)",
        "products = (Q @ K.swapaxes(-1, -2)).swapaxes(-1, -2)",
    ),
    "weights transposed": ("return weights @ V", "return weights.swapaxes(-1, -2) @ V"),
    "output of raw scores": ("weighted_sum(weights, V))", "weighted_sum(alpha, V))"),
    "temperature multiplies": ("/ float(temperature)", "* float(temperature)"),
    "columns: softmax along the rows": ("softmax(A.T).T", "softmax(A)"),
    "columns: Q^T K": ("A = K.T @ Q", "A = Q.T @ K"),
    "input changed": ("Q, K, V = project(X, W_q, W_k, W_v)", "X *= 1.5; Q, K, V = project(X, W_q, W_k, W_v)"),
}
SOURCE = open(attention.__file__, encoding="utf-8").read()


def look_hard():
    """Everything above that concerns numbers, in one call, on the module as it is now bound here."""
    test_every_stage_equals_an_explicit_loop()
    test_the_column_form_is_the_row_form_transposed()
    test_hidden_keys_get_nothing_and_the_others_what_they_would_get_alone()
    test_sequences_of_a_batch_do_not_meet()
    test_a_row_with_nothing_to_see_gives_zeros()
    test_large_scores_give_no_nan(1e3)
    test_temperature_flattens_and_sharpens()
    test_masks_say_what_may_be_looked_at()
    test_inputs_are_not_changed_and_types_are_kept()


@pytest.mark.parametrize("right, wrong", SLIPS.values(), ids=SLIPS)
def test_a_planted_slip_is_noticed(right, wrong, monkeypatch):
    assert right in SOURCE, "the slip no longer fits the source"
    planted = {"__name__": "planted"}
    exec(compile(SOURCE.replace(right, wrong), "planted", "exec"), planted)
    for name in (
        "causal_mask",
        "padding_mask",
        "project",
        "scores",
        "self_attention",
        "self_attention_columns",
        "softmax",
        "weighted_sum",
    ):
        monkeypatch.setitem(globals(), name, planted[name])
    with np.errstate(all="ignore"), pytest.raises(BaseException) as caught:
        look_hard()
    assert not isinstance(caught.value, (KeyboardInterrupt, NameError, SyntaxError, AttributeError))


def test_without_a_slip_nothing_is_noticed():
    look_hard()
