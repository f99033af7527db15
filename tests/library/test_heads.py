"""Several heads: against a loop over heads, against ONNX, split and merge, wrong input, planted slips."""

import numpy as np
import onnx_reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planting import noticed, plant

from course_lib import heads
from course_lib.attention import causal_mask, padding_mask, self_attention
from course_lib.heads import add_scores, merge_heads, mix_scores, multi_head_attention, split_heads

sizes, seeds = st.integers(1, 5), st.integers(0, 10_000)


def draw(seed, n, d, h, d_k, d_v, d_out, batch=()):
    rng = np.random.default_rng(seed)
    shapes = (*batch, n, d), (d, h * d_k), (d, h * d_k), (d, h * d_v), (h * d_v, d_out)
    return [rng.normal(size=shape) for shape in shapes]


@given(seeds, sizes, sizes, sizes, sizes, sizes, sizes, st.booleans(), st.booleans())
def test_equals_a_loop_over_heads(seed, n, d, h, d_k, d_v, d_out, causal, scaled):
    X, W_q, W_k, W_v, W_o = draw(seed, n, d, h, d_k, d_v, d_out)
    mask = causal_mask(n) if causal else None
    found = multi_head_attention(X, W_q, W_k, W_v, W_o, h, mask=mask, scaled=scaled)
    total = np.zeros((n, d_out))
    for i in range(h):
        keys, values = slice(i * d_k, (i + 1) * d_k), slice(i * d_v, (i + 1) * d_v)
        alone = self_attention(X, W_q[:, keys], W_k[:, keys], W_v[:, values], mask=mask, scaled=scaled)
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


def test_each_head_is_scaled_by_its_own_d_k_unless_told():
    found = multi_head_attention(*draw(0, 5, 4, 2, 3, 3, 6), 2)
    products = np.einsum("hik,hjk->hij", found.Q, found.K)
    np.testing.assert_allclose(found.scores, products / np.sqrt(3), rtol=1e-12)


def test_no_tokens_in_no_tokens_out():
    found = multi_head_attention(np.ones((0, 4)), *draw(0, 5, 4, 2, 2, 3, 6)[1:], 2)
    assert found.weights.shape == (2, 0, 0) and found.output.shape == (0, 6)
    assert split_heads(np.ones((2, 0, 6)), 3).shape == (2, 3, 0, 2)
    assert merge_heads(np.ones((2, 3, 0, 2))).shape == (2, 0, 6)


def test_heads_divide_the_features_not_the_tokens():
    assert split_heads(np.ones((2, 5, 6)), 3).shape == (2, 3, 5, 2)  # 5 tokens do not divide by 3
    with pytest.raises(ValueError, match=r"5 features do not divide into 3 heads: \(2, 6, 5\)"):
        split_heads(np.ones((2, 6, 5)), 3)


def test_merges_of_scores():
    alphas = np.random.default_rng(0).normal(size=(3, 3, 4, 5))
    np.testing.assert_allclose(add_scores(alphas), alphas[:, 0] + alphas[:, 1] + alphas[:, 2])
    np.testing.assert_allclose(mix_scores(alphas, np.ones(3)), add_scores(alphas))
    np.testing.assert_allclose(mix_scores(alphas, [1, 0, -2]), alphas[:, 0] - 2 * alphas[:, 2])


def test_inputs_are_not_changed():
    inputs = draw(0, 5, 4, 2, 2, 3, 6)
    copies = [each.copy() for each in inputs]
    multi_head_attention(*inputs, 2)
    assert all(map(np.array_equal, inputs, copies))


# Planted slips

SPLIT = ("X.reshape(*X.shape[:-1], h, X.shape[-1] // h)", "return slices.swapaxes(-2, -3)")
CUT = ("X.reshape(*X.shape[:-2], h, X.shape[-2], X.shape[-1] // h)", "return slices")
MERGE = (
    ".swapaxes(-2, -3)  # (..., n, h, d)",
    "*front, h, d = tokens.shape",
    "tokens.reshape(*front, h * d)",
)
PASTE = ("", "*front, h, n, d = tokens.shape", "tokens.reshape(*front, n, h * d)")
ATTEND = "merge_heads(weighted_sum(weights, V))"
SLIPS = {
    "split by reshape": zip(SPLIT, CUT),
    "merged by reshape": zip(MERGE, PASTE),
    "both by reshape": zip(SPLIT + MERGE, CUT + PASTE),
    "heads and features exchanged": [
        (SPLIT[0], "X.reshape(*X.shape[:-1], X.shape[-1] // h, h).swapaxes(-1, -2)"),
        (MERGE[2], "tokens.swapaxes(-1, -2).reshape(*front, h * d)"),
    ],
    "the size left to NumPy": [("X.shape[-1] // h)", "-1)")],
    "the merged size left to NumPy": [("reshape(*front, h * d)", "reshape(*front, -1)")],
    "scaled by d_model": [("scores(Q, K, scaled=scaled)", "scores(Q, K, scaled=scaled) / n_heads ** 0.5")],
    "always scaled": [("scores(Q, K, scaled=scaled)", "scores(Q, K)")],
    "unscaled unless asked": [("mask=None, scaled=True", "mask=None, scaled=False")],
    "never scaled": [("scores(Q, K, scaled=scaled)", "scores(Q, K, scaled=False)")],
    "softmax over the heads": [
        ("softmax(alpha, mask=mask)", "softmax(alpha.swapaxes(-3, -1)).swapaxes(-3, -1)")
    ],
    "concatenated in the wrong order": [(ATTEND, "merge_heads(weighted_sum(weights, V)[..., ::-1, :, :])")],
    "mask on the batch axis": [("[..., None, :, :]", "")],
    "mask forgotten": [("softmax(alpha, mask=mask)", "softmax(alpha)")],
    "keys of head 1 for all": [("scores(Q, K, scaled", "scores(Q, K[..., :1, :, :], scaled")],
    "scores added before the softmax": [
        ("softmax(alpha, mask=mask)", "softmax(alpha * 0 + add_scores(alpha)[..., None, :, :], mask=mask)")
    ],
    "no W_o": [
        ("merged @ inputs.output_matrix(W_o, merged)", "merged @ np.eye(len(W_o))[:, : W_o.shape[1]]")
    ],
    "one head too many in the sum": [
        (".sum(axis=-3)", ".sum(axis=-3) + inputs.numbers('alphas', alphas)[..., 0, :, :]")
    ],
    "the mean of the heads": [(".sum(axis=-3)", ".mean(axis=-3)")],
    "mixed along the batch": [
        ("np.tensordot(mix, alphas, axes=(0, -3))", "np.tensordot(mix, alphas, axes=(0, 0))")
    ],
    "mixed in the wrong order": [("np.tensordot(mix,", "np.tensordot(mix[::-1],")],
}
SLIPS = {name: list(pairs) for name, pairs in SLIPS.items()}


def look_hard():
    test_no_tokens_in_no_tokens_out()
    test_each_head_is_scaled_by_its_own_d_k_unless_told()
    test_merges_of_scores()
    test_every_token_reaches_every_other_and_the_causal_mask_stops_it()
    test_split_keeps_runs_of_features_and_merge_undoes_it()
    test_equals_a_loop_over_heads()
    test_sequences_of_a_batch_do_not_meet()


@pytest.mark.parametrize("pairs", SLIPS.values(), ids=SLIPS)
def test_a_planted_slip_is_noticed(pairs, monkeypatch, unshrunk):
    for name, function in plant(heads, pairs).items():
        monkeypatch.setitem(globals(), name, function)
    with noticed():
        look_hard()


def test_without_a_slip_nothing_is_noticed():
    look_hard()
