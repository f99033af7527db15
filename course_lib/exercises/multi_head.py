"""The exercises of notebook 07: several heads."""

import numpy as np

from course_lib.exercises.exercise import Exercise, arrays, attend, fixed, front, heads, shares, sizes, slips
from course_lib.heads import merge_heads, multi_head_attention, split_heads

EXERCISES = {}


# The notebook's slips: (..., n, h*d) read off as (..., h, n, d), and back, tokens and heads mixed up.


def cut(X, n_heads):
    return X.reshape(*X.shape[:-2], n_heads, X.shape[-2], -1)


def paste(X):
    return X.reshape(*X.shape[:-3], X.shape[-2], -1)


def _draw_split(rng):
    n, d, h = sizes(rng, 3)
    return *arrays(rng, (*front(rng), n, h * d)), int(h)


EXERCISES["07-split"] = Exercise(
    reference=split_heads,
    probes=[(*fixed(0, (3, 4)), 2), (*fixed(1, (2, 4, 6)), 3)],
    draw=_draw_split,
    slips=slips(
        "cut by reshape alone: Off by {off:.2f}: your first head holds several parts of one token.",
        cut,
        "heads behind tokens: Axis -3 has {heads} entries and should be the heads: one swap is missing.",
        lambda X, n_heads: X.reshape(*X.shape[:-1], n_heads, -1),
        "every h-th feature: Off by {off:.2f}: features that were neighbors are in different heads.",
        lambda X, n_heads: np.moveaxis(X.reshape(*X.shape[:-1], -1, n_heads), -1, -3),
        "n_heads taken for a head's size: You have {heads} heads: n_heads says how many, not how wide.",
        lambda X, n_heads: X.reshape(*X.shape[:-1], -1, n_heads).swapaxes(-2, -3),
        "axes counted from the front: Axis -3 has {heads} entries: a stack has other first axes.",
        lambda X, n_heads: X.reshape(*X.shape[:-1], n_heads, -1).swapaxes(0, 1),
        "written for one sentence: Right without a stack; in one, axis -3 has {heads} entries, not heads.",
        lambda X, n_heads: X.reshape(len(X), n_heads, -1).swapaxes(0, 1),
        "batch taken for heads: Axis -3 has {heads} entries: your heads lie in front of the whole stack.",
        lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-1)),
    ),
)


EXERCISES["07-merge"] = Exercise(
    reference=merge_heads,
    probes=[fixed(0, (2, 3, 2)), fixed(1, (3, 2, 2, 1))],
    draw=lambda rng: arrays(rng, (*front(rng), *sizes(rng, 3))),
    slips=slips(
        "pasted by reshape alone: The first token's row holds several tokens of head 1, off by {off:.2f}.",
        paste,
        "heads interleaved: Features of different heads alternate, off by {off:.2f}.",
        lambda X: np.moveaxis(X, -3, -1).reshape(*X.shape[:-3], X.shape[-2], -1),
        "heads one below the other: You have {tokens} rows: the heads of one token belong into one row.",
        lambda X: X.reshape(*X.shape[:-3], -1, X.shape[-1]),
        "heads added: You add the heads up: {columns} features are left of all.",
        lambda X: X.sum(axis=-3),
        "batch taken for heads: Axis 0 of a stack is not the heads: you have {axes} axes left.",
        lambda X: np.concatenate(X, axis=-1),
        "written for one sentence: Right without a stack; in one you have {tokens} rows: are they tokens?",
        lambda X: np.hstack(list(X)),
        "mean of the heads: You average the heads: {columns} features are left of all.",
        lambda X: X.mean(axis=-3),
        "axes counted from the front: Off by {off:.2f}, or another shape: a stack has other first axes.",
        lambda X: X.swapaxes(0, 1).reshape(*X.shape[:-3], X.shape[-2], -1),
        "not laid together: You swap the axes, and {axes} are left: a token's heads still lie apart.",
        lambda X: X.swapaxes(-2, -3),
    ),
)


def _draw_heads(rng):
    drawn = sizes(rng, 6)
    few = rng.choice(np.flatnonzero(drawn <= 3))
    h, (n, d, d_k, d_v, d_out) = drawn[few], np.delete(drawn, few)
    shapes = ((*front(rng), n, d), (d, h * d_k), (d, h * d_k), (d, h * d_v), (h * d_v, d_out))
    return *arrays(rng, *shapes), int(h)


def _multi(X, W_q, W_k, W_v, W_o, n_heads, *, split=split_heads, merge=merge_heads, **parts):
    return merge(attend(*(split(X @ W, n_heads) for W in (W_q, W_k, W_v)), **parts)[-1]) @ W_o


def _one_width(X, W_q, W_k, W_v, W_o, h):  # cut by hand, the values at d_k too
    d_k = W_q.shape[1] // h
    cuts = [[(X @ W)[..., i * d_k : (i + 1) * d_k] for W in (W_q, W_k, W_v)] for i in range(h)]
    return np.concatenate([attend(*cut)[-1] for cut in cuts], axis=-1) @ W_o


EXERCISES["07-multi-head"] = Exercise(
    reference=lambda *call: multi_head_attention(*call).output,
    probes=[
        (*fixed(0, (4, 2), (2, 6), (2, 6), (2, 2), (2, 5)), 2),
        (*fixed(1, (2, 2, 3), (3, 6), (3, 6), (3, 3), (3, 4)), 3),
        (*fixed(2, (2, 3), (3, 4), (3, 4), (3, 4), (4, 1)), 2),  # n = h = d_k = d_v: here K.T runs
    ],
    draw=_draw_heads,
    slips=heads(_multi)
    + slips(
        "root of the number of heads: You divide by the root of n_heads: off by {off:.2f}.",
        lambda *call: _multi(*call, divide=lambda d_k: np.sqrt(call[-1])),
        "K.T on heads: .T turns over all axes: where sizes are equal that runs, off by {off:.2f}.",
        lambda *call: _multi(*call, turn=lambda K: K.T),
        "W_k used for the values: You mix keys: where sizes are equal that runs, off by {off:.2f}.",
        lambda X, W_q, W_k, W_v, *rest: _multi(X, W_q, W_k, W_k, *rest),
        "values cut at d_k: Off by {off:.2f}: your heads have values of unequal length. How wide is W_v?",
        _one_width,
        "split by reshape: Off by {off:.2f}: reshape alone gives a head pieces of several tokens.",
        lambda *call: _multi(*call, split=cut),
        "merged by reshape: The heads are right, but laid together wrongly: off by {off:.2f}.",
        lambda *call: _multi(*call, merge=paste),
        "both by reshape: It undoes itself, yet is off by {off:.2f}: a head sees only some tokens.",
        lambda *call: _multi(*call, split=cut, merge=paste),
        "root of all heads' features: Off by {off:.2f}: you count all heads. What is a score a sum of?",
        lambda *call: _multi(*call, divide=lambda d_k: np.sqrt(call[1].shape[1])),
        "softmax over the heads: Your shares sum to 1 over the heads: off by {off:.2f}. Where are the keys?",
        lambda *call: _multi(*call, weigh=lambda alpha: shares(alpha, axis=-3)),
        "softmax down the columns: Your shares sum to 1 over the queries: off by {off:.2f}.",
        lambda *call: _multi(*call, weigh=lambda alpha: shares(alpha, axis=-2)),
        "weights averaged: All your heads share the mean of their weights: off by {off:.2f}.",
        lambda *call: _multi(
            *call, weigh=lambda alpha: shares(alpha).mean(axis=-3, keepdims=True) + 0 * alpha
        ),
        "scores added before the softmax: Your heads share one softmax: off by {off:.2f}.",
        lambda *call: _multi(*call, weigh=lambda alpha: shares(alpha.sum(-3, keepdims=True))),
        "weights transposed: You mix the values with a column of the weights: off by {off:.2f}.",
        lambda *call: _multi(*call, take=lambda weights: weights.swapaxes(-1, -2)),
        "heads added before W_o: All your heads meet the first rows of W_o: off by {off:.2f}.",
        lambda *call: _multi(*call[:4], np.tile(call[4][: len(call[4]) // call[5]], (call[5], 1)), call[5]),
        "W_o forgotten: You return the heads side by side, {columns} features: a product is missing.",
        lambda X, W_q, W_k, W_v, W_o, n_heads: _multi(X, W_q, W_k, W_v, np.eye(len(W_o)), n_heads),
        "one head: This is one head on all features, off by {off:.2f}: n_heads is never used.",
        lambda *call: _multi(*call[:-1], 1),
    ),
)
