"""The exercises of notebook 05: the weighted sum."""

import numpy as np

from course_lib.attention import project, scores, self_attention, softmax, weighted_sum
from course_lib.exercises.exercise import Exercise, arrays, attend, fixed, heads, shares, sizes, slips

EXERCISES = {}


def _draw_weights(rng):
    """Weights (n_q, n) and values: rows that sum to 1 or not, some of zeros; one query, as the panel asks."""
    n_q, n, d_v = sizes(rng, 3)
    weights, V = arrays(rng, (rng.choice([n, n_q, 1]), n), (n, d_v))
    weights = weights if rng.random() < 0.5 else np.round(softmax(weights), 2)
    return weights * (rng.random((len(weights), 1)) < 0.85), V


_weights = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.25, 0.35, 0.4]])

EXERCISES["05-weighted-sum"] = Exercise(
    reference=weighted_sum,
    probes=[(_weights, *fixed(0, (3, 2))), (_weights.T[:2], *fixed(1, (3, 4)))],
    draw=_draw_weights,
    slips=slips(
        "weights transposed: You take weights from a column: off by {off:.2f}. Whose are in a row?",
        lambda weights, V: weights.T @ V,
        "sum over the wrong axis: Off by {off:.2f}: your first output holds the first value only.",
        lambda weights, V: weights.sum(axis=0)[:, None] * V,
        "mean of the values: All outputs are equal, off by {off:.2f}. Do all take home the same?",
        lambda weights, V: np.tile(V.mean(axis=0), (len(weights), 1)),
        "only its own value: Every token keeps to its own value: off by {off:.2f}.",
        lambda weights, V: np.diag(weights)[:, None] * V,
        "divided by the number of tokens: Off by {off:.2f}: a sum is asked for, whatever the weights sum to.",
        lambda weights, V: weights @ V / len(V),
        "only the largest weight: You look up one value, as a dictionary does: off by {off:.2f}.",
        lambda weights, V: V[weights.argmax(axis=-1)],
        "only the last value: Off by {off:.2f}: does each term replace the one before, or is it added?",
        lambda weights, V: weights[:, -1:] * V[-1],
        "only the first token: This is one output, an array with {axes} axis. Every row of weights has one.",
        lambda weights, V: weights[0] @ V,
        "softmax a second time: Off by {off:.2f}, too near to the mean: these are weights, not scores.",
        lambda weights, V: softmax(weights) @ V,
        "weights made to sum to 1: Off by {off:.2f}: you divide each row by its sum. Take them as they come.",
        lambda weights, V: weights / weights.sum(axis=-1, keepdims=True) @ V,
        "weights made to have length 1: Off by {off:.2f}: you divide each row of weights by its length.",
        lambda weights, V: weights / np.linalg.norm(weights, axis=-1, keepdims=True) @ V,
    ),
)


def _shapes(n, d, d_k, d_v):
    return (n, d), (d, d_k), (d, d_k), (d, d_v)


def _draw_head(rng):
    return arrays(rng, *_shapes(*sizes(rng, 4)))


def _draw_token(rng):
    head = _draw_head(rng)
    return *head, int(rng.integers(len(head[0])))


# The output of token i, with one of its parts taken for another.
def _one(X, W_q, W_k, W_v, i, *, give=2, **parts):
    made = project(X, W_q, W_k, W_v)
    return attend(*made[:2], made[give], **parts)[-1][i]


# All sizes of a call differ, and on the first also their roots, d_k, its half and its double.
_heads = [fixed(i, *_shapes(*call)) for i, call in enumerate([(4, 2, 3, 5), (3, 4, 2, 5), (5, 2, 4, 3)])]

EXERCISES["05-one-token"] = Exercise(
    reference=lambda X, W_q, W_k, W_v, i: self_attention(X, W_q, W_k, W_v).output[i],
    probes=[(*_heads[0], 2), (*_heads[1], 1), (*_heads[2], 0)],
    draw=_draw_token,
    slips=heads(_one)
    + slips(
        "softmax down the columns: Off by {off:.2f}: your shares sum to 1 over the queries. Who shares out?",
        lambda *call: _one(*call, weigh=lambda alpha: shares(alpha, axis=0)),
        "a softmax for each number: Off by {off:.2f}: each weight of yours is 1, so b is the sum of values.",
        lambda *call: _one(*call, weigh=np.ones_like),
        "mixes keys: Your b has {count} numbers where a value has {due}. What is it that a token gives?",
        lambda *call: _one(*call, give=1),
        "mixes the tokens themselves: Your b has {count} numbers, as a token has. What does it give?",
        lambda X, *call: softmax(scores(X @ call[0], X @ call[1]))[call[-1]] @ X,
        "column i: Off by {off:.2f}: you mix with what all give to token i. Whose shares are in a row?",
        lambda *call: _one(*call, take=np.transpose),
        "only its own value: Your token takes its own value alone: off by {off:.2f}.",
        lambda *call: _one(*call, take=lambda weights: weights * np.eye(len(weights))),
        "divided after the softmax: You divide shares, not scores: off by {off:.2f}. What do yours sum to?",
        lambda *call: _one(*call, divide=lambda d_k: 1) / np.sqrt(call[1].shape[1]),
        "the weights only: You return {count} weights. The last step is missing: what do they weigh?",
        lambda *call: self_attention(*call[:-1]).weights[call[-1]],
        "always the first token: This is the output of token 0, off by {off:.2f}: your query has no i.",
        lambda *call: _one(*call[:-1], 0),
        "counts from 1: This is the output of the token before, off by {off:.2f}. Python counts from 0.",
        lambda *call: _one(*call[:-1], call[-1] - 1),
        "all tokens: You return {count} outputs, one per token; only token i is asked for.",
        lambda *call: self_attention(*call[:-1]).output,
        "mean of the values: This is the plain mean, off by {off:.2f}: query and keys have no say.",
        lambda X, W_q, W_k, W_v, i: (X @ W_v).mean(axis=0),
    ),
)


def _all(X, W_q, W_k, W_v, *, give=2, scale=1, **parts):
    """Every stage, with one of its parts exchanged."""
    made = project(X, W_q, W_k, W_v)
    return *made, *attend(made[0] * scale, made[1], (*made, X)[give], **parts)


EXERCISES["05-attention"] = Exercise(
    reference=self_attention,
    probes=_heads,
    draw=_draw_head,
    slips=heads(_all, seen="your scores are {ratio:.2f} times what they should be")
    + slips(
        "scores transposed: Your scores are turned over, off by {off:.2f}. Who asks in a row?",
        lambda X, W_q, W_k, W_v: (*_all(X, W_q, W_k, W_v)[:3], *_all(X, W_k, W_q, W_v)[3:]),
        "values mixed with scores: Right up to the weights, then off by {off:.2f}: what do you mix with?",
        lambda *call: (*_all(*call)[:5], _all(*call, weigh=lambda alpha: alpha)[-1]),
        "softmax down the columns: A row of your weights sums to {row_sum:.2f}. Whose shares are they?",
        lambda *call: _all(*call, weigh=lambda alpha: shares(alpha, axis=0)),
        "softmax of the scores turned over: Your weights are off by {off:.2f}: whose scores lie in a row?",
        lambda *call: _all(*call, weigh=lambda alpha: shares(alpha.T)),
        "keys and values exchanged: Right but for the order, Q, K, V: your second has {columns} columns.",
        lambda *call: tuple(_all(*call)[i] for i in (0, 2, 1, 3, 4, 5)),
        "weights transposed: Right up to the weights, then off by {off:.2f}: you mix with columns.",
        lambda *call: _all(*call, take=np.transpose),
        "mixes keys: Right up to the weights, but b has {columns} columns. What do the weights mix?",
        lambda *call: _all(*call, give=1),
        "mixes the tokens themselves: Right up to the weights, but b has {columns} columns, as X has.",
        lambda *call: _all(*call, give=3),
        "scores and weights exchanged: Right but for the order: your scores are off by {off:.2f}.",
        lambda *call: (*_all(*call)[:3], *_all(*call)[4:2:-1], _all(*call)[-1]),
        "W_k used for the values: Your values have {columns} columns, as keys have. Which W makes values?",
        lambda X, W_q, W_k, W_v: _all(X, W_q, W_k, W_k),
        "scores returned before scales: Only your scores are wrong, {ratio:.2f} times what they should be.",
        lambda *call: (*_all(*call)[:3], scores(*_all(*call)[:2], scaled=False), *_all(*call)[4:]),
        "only the output: Right, but one array with {axes} axes. Return all stages, b last.",
        lambda *call: _all(*call)[-1],
    ),
)
