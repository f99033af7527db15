"""The exercises of notebook 07: several heads."""

import numpy as np

from course_lib.exercises.exercise import Exercise, Slip
from course_lib.heads import merge_heads, multi_head_attention, split_heads

EXERCISES = {}

_rng7 = np.random.default_rng(7)
_SPLIT = [(_rng7.normal(size=(4, 6)), 3), (_rng7.normal(size=(2, 5, 8)), 2)]
_MERGE = [(_rng7.normal(size=(3, 4, 2)),), (_rng7.normal(size=(2, 2, 5, 4)),)]
_MULTI = [
    (*(_rng7.normal(size=shape) for shape in shapes), heads)
    for shapes, heads in (
        ([(4, 3), (3, 4), (3, 4), (3, 6), (6, 5)], 2),
        ([(2, 5, 4), (4, 6), (4, 6), (4, 3), (3, 7)], 3),
    )
]


def _multi(X, W_q, W_k, W_v, W_o, n_heads, *, split=split_heads, merge=merge_heads, d=None, axis=-1):
    Q, K, V = (split(X @ W, n_heads) for W in (W_q, W_k, W_v))
    powers = np.exp(Q @ K.swapaxes(-1, -2) / np.sqrt(d or Q.shape[-1]))
    return merge(powers / powers.sum(axis=axis, keepdims=True) @ V) @ W_o


def _cut(X, n_heads):
    """The reshape slip: (..., n, h*d) read off as (..., h, n, d), tokens and heads mixed up."""
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], -1)


def _paste(X):
    return X.reshape(*X.shape[:-3], X.shape[-2], -1)


EXERCISES["07-split"] = Exercise(
    reference=split_heads,
    probes=_SPLIT,
    slips=[
        Slip(
            "reshaped without swapping",
            _cut,
            "The shape is right, the contents are not, off by {number:.2f}: your first head holds features of "
            "several heads of the first token. Keep a token's features together, then swap axes.",
        ),
        Slip(
            "heads behind tokens",
            lambda X, n_heads: X.reshape(*X.shape[:-1], n_heads, -1),
            "Axis -3 has {number} entries and should be the heads: one swap is missing.",
            lambda got, want, *inputs: got.shape[-3],
        ),
        Slip(
            "every h-th feature",
            lambda X, n_heads: X.reshape(*X.shape[:-1], -1, n_heads).swapaxes(-1, -2).swapaxes(-2, -3),
            "Your heads take every h-th feature, off by {number:.2f}; a head is a run of neighbouring features.",
        ),
        Slip(
            "tokens split",
            lambda X, n_heads: np.stack(np.split(X, [X.shape[-2] // 2], axis=-2)[:1] * n_heads, axis=-3),
            "You split tokens: {number} of them are left. All tokens go to every head, with a part of their features.",
            lambda got, want, *inputs: got.shape[-2],
        ),
    ],
)

EXERCISES["07-merge"] = Exercise(
    reference=merge_heads,
    probes=_MERGE,
    slips=[
        Slip(
            "reshaped without swapping",
            _paste,
            "The shape is right, but the first token's row holds several tokens of head 1, off by {number:.2f}. "
            "Swap axes back before you lay the features side by side.",
        ),
        Slip(
            "concatenated in the wrong order",
            lambda X: merge_heads(X[..., ::-1, :, :]),
            "The heads stand in the wrong order, off by {number:.2f}: head 1 comes first.",
        ),
        Slip(
            "heads interleaved",
            lambda X: np.moveaxis(X, -3, -1).reshape(*X.shape[:-3], X.shape[-2], -1),
            "Features of different heads alternate, off by {number:.2f}. A head's features stay together.",
        ),
        Slip(
            "heads added",
            lambda X: X.sum(axis=-3),
            "You add the heads up: {number} features are left of all. Lay them side by side.",
            lambda got, want, *inputs: got.shape[-1],
        ),
        Slip(
            "heads averaged",
            lambda X: X.mean(axis=-3),
            "You average the heads: {number} features are left of all. Lay them side by side.",
            lambda got, want, *inputs: got.shape[-1],
        ),
    ],
)

EXERCISES["07-multi-head"] = Exercise(
    reference=lambda *inputs: multi_head_attention(*inputs).output,
    probes=_MULTI,
    slips=[
        Slip(
            "split by reshape",
            lambda *inputs: _multi(*inputs, split=_cut),
            "Shapes fit, numbers do not, off by {number:.2f}: reshape alone gives a head pieces of several tokens.",
        ),
        Slip(
            "merged by reshape",
            lambda *inputs: _multi(*inputs, merge=_paste),
            "The heads are right, but laid together wrongly, off by {number:.2f}: swap axes back before the reshape.",
        ),
        Slip(
            "both by reshape",
            lambda *inputs: _multi(*inputs, split=_cut, merge=_paste),
            "Split and merged by reshape alone: it undoes itself, and yet is off by {number:.2f}, for each head "
            "sees only some of the tokens.",
        ),
        Slip(
            "scaled by d_model",
            lambda *inputs: _multi(*inputs, d=inputs[1].shape[1]),
            "You divide by the root of all features, off by {number:.2f}. How many terms has a score of one head?",
        ),
        Slip(
            "softmax over the heads",
            lambda *inputs: _multi(*inputs, axis=-3),
            "Your shares sum to 1 over the heads, off by {number:.2f}. The keys are on the last axis.",
        ),
        Slip(
            "concatenated in the wrong order",
            lambda *inputs: _multi(*inputs, merge=lambda X: merge_heads(X[..., ::-1, :, :])),
            "The heads meet the wrong rows of W_o, off by {number:.2f}: head 1 comes first.",
        ),
        Slip(
            "W_o forgotten",
            lambda X, W_q, W_k, W_v, W_o, n_heads: _multi(X, W_q, W_k, W_v, np.eye(len(W_o)), n_heads),
            "You return {number} features, the heads side by side: the last product is missing.",
            lambda got, want, *inputs: got.shape[-1],
        ),
        Slip(
            "one head",
            lambda X, W_q, W_k, W_v, W_o, n_heads: _multi(X, W_q, W_k, W_v, W_o, 1),
            "This is one head on all features, off by {number:.2f}: n_heads is never used.",
        ),
    ],
)
