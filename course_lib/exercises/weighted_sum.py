"""The exercises of notebook 05: the weighted sum."""

import numpy as np

from course_lib.attention import project, scores, self_attention, softmax, weighted_sum
from course_lib.exercises.exercise import Exercise, Slip

EXERCISES = {}

_rng5 = np.random.default_rng(2)
_weights = [softmax(_rng5.normal(size=(n, n))) for n in (4, 3)]
_V = [_rng5.normal(size=shape) for shape in ((4, 3), (3, 5))]

EXERCISES["05-weighted-sum"] = Exercise(
    reference=weighted_sum,
    probes=list(zip(_weights, _V)),
    slips=[
        Slip(
            "weights transposed",
            lambda weights, V: weights.T @ V,
            "The weights you use for the first token sum to {number:.2f}, not to 1: you take them "
            "from a column. Whose weights are in a row?",
            lambda got, want, weights, V: weights[:, 0].sum(),
        ),
        Slip(
            "sum over the wrong axis",
            lambda weights, V: weights.sum(axis=0)[:, None] * V,
            "Your first output is {number:.2f} times the first value and nothing of the others. "
            "Look at the axis that you sum over.",
            lambda got, want, weights, V: weights[:, 0].sum(),
        ),
        Slip(
            "mean of the values",
            lambda weights, V: np.tile(V.mean(axis=0), (len(weights), 1)),
            "All your outputs are equal, so no weight is used; the first row is off by "
            "{number:.2f}. Do all tokens take home the same?",
            lambda got, want, weights, V: np.abs(got[0] - want[0]).max(),
        ),
        Slip(
            "only its own value",
            lambda weights, V: np.diag(weights)[:, None] * V,
            "Your first output is {number:.2f} times the first value and nothing of the others: "
            "every token keeps to itself.",
            lambda got, want, weights, V: weights[0, 0],
        ),
        Slip(
            "only the largest weight",
            lambda weights, V: V[weights.argmax(axis=-1)],
            "You look up one value, as a dictionary does. The largest weight of the first token "
            "is only {number:.2f}: who gives the rest?",
            lambda got, want, weights, V: weights[0].max(),
        ),
        Slip(
            "only the first token",
            lambda weights, V: weights[0] @ V,
            "This is the output of the first token, an array with {number:.0f} axis. There is one "
            "output for every row of weights.",
            lambda got, want, weights, V: got.ndim,
        ),
        Slip(
            "softmax a second time",
            lambda weights, V: softmax(weights) @ V,
            "Your output is off by {number:.2f}, too near to the plain mean: what you are given "
            "are weights already, not scores.",
        ),
    ],
)


def _one_token(X, W_q, W_k, W_v, i, *, ask="Q", find="K", give="V", divide=np.sqrt, weigh=softmax):
    """Attention for one token, with one of its parts taken for another."""
    made = dict(zip("QKV", project(X, W_q, W_k, W_v)))
    return weigh(made[find] @ made[ask][i] / divide(W_q.shape[1])) @ made[give]


_X5, _W5 = _rng5.normal(size=(5, 3)), [_rng5.normal(size=shape) for shape in ((3, 2), (3, 2), (3, 4))]

EXERCISES["05-one-token"] = Exercise(
    reference=lambda X, W_q, W_k, W_v, i: self_attention(X, W_q, W_k, W_v).output[i],
    probes=[(_X5, *_W5, 2), (_X5, *_W5, 1)],
    slips=[
        Slip(
            "forgot to scale",
            lambda *inputs: _one_token(*inputs, divide=lambda d_k: 1),
            "Right up to one step: your b is off by {number:.2f}, because your scores are 1.41 "
            "times too large. Where does d_k come in?",
        ),
        Slip(
            "divided by d_k",
            lambda *inputs: _one_token(*inputs, divide=lambda d_k: d_k),
            "You divide, but by too much: your b is off by {number:.2f}. The spread of a dot "
            "product grows more slowly than d_k.",
        ),
        Slip(
            "scores used as weights",
            lambda *inputs: _one_token(*inputs, weigh=lambda scores: scores),
            "The numbers that you multiply the values with sum to {number:.2f}, not to 1: they "
            "are scores. One step of notebook 04 is missing.",
            lambda got, want, X, W_q, W_k, W_v, i: scores(X @ W_q, X @ W_k)[i].sum(),
        ),
        Slip(
            "mixes keys",
            lambda *inputs: _one_token(*inputs, give="K"),
            "Your b has {number} numbers where a value has 4: it is a mix of the keys. Keys are "
            "for being found; what is it that a token gives?",
            lambda got, want, *inputs: got.size,
        ),
        Slip(
            "asks with the key",
            lambda *inputs: _one_token(*inputs, ask="K", find="Q"),
            "Your b is off by {number:.2f}: you let all the queries ask the key of token i. Who "
            "asks here, and who is found?",
        ),
        Slip(
            "always the first token",
            lambda X, W_q, W_k, W_v, i: _one_token(X, W_q, W_k, W_v, 0),
            "For i = {number} you return the output of token 0: i does not reach your query.",
            lambda got, want, *inputs: inputs[-1],
        ),
        Slip(
            "counts from 1",
            lambda X, W_q, W_k, W_v, i: _one_token(X, W_q, W_k, W_v, i - 1),
            "For i = {number} you return the output of the token before it: Python counts from 0.",
            lambda got, want, *inputs: inputs[-1],
        ),
        Slip(
            "all tokens",
            lambda X, W_q, W_k, W_v, i: self_attention(X, W_q, W_k, W_v).output,
            "You return the outputs of all {number} tokens; here only token i is asked for.",
            lambda got, want, *inputs: len(got),
        ),
        Slip(
            "mean of the values",
            lambda X, W_q, W_k, W_v, i: (X @ W_v).mean(axis=0),
            "This is the plain mean of the values, off by {number:.2f}: the weights are all "
            "equal. Query and keys have no say.",
        ),
    ],
)


def _all_tokens(
    X,
    W_q,
    W_k,
    W_v,
    *,
    divide=np.sqrt,
    weigh=softmax,
    turn=lambda weights: weights,
    give=lambda X, Q, K, V: V,
):
    """Attention for all tokens, with one of its parts exchanged."""
    Q, K, V = project(X, W_q, W_k, W_v)
    alpha = Q @ K.T / divide(W_q.shape[1])
    weights = weigh(alpha)
    return Q, K, V, alpha, weights, turn(weights) @ give(X, Q, K, V)


EXERCISES["05-attention"] = Exercise(
    reference=self_attention,
    probes=[(_X5, *_W5), (_X5[:4], *_W5)],
    slips=[
        Slip(
            "forgot to scale",
            lambda *inputs: _all_tokens(*inputs, divide=lambda d_k: 1),
            "Your scores are {number:.2f} times as large as they should be. Which step stands "
            "between the dot products and the softmax?",
            lambda got, want, *inputs: got[3][0, 0] / want[3][0, 0],
        ),
        Slip(
            "divided by d_k",
            lambda *inputs: _all_tokens(*inputs, divide=lambda d_k: d_k),
            "Your scores are only {number:.2f} times as large as they should be: d_k comes in, "
            "but not like this.",
            lambda got, want, *inputs: got[3][0, 0] / want[3][0, 0],
        ),
        Slip(
            "scaled by the features of X",
            lambda *inputs: _all_tokens(*inputs, divide=lambda d_k: np.sqrt(inputs[0].shape[1])),
            "Your scores are {number:.2f} times as large as they should be. X has 3 features; how "
            "many does a query have?",
            lambda got, want, *inputs: got[3][0, 0] / want[3][0, 0],
        ),
        Slip(
            "softmax down the columns",
            lambda *inputs: _all_tokens(*inputs, weigh=lambda alpha: softmax(alpha.T).T),
            "The first row of your weights sums to {number:.2f}; the columns sum to 1. Whose "
            "shares are they: those of the one who asks, in a row.",
            lambda got, want, *inputs: got[4][0].sum(),
        ),
        Slip(
            "one softmax for the whole table",
            lambda *inputs: _all_tokens(*inputs, weigh=lambda alpha: np.exp(alpha) / np.exp(alpha).sum()),
            "The first row of your weights sums to {number:.2f}, all rows together to 1. Every "
            "token has a whole 1 of its own to share out.",
            lambda got, want, *inputs: got[4][0].sum(),
        ),
        Slip(
            "scores used as weights",
            lambda *inputs: _all_tokens(*inputs, weigh=lambda alpha: alpha),
            "The first row of your weights sums to {number:.2f}: these are the scores still.",
            lambda got, want, *inputs: got[4][0].sum(),
        ),
        Slip(
            "weights transposed",
            lambda *inputs: _all_tokens(*inputs, turn=np.transpose),
            "Everything is right up to the weights, then b is off by {number:.2f}: you mix the "
            "values with a column of weights. "
            "Row i is what token i takes.",
        ),
        Slip(
            "mixes keys",
            lambda *inputs: _all_tokens(*inputs, give=lambda X, Q, K, V: K),
            "Everything is right up to the weights, but your b has {number} columns where V has "
            "4. What do the weights mix?",
            lambda got, want, *inputs: got[5].shape[1],
        ),
        Slip(
            "mixes the tokens themselves",
            lambda *inputs: _all_tokens(*inputs, give=lambda X, Q, K, V: X),
            "Everything is right up to the weights, but your b has {number} columns, as X has. "
            "What is it that a token gives?",
            lambda got, want, *inputs: got[5].shape[1],
        ),
        Slip(
            "only the output",
            lambda *inputs: _all_tokens(*inputs)[-1],
            "Your b is right. Return all {number} stages, with b last: then the panel below can show them.",
            lambda got, want, *inputs: len(want),
        ),
    ],
)
