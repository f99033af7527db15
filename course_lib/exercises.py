"""The exercises, as data: what is right, what it is tried on, and the slips that are known.

A slip is a wrong way that learners really take. Its hint says what shows it and where to look, never the answer.
`{number}` in a hint becomes the number that gives the slip away, measured on the learner's own function.
Probes have unequal dimensions and scores near 1: square shapes and one-hot weights hide slips.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from course_lib.attention import (
    project,
    scores,
    self_attention,
    self_attention_columns,
    softmax,
    weighted_sum,
)
from course_lib.heads import merge_heads, multi_head_attention, split_heads
from course_lib.sequence import positions


def largest_difference(got, want, *inputs):
    """How far off the farthest entry is: the number in a hint that asks for no other."""
    return max(np.abs(g - w).max(initial=0) for g, w in zip(_parts(got), _parts(want)))


def _parts(result):
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


class Slip(NamedTuple):
    """A known wrong implementation and what to say to it."""

    name: str
    wrong: Callable
    hint: str
    number: Callable = largest_difference  # (got, want, *inputs) -> the number in the hint


class Exercise(NamedTuple):
    """What a learner's function is compared with."""

    reference: Callable
    probes: list  # of tuples: the arguments of one call
    slips: list


EXERCISES = {}


# 00, the warm-up

_rng = np.random.default_rng(0)

EXERCISES["00-warm-up"] = Exercise(
    reference=lambda q, k: np.sum(np.asarray(q) * k),
    probes=[
        (np.array([1.0, 2.0, 0.5]), np.array([0.5, -1.0, 2.0])),
        (_rng.normal(size=4), _rng.normal(size=4)),
    ],
    slips=[
        Slip(
            "products not added up",
            lambda q, k: q * k,
            "These are the products of the entries, one a feature; a score is a single number. "
            "The largest of yours is {number:.2f}.",
            lambda got, want, q, k: np.max(got),
        ),
        Slip(
            "added before multiplying",
            lambda q, k: np.sum(q) * np.sum(k),
            "You add up q and k first and multiply then, which is off by {number:.2f}. Multiply entry by entry first.",
        ),
        Slip(
            "mean instead of sum",
            lambda q, k: np.mean(q * k),
            "Right products, but their mean: your number is {number:.2f} times what it should be.",
            lambda got, want, q, k: got / want,
        ),
    ],
)


# 02, queries, keys and values

_X, _Wq, _Wk, _Wv = (_rng.normal(size=shape) for shape in ((4, 3), (3, 2), (3, 2), (3, 5)))

STAGES_MOVED = {
    "W_q": {"Q", "scores", "weights", "output"},
    "W_k": {"K", "scores", "weights", "output"},
    "W_v": {"V", "output"},
}

EXERCISES["02-project"] = Exercise(
    reference=project,
    probes=[(_X, _Wq, _Wk, _Wv)],
    slips=[
        Slip(
            "keys made with W_q",
            lambda X, W_q, W_k, W_v: (X @ W_q, X @ W_q, X @ W_v),
            "Your keys equal your queries: W_k is never used, and the keys are off by {number:.2f}.",
        ),
        Slip(
            "queries and keys exchanged",
            lambda X, W_q, W_k, W_v: (X @ W_k, X @ W_q, X @ W_v),
            "Your queries are the keys and your keys the queries, off by {number:.2f}. Look at their order.",
        ),
        Slip(
            "tokens as columns",
            lambda X, W_q, W_k, W_v: ((X @ W_q).T, (X @ W_k).T, (X @ W_v).T),
            "The numbers are there but turned over: you have {number:.0f} rows for 4 tokens. Here a token is a row.",
            lambda got, want, *inputs: len(got[0]),
        ),
        Slip(
            "only the first token",
            lambda X, W_q, W_k, W_v: (X[0] @ W_q, X[0] @ W_k, X[0] @ W_v),
            "This is the first token alone, an array with {number:.0f} axis. All tokens go through the matrices together.",
            lambda got, want, *inputs: got[0].ndim,
        ),
    ],
)

EXERCISES["02-moves"] = Exercise(
    reference=STAGES_MOVED.get,
    probes=[("W_q",), ("W_k",), ("W_v",)],
    slips=[
        Slip(
            "W_v moves the weights",
            lambda name: STAGES_MOVED[name] | ({"scores", "weights"} if name == "W_v" else set()),
            "You let W_v move {number} stages. Values enter after the weights are made: which stage reads V?",
            lambda got, want, name: len(got),
        ),
        Slip(
            "only the next stage",
            lambda name: {"W_q": {"Q"}, "W_k": {"K"}, "W_v": {"V"}}[name],
            "You name {number} stage where there are more: what is computed from a stage that moved moves too.",
            lambda got, want, name: len(got),
        ),
        Slip(
            "stops at the weights",
            lambda name: STAGES_MOVED[name] - {"output"},
            "You name {number} stages and leave out the last: what is a weighted sum made of?",
            lambda got, want, name: len(got),
        ),
        Slip(
            "everything moves",
            lambda name: {"Q", "K", "V", "scores", "weights", "output"},
            "You name all {number} stages every time. Q is made from X and W_q only: who else reads W_k?",
            lambda got, want, name: len(got),
        ),
    ],
)


# 03, attention scores

_Q, _K = _rng.normal(size=(4, 3)), _rng.normal(size=(5, 3))  # 4 queries, 5 keys, d_k = 3
_Q2, _K2 = _rng.normal(size=(6, 2)), _rng.normal(size=(3, 2))


def _cosines(Q, K):
    return Q @ K.T / np.linalg.norm(Q, axis=1, keepdims=True) / np.linalg.norm(K, axis=1)


EXERCISES["03-scores"] = Exercise(
    reference=lambda Q, K: scores(Q, K, scaled=False),
    probes=[(_Q, _K), (_Q2, _K2)],
    slips=[
        Slip(
            "queries and keys exchanged",
            lambda Q, K: K @ Q.T,
            "Your array has {number} rows for 4 queries: it is turned over. Which of the two indices counts the rows?",
            lambda got, want, *inputs: len(got),
        ),
        Slip(
            "queries with queries",
            lambda Q, K: Q @ Q.T,
            "Your row has {number} entries for 5 keys, and the keys are never read. Who answers a query?",
            lambda got, want, *inputs: got.shape[1],
        ),
        Slip(
            "keys with keys",
            lambda Q, K: K @ K.T,
            "You have {number} rows for 4 queries, and the queries are never read. Who asks?",
            lambda got, want, *inputs: len(got),
        ),
        Slip(
            "products not summed",
            lambda Q, K: Q[:, None] * K,
            "Your array has {number} axes: the products of the features stand side by side. A score is one number a pair.",
            lambda got, want, *inputs: got.ndim,
        ),
        Slip(
            "lengths divided out",
            _cosines,
            "No entry of yours is beyond {number:.2f}: these are cosines, the angle alone. A dot product keeps the lengths.",
            lambda got, want, *inputs: np.abs(got).max(),
        ),
        Slip(
            "scaled already",
            scores,
            "The largest score is {number:.2f} times yours. This exercise asks for the plain dot products; scaling comes next.",
            lambda got, want, *inputs: want.max() / got.max(),
        ),
    ],
)

EXERCISES["03-scaled"] = Exercise(
    reference=scores,
    probes=[(_Q, _K), (_Q2, _K2)],
    slips=[
        Slip(
            "not scaled",
            lambda Q, K: Q @ K.T,
            "Every score is {number:.3f} times too large: these are the plain dot products.",
            lambda got, want, *inputs: got[0, 0] / want[0, 0],
        ),
        Slip(
            "divided by d_k",
            lambda Q, K: Q @ K.T / Q.shape[1],
            "You divide by {number:.2f}, which is d_k itself. Look at the spread in the sweep: how does it grow with d_k?",
            lambda got, want, Q, K: (Q @ K.T)[0, 0] / got[0, 0],
        ),
        Slip(
            "multiplied by the root",
            lambda Q, K: Q @ K.T * np.sqrt(Q.shape[1]),
            "Every score is {number:.2f} times too large. The spread grows with d_k; what brings it back?",
            lambda got, want, *inputs: got[0, 0] / want[0, 0],
        ),
        Slip(
            "root of the number of queries",
            lambda Q, K: Q @ K.T / np.sqrt(len(Q)),
            "You divide by the root of {number:.0f}, the number of queries. Which axis of Q does a dot product sum over?",
            lambda got, want, Q, K: ((Q @ K.T)[0, 0] / got[0, 0]) ** 2,
        ),
        Slip(
            "root of the number of keys",
            lambda Q, K: Q @ K.T / np.sqrt(len(K)),
            "You divide by the root of {number:.0f}, the number of keys. Which axis of K does a dot product sum over?",
            lambda got, want, Q, K: ((Q @ K.T)[0, 0] / got[0, 0]) ** 2,
        ),
        Slip(
            "queries and keys exchanged",
            lambda Q, K: K @ Q.T / np.sqrt(Q.shape[1]),
            "Scaled rightly, but turned over: you have {number} rows for 4 queries.",
            lambda got, want, *inputs: len(got),
        ),
    ],
)


# 04, softmax


def _shares(scores, axis=-1, maximum=np.max, maximum_axis=-1):
    """Softmax with room for slips: over any axis, with any number subtracted first."""
    powers = np.exp(scores - maximum(scores, axis=maximum_axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _quiet_shares(powers):
    """Powers as shares; a row of zeros stays one."""
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def _nothing(scores, axis, keepdims):
    return 0.0


def _hide(scores, mask):
    return scores if mask is None else np.where(mask, scores, -np.inf)


def _odd_row_sum(got, want, *inputs):
    sums = np.sum(got, axis=-1)[np.sum(want, axis=-1) > 0.5]  # of the rows that see something
    return sums[np.abs(sums - 1).argmax()]


def _count_nan(got, want, *inputs):
    return np.isnan(got).sum()


def _hidden_weight(got, want, scores, mask, *temperature):
    return np.where(mask, 0, got).max()


_rng4 = np.random.default_rng(4)
_ordinary = _rng4.normal(size=(2, 3, 5))
_extreme = _rng4.normal(size=(3, 2, 4)) + [[1000], [-1000]]  # a high row and a low row each

EXERCISES["04-softmax"] = Exercise(
    reference=softmax,
    probes=[(_ordinary,), (_extreme,)],
    slips=[
        Slip(
            "no maximum subtracted",
            lambda scores: _shares(scores, maximum=_nothing),
            "Right for small scores, but with scores near 1000 and near -1000 your weights hold {number} nan. "
            "Print the powers of such scores.",
            _count_nan,
        ),
        Slip(
            "one maximum for all rows",
            lambda scores: _shares(scores, maximum_axis=None),
            "You subtract one number from all rows: in a row far below it every power is 0, and 0 / 0 gave {number} nan. "
            "Which number would suit that row?",
            _count_nan,
        ),
        Slip(
            "divided by the sum of the scores",
            lambda scores: scores / scores.sum(axis=-1, keepdims=True),
            "Your rows sum to 1, but the smallest weight is {number:.2f}. What makes a score positive before it is shared out?",
            lambda got, want, scores: np.min(got),
        ),
        Slip(
            "powers not divided",
            lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
            "Positive numbers in the right proportion, but not shares: one of your rows sums to {number:.2f}.",
            _odd_row_sum,
        ),
        Slip(
            "shares of the exponents",
            lambda scores: (
                (scores - scores.max(axis=-1, keepdims=True))
                / (scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)
            ),
            "In your first row the largest score gets the weight {number:.2f}: after the maximum a step is missing.",
            lambda got, want, scores: abs(got[0, 0, scores[0, 0].argmax()]),
        ),
    ]
    + [
        Slip(
            f"softmax over {axes}{also}",
            lambda scores, axis=axis, subtract=subtract: _shares(scores, axis, subtract, axis),
            f"{look} {{number:.2f}}. The keys that share one query's attention lie along one axis: which?{then}",
            number,
        )
        for axes, axis, look, number in [
            ("the queries", -2, "Your columns sum to 1, and one of your rows to", _odd_row_sum),
            (
                "the first axis",
                0,
                "Along the first axis yours sum to 1, and one of your rows to",
                _odd_row_sum,
            ),
            (
                "the whole array",
                None,
                "All your weights together sum to 1, and one of your rows only to",
                _odd_row_sum,
            ),
        ]
        for also, subtract, then in [
            ("", np.max, ""),
            (", no maximum subtracted", _nothing, " And try scores of 1000 afterwards."),
        ]
    ],
)

_seen = _rng4.random(size=(2, 3, 5)) < 0.6
_seen[:, 0, 0], _seen[0, 1], _seen[1, 2, 1:3] = True, False, [True, False]  # one row with nothing to see
_peak_hidden = _extreme + [0, 0, 0, 2000]  # the largest score of every row is hidden
_prefix = np.arange(4) < np.array([3, 2, 1])[:, None, None]  # (3, 1, 4): the same for every query

EXERCISES["04-masked-softmax"] = Exercise(
    reference=lambda scores, mask: softmax(scores, mask=mask),
    probes=[(_ordinary, _seen), (_peak_hidden, _prefix)],
    slips=[
        Slip(
            "scores multiplied by the mask",
            lambda scores, mask: softmax(scores * mask),
            "A hidden key has a weight of {number:.2f}. You set its score to 0: what is exp(0)?",
            _hidden_weight,
        ),
        Slip(
            "zeroed after the softmax",
            lambda scores, mask: softmax(scores) * mask,
            "Hidden keys have weight 0, but a row that sees something sums to {number:.2f}: the share of its hidden keys is lost.",
            _odd_row_sum,
        ),
        Slip(
            "mask the wrong way round",
            lambda scores, mask: softmax(scores, mask=~mask),
            "The keys that may be looked at have no weight at all; a hidden one has {number:.2f}. What does True mean here?",
            _hidden_weight,
        ),
        Slip(
            "0/1 mask added",
            lambda scores, mask: softmax(scores + mask),
            "A hidden key still has a weight of {number:.2f}. You raise the visible scores by 1; that hides nothing.",
            _hidden_weight,
        ),
        Slip(
            "nan where there is nothing to see",
            lambda scores, mask: _shares(_hide(scores, mask)),
            "Right, except for {number} nan: in a row in which every key is hidden you subtract -inf from -inf.",
            _count_nan,
        ),
        Slip(
            "-1e9 instead of -inf",
            lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
            "Right where something may be looked at; in the row that may see nothing a key still gets {number:.2f}.",
            _hidden_weight,
        ),
        Slip(
            "-1e9 added",
            lambda scores, mask: softmax(np.where(mask, scores, scores - 1e9)),
            "Right where something may be looked at; the row that may see nothing has its unmasked weights back, up to "
            "{number:.2f}. Remember what adding one number to a whole row does.",
            _hidden_weight,
        ),
        Slip(
            "hidden keys set the maximum",
            lambda scores, mask: _quiet_shares(_shares(scores) * mask),
            "Right while the scores are near each other. Beside a hidden score that is 2000 higher all visible powers are 0 "
            "and your row sums to {number:.2f}: which keys may have a say in the maximum?",
            _odd_row_sum,
        ),
        Slip(
            "renormalised by 0",
            lambda scores, mask: _shares(scores) * mask / (_shares(scores) * mask).sum(-1, keepdims=True),
            "Where the visible weights sum to 0 you divide by it: {number} nan.",
            _count_nan,
        ),
        Slip(
            "no maximum subtracted",
            lambda scores, mask: _quiet_shares(np.exp(_hide(scores, mask))),
            "Right for small scores, but with scores near 1000 your weights hold {number} nan.",
            _count_nan,
        ),
        Slip(
            "no maximum subtracted, powers times mask",
            lambda scores, mask: _quiet_shares(np.exp(scores) * mask),
            "Right for small scores, but with scores near 1000 your weights hold {number} nan: inf / inf, and inf * 0 too.",
            _count_nan,
        ),
        Slip(
            "mask not used",
            lambda scores, mask: softmax(scores),
            "A hidden key has a weight of {number:.2f}: your mask does nothing.",
            _hidden_weight,
        ),
    ],
)

EXERCISES["04-temperature"] = Exercise(
    reference=lambda scores, mask, temperature: softmax(scores, mask=mask, temperature=temperature),
    probes=[(_ordinary, None, 2.0), (_ordinary, _seen, 0.5), (_extreme, None, 0.1)],
    slips=[
        Slip(
            "multiplied by the temperature",
            lambda scores, mask, temperature: softmax(scores * temperature, mask=mask),
            "At temperature 2 your largest weight is {number:.2f}, more than without: yours gets sharper where it should get flatter.",
            lambda got, want, *inputs: np.max(got),
        ),
        Slip(
            "temperature not used",
            lambda scores, mask, temperature: softmax(scores, mask=mask),
            "Your weights are those of temperature 1, off by {number:.2f}. Where does the temperature enter?",
        ),
        Slip(
            "weights divided by the temperature",
            lambda scores, mask, temperature: softmax(scores, mask=mask) / temperature,
            "At temperature 2 one of your rows sums to {number:.2f}. What should the temperature divide?",
            _odd_row_sum,
        ),
        Slip(
            "weights raised to 1/T",
            lambda scores, mask, temperature: softmax(scores, mask=mask) ** (1 / temperature),
            "The right proportions, but one of your rows sums to {number:.2f}.",
            _odd_row_sum,
        ),
        Slip(
            "maximum of the undivided scores",
            lambda scores, mask, temperature: _quiet_shares(
                np.exp(
                    _hide(scores, mask) / temperature
                    - np.maximum(_hide(scores, mask).max(axis=-1, keepdims=True), -1e300)
                )
            ),
            "Right, except for scores near 1000 at temperature 0.1: {number} nan. What is the largest exponent there?",
            _count_nan,
        ),
        Slip(
            "nan where there is nothing to see",
            lambda scores, mask, temperature: _shares(_hide(scores, mask) / temperature),
            "Right, except for {number} nan in the row that may see nothing.",
            _count_nan,
        ),
        Slip(
            "mask not used",
            lambda scores, mask, temperature: softmax(scores, temperature=temperature),
            "Right without a mask; with one, a hidden key still has a weight of {number:.2f}.",
            _hidden_weight,
        ),
    ],
)


# 05, the weighted sum

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


# 06, the matrix form

_rng6 = np.random.default_rng(6)
_ROW = [
    tuple(_rng6.normal(size=shape) for shape in shapes)
    for shapes in (
        [(3, 3, 3), (3, 3), (3, 3), (3, 5)],  # as long as wide: here K.T runs on the stack
        [(2, 5, 4), (4, 2), (4, 2), (4, 3)],
    )
]
_COLUMN = [tuple(_rng6.normal(size=shape) for shape in ((4, 5), (3, 4), (3, 4), (2, 4)))]


def _row_form(X, W_q, W_k, W_v, *, turn=lambda K: K.swapaxes(-1, -2), axis=-1, root=True):
    alpha = X @ W_q @ turn(X @ W_k)
    powers = np.exp(alpha / np.sqrt(W_q.shape[1]) if root else alpha)
    return powers / powers.sum(axis=axis, keepdims=True) @ (X @ W_v)


def _columns_of(output, *, root=False):
    """The column form with its last step, B from V and A, written by output(V, A)."""

    def form(I, W_q, W_k, W_v):
        A = (W_k @ I).T @ (W_q @ I)
        return output(W_v @ I, A / np.sqrt(len(W_q)) if root else A)

    return form


EXERCISES["06-row-form"] = Exercise(
    reference=lambda X, W_q, W_k, W_v: self_attention(X, W_q, W_k, W_v).output,
    probes=_ROW,
    slips=[
        Slip(
            "K.T on a stack",
            lambda *inputs: _row_form(*inputs, turn=lambda K: K.T),
            "On a stack of sequences .T turns over all axes: it runs only where all sizes are equal, "
            "and is off by {number:.2f} there. Turn over the last two axes alone.",
        ),
        Slip(
            "softmax down the columns",
            lambda *inputs: _row_form(*inputs, axis=-2),
            "Your shares sum to 1 down the columns, off by {number:.2f} in the output. "
            "A row is what one query gives: along which axis do its keys lie?",
        ),
        Slip(
            "softmax across the stack",
            lambda *inputs: _row_form(*inputs, axis=0),
            "Your shares sum to 1 from sentence to sentence, off by {number:.2f} in the output: axis 0 of a stack "
            "is the sentences. Count the axes from the end.",
        ),
        Slip(
            "scaled by the root of d",
            lambda X, W_q, *W: _row_form(X, W_q * np.sqrt(len(W_q[0]) / len(W_q)), *W),
            "You divide by the root of all features of a token, off by {number:.2f}. How many terms has a score?",
        ),
        Slip(
            "not scaled",
            lambda *inputs: _row_form(*inputs, root=False),
            "The scores are not divided: the output is off by {number:.2f}. What did notebook 03 divide them by?",
        ),
        Slip(
            "no softmax",
            lambda X, W_q, W_k, W_v: scores(X @ W_q, X @ W_k) @ (X @ W_v),
            "You mix with the scores themselves, off by {number:.2f}. Scores become shares first.",
        ),
        Slip(
            "queries and keys exchanged",
            lambda X, W_q, W_k, W_v: _row_form(X, W_k, W_q, W_v),
            "You ask with keys and answer with queries: the output is off by {number:.2f}.",
        ),
        Slip(
            "the weights only",
            lambda X, W_q, W_k, W_v: self_attention(X, W_q, W_k, W_v).weights,
            "These are the weights, {number} in a row, one a token. The last product is missing.",
            lambda got, want, *inputs: got.shape[-1],
        ),
    ],
)

EXERCISES["06-column-form"] = Exercise(
    reference=lambda I, W_q, W_k, W_v: self_attention_columns(I, W_q, W_k, W_v).output,
    probes=_COLUMN,
    slips=[
        Slip(
            "softmax along the rows",
            _columns_of(lambda V, A: V @ softmax(A)),
            "Your softmax runs along the rows of A, off by {number:.2f}. "
            "Here a token is a column: whose scores stand in one column?",
        ),
        Slip(
            "A' turned over",
            _columns_of(lambda V, A: V @ softmax(A.T)),
            "The shares are right, but they stand in rows, and V meets the wrong ones: off by {number:.2f}. "
            "Which way must alpha_i lie for V A' to mix values with it?",
        ),
        Slip(
            "A = Q^T K",
            lambda I, W_q, W_k, W_v: self_attention_columns(I, W_k, W_q, W_v).output,
            "Your A is Q^T K, the queries run down it: off by {number:.2f} in B. "
            "A column of A belongs to one query: what must stand on the left?",
        ),
        Slip(
            "scaled",
            _columns_of(lambda V, A: V @ softmax(A.T).T, root=True),
            "You divide by the root of d_k. The article does not: off by {number:.2f}.",
        ),
        Slip(
            "tokens as rows",
            lambda I, W_q, W_k, W_v: self_attention_columns(I, W_q, W_k, W_v).output.T,
            "Right numbers, turned over: you have {number} rows, one a token. In this form b_i is a column.",
            lambda got, want, *inputs: len(got),
        ),
        Slip(
            "no softmax",
            _columns_of(lambda V, A: V @ A),
            "You mix with the scores themselves, off by {number:.2f}. A' is what becomes of A.",
        ),
    ],
)

EXERCISES["06-positions"] = Exercise(
    reference=positions,
    probes=[(5, 6), (3, 4), (7, 2)],
    slips=[
        Slip(
            "sines first, then cosines",
            lambda n, d: np.concatenate([positions(n, d)[:, ::2], positions(n, d)[:, 1::2]], axis=1),
            "All sines stand before all cosines, off by {number:.2f}. "
            "A sine and the cosine of the same angle are neighbours.",
        ),
        Slip(
            "cosine before sine",
            lambda n, d: positions(n, d).reshape(n, -1, 2)[:, :, ::-1].reshape(n, d),
            "Place 0 begins with {number:.0f}: in your pairs the cosine comes first.",
            lambda got, want, n, d: got[0, 0],
        ),
        Slip(
            "places counted from 1",
            lambda n, d: positions(n + 1, d)[1:],
            "Your first row starts with sin(1) = {number:.2f}. The first place is 0.",
            lambda got, want, n, d: got[0, 0],
        ),
        Slip(
            "exponent without the 2",
            lambda n, d: positions(n, d, base=100.0),
            "Your pairs slow down too little, off by {number:.2f}: look at the exponent, 2i/d for pair i.",
        ),
        Slip(
            "places along the columns",
            lambda n, d: positions(n, d).T,
            "You have {number} rows: places run down, features run across.",
            lambda got, want, n, d: len(got),
        ),
        Slip(
            "the same angle for every pair",
            lambda n, d: positions(n, d, base=1.0),
            "Every pair turns equally fast, off by {number:.2f}: each must be slower than the one before.",
        ),
    ],
)


# 07, several heads

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
