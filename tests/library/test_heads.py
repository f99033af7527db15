"""Several heads: against a loop over heads, against ONNX, split and merge, wrong input, planted slips."""

import numpy as np
import onnx_reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import heads
from course_lib.attention import causal_mask, padding_mask, self_attention
from course_lib.heads import add_scores, merge_heads, mix_scores, multi_head_attention, split_heads

sizes, seeds = st.integers(1, 5), st.integers(0, 10_000)


def draw(seed, n, d, h, d_k, d_v, d_out, batch=()):
    rng = np.random.default_rng(seed)
    shapes = (*batch, n, d), (d, h * d_k), (d, h * d_k), (d, h * d_v), (h * d_v, d_out)
    return [rng.normal(size=shape) for shape in shapes]


@given(seeds, sizes, sizes, sizes, sizes, sizes, sizes, st.booleans())
def test_equals_a_loop_over_heads(seed, n, d, h, d_k, d_v, d_out, causal):
    X, W_q, W_k, W_v, W_o = draw(seed, n, d, h, d_k, d_v, d_out)
    mask = causal_mask(n) if causal else None
    found = multi_head_attention(X, W_q, W_k, W_v, W_o, h, mask=mask)
    total = np.zeros((n, d_out))
    for i in range(h):
        keys, values = slice(i * d_k, (i + 1) * d_k), slice(i * d_v, (i + 1) * d_v)
        alone = self_attention(X, W_q[:, keys], W_k[:, keys], W_v[:, values], mask=mask)
        for whole, part in zip(found[:5], alone):
            np.testing.assert_allclose(whole[i], part, rtol=1e-12, atol=1e-12)
        total += alone.output @ W_o[values]
    np.testing.assert_allclose(found.output, total, rtol=1e-12, atol=1e-12)


@settings(max_examples=30)
@given(seeds, sizes, sizes, sizes, sizes, st.sampled_from([None, "causal", "padding"]))
def test_agrees_with_the_onnx_reference(seed, n, h, d_k, d_v, kind):
    X, W_q, W_k, W_v, W_o = (
        (each / 2).astype(np.float32) for each in draw(seed, n, 4, h, d_k, d_v, 3, batch=(2,))
    )
    mask = {None: None, "causal": causal_mask(n), "padding": padding_mask([1, n], n)}[kind]
    found = multi_head_attention(X, W_q, W_k, W_v, W_o, h, mask=mask)
    wide = None if mask is None else np.broadcast_to(np.broadcast_to(mask, (2, n, n))[:, None], (2, h, n, n))
    output, weights = onnx_reference.attention(found.Q, found.K, found.V, mask=wide)
    np.testing.assert_allclose(found.weights, weights, rtol=0, atol=1e-6)
    merged = output.transpose(0, 2, 1, 3).reshape(2, n, -1)
    np.testing.assert_allclose(found.output, merged @ W_o, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.weights @ found.V, output, rtol=0, atol=1e-6)


@given(seeds, sizes, sizes, sizes)
def test_split_keeps_runs_of_features_and_merge_undoes_it(seed, n, h, d):
    X = np.random.default_rng(seed).normal(size=(2, n, h * d))
    split = split_heads(X, h)
    assert split.shape == (2, h, n, d)
    for i in range(h):
        np.testing.assert_array_equal(split[:, i], X[..., i * d : (i + 1) * d])
    np.testing.assert_array_equal(merge_heads(split), X)


@given(seeds)
def test_sequences_of_a_batch_do_not_meet(seed):
    X, *W = draw(seed, 4, 3, 2, 2, 3, 5, batch=(3,))
    lengths = np.array([1, 4, 2])
    together = multi_head_attention(X, *W, 2, mask=padding_mask(lengths, 4))
    for i in range(3):
        alone = multi_head_attention(X[i], *W, 2, mask=padding_mask(lengths[i], 4))
        np.testing.assert_allclose(together.output[i], alone.output, rtol=1e-12, atol=1e-12)


def test_every_token_reaches_every_other_and_the_causal_mask_stops_it():
    X, *W = draw(0, 5, 4, 2, 2, 3, 6)
    for mask, reached in ((None, range(5)), (causal_mask(5), [4])):
        nudged = X + (np.arange(5) == 4)[:, None]
        moved = np.abs(
            multi_head_attention(nudged, *W, 2, mask=mask).output
            - multi_head_attention(X, *W, 2, mask=mask).output
        ).max(axis=1)
        assert np.flatnonzero(moved > 1e-9).tolist() == list(reached)


def test_merges_of_scores():
    alphas = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    np.testing.assert_allclose(mix_scores(alphas, np.ones(3)), add_scores(alphas))
    np.testing.assert_allclose(mix_scores(alphas, [0, 1, 0]), alphas[:, 1])


def test_inputs_are_not_changed():
    inputs = draw(0, 5, 4, 2, 2, 3, 6)
    copies = [each.copy() for each in inputs]
    multi_head_attention(*inputs, 2)
    assert all(map(np.array_equal, inputs, copies))


INPUTS = draw(0, 5, 4, 2, 2, 3, 6)
WRONG = {
    "features do not divide": (lambda: split_heads(np.ones((5, 7)), 2), r"7 features.*2 heads: \(5, 7\)"),
    "no heads": (lambda: split_heads(np.ones((5, 6)), 0), "0 heads"),
    "half a head": (lambda: split_heads(np.ones((5, 6)), 1.5), "not 1.5"),
    "heads without an axis": (lambda: merge_heads(np.ones((5, 6))), r"3 axes.*\(5, 6\)"),
    "W_o": (
        lambda: multi_head_attention(*INPUTS[:4], np.ones((5, 6)), 2),
        r"6 features but W_o takes 5: \(5, 6\) @ \(5, 6\)",
    ),
    "values do not divide": (
        lambda: multi_head_attention(*INPUTS[:3], np.ones((4, 5)), INPUTS[4], 2),
        "5 features",
    ),
    "mask": (
        lambda: multi_head_attention(*INPUTS, 2, mask=np.ones((4, 4), dtype=bool)),
        r"\(4, 4\) and \(5, 5\)",
    ),
    "mask of numbers": (lambda: multi_head_attention(*INPUTS, 2, mask=np.ones((5, 5))), "boolean"),
    "mix": (lambda: mix_scores(np.ones((2, 4, 4)), [1, 2, 3]), r"\(3,\) and \(2, 4, 4\)"),
    "nan": (lambda: merge_heads(np.full((2, 3, 4), np.nan)), "is nan"),
}


@pytest.mark.parametrize("call, words", WRONG.values(), ids=WRONG)
def test_wrong_input_is_answered(call, words):
    with pytest.raises(ValueError, match=words):
        call()


SPLIT = ("slices = X.reshape(*X.shape[:-1], n_heads, -1)", "return slices.swapaxes(-2, -3)")
CUT = ("slices = X.reshape(*X.shape[:-2], n_heads, X.shape[-2], -1)", "return slices")
MERGE = ("tokens = X.swapaxes(-2, -3)", "return tokens.reshape(*tokens.shape[:-2], -1)")
PASTE = ("tokens = X", "return tokens.reshape(*X.shape[:-3], X.shape[-2], -1)")
SLIPS = {
    "split by reshape": zip(SPLIT, CUT),
    "merged by reshape": zip(MERGE, PASTE),
    "both by reshape": zip(SPLIT + MERGE, CUT + PASTE),
    "scaled by d_model": [("scores(Q, K)", "scores(Q, K) / n_heads ** 0.5")],
    "softmax over the heads": [
        ("softmax(alpha, mask=mask)", "softmax(alpha.swapaxes(-3, -1)).swapaxes(-3, -1)")
    ],
    "concatenated in the wrong order": [
        ("merge_heads(weighted_sum(weights, V))", "merge_heads(weighted_sum(weights, V)[..., ::-1, :, :])")
    ],
    "mask on the batch axis": [("[..., None, :, :]", "")],
    "mask forgotten": [("softmax(alpha, mask=mask)", "softmax(alpha)")],
    "keys of head 1 for all": [("alpha = scores(Q, K)", "alpha = scores(Q, K[..., :1, :, :])")],
}
SLIPS = {name: list(pairs) for name, pairs in SLIPS.items()}
SOURCE = open(heads.__file__, encoding="utf-8").read()


def look_hard():
    test_equals_a_loop_over_heads()
    test_split_keeps_runs_of_features_and_merge_undoes_it()
    test_sequences_of_a_batch_do_not_meet()
    test_every_token_reaches_every_other_and_the_causal_mask_stops_it()


@pytest.mark.parametrize("pairs", SLIPS.values(), ids=SLIPS)
def test_a_planted_slip_is_noticed(pairs, monkeypatch):
    source = SOURCE
    for right, wrong in pairs:
        assert right in source, "the slip no longer fits the source"
        source = source.replace(right, wrong)
    planted = {"__name__": "planted"}
    exec(compile(source, "planted", "exec"), planted)
    for name in ("merge_heads", "multi_head_attention", "split_heads"):
        monkeypatch.setitem(globals(), name, planted[name])
    with pytest.raises(BaseException) as caught:
        look_hard()
    assert not isinstance(caught.value, (KeyboardInterrupt, NameError, SyntaxError, AttributeError))


def test_without_a_slip_nothing_is_noticed():
    look_hard()
