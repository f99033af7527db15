"""The exercises of notebook 06: the matrix form."""

import numpy as np

from course_lib.attention import project, self_attention, self_attention_columns, softmax
from course_lib.exercises import exercise
from course_lib.exercises.exercise import Exercise, arrays, attend, fixed, front, heads, shares, sizes, slips
from course_lib.sequence import positions

EXERCISES = {}


def _draw_rows(rng):
    n, d, d_k, d_v = sizes(rng, 4)
    return arrays(rng, (*front(rng), n, d), (d, d_k), (d, d_k), (d, d_v))


def _rows(X, W_q, W_k, W_v, **parts):
    return attend(*project(X, W_q, W_k, W_v), **parts)[-1]


EXERCISES["06-row-form"] = Exercise(
    reference=lambda X, W_q, W_k, W_v: self_attention(X, W_q, W_k, W_v).output,
    probes=[
        fixed(0, (4, 2), (2, 3), (2, 3), (2, 5)),
        fixed(1, (2, 3, 1), (1, 4), (1, 4), (1, 5)),
        fixed(2, (2, 2, 3), (3, 2), (3, 2), (3, 1)),  # as long as wide and as many: here K.T runs
    ],
    draw=_draw_rows,
    slips=heads(_rows)
    + slips(
        "stack made one sentence: Right without a stack; in one, sentences see each other: off by {off:.2f}.",
        lambda X, *W: _rows(X.reshape(-1, X.shape[-1]), *W).reshape(*X.shape[:-1], -1),
        "stack flattened: Right without a stack; in one you have {axes} axes: all sentences become one.",
        lambda X, *W: _rows(X.reshape(-1, X.shape[-1]), *W),
        "root of n on a stack: Right without a stack; in one, axis 1 counts tokens: off by {off:.2f}.",
        lambda X, *W: _rows(X, *W, divide=lambda d_k: np.sqrt((X @ W[0]).shape[1])),
        "root of the length: `len` counts the first axis: off by {off:.2f}. How many terms has a score?",
        lambda X, *W: _rows(X, *W, divide=lambda d_k: np.sqrt(len(X))),
        "divided after the softmax: You divide shares, not scores: off by {off:.2f}. What do yours sum to?",
        lambda *call: _rows(*call, divide=lambda d_k: 1) / np.sqrt(call[1].shape[1]),
        "K.T on a stack: .T turns over all axes: where sizes are equal that runs, off by {off:.2f}.",
        lambda *call: _rows(*call, turn=lambda K: K.T),
        "softmax down the columns: Your columns sum to 1: off by {off:.2f}. Where are one query's keys?",
        lambda *call: _rows(*call, weigh=lambda alpha: shares(alpha, axis=-2)),
        "softmax over axis 1: Right for one sentence; in a stack axis 1 is not the keys: off by {off:.2f}.",
        lambda *call: _rows(*call, weigh=lambda alpha: shares(alpha, axis=1)),
        "weights transposed: You mix the values with a column of the weights: off by {off:.2f}.",
        lambda *call: _rows(*call, take=lambda weights: weights.swapaxes(-1, -2)),
        "mixes keys: Your rows have {columns} numbers, as keys have. What is it that a token gives?",
        lambda X, W_q, W_k, W_v: _rows(X, W_q, W_k, W_k),
        "mixes the tokens themselves: Your rows have {columns} numbers, as tokens have. What do they give?",
        lambda X, W_q, W_k, W_v: _rows(X, W_q, W_k, np.eye(len(W_v))),
        "the weights only: These are the weights, {columns} in a row. The last product is missing.",
        lambda *call: self_attention(*call).weights,
    ),
)


def _draw_columns(rng):
    n, d, d_k, d_v = sizes(rng, 4)
    return arrays(rng, (d, n), (d_k, d), (d_k, d), (d_v, d))


def _columns(I, W_q, W_k, W_v, weigh):  # B = V A′, where weigh makes A′ of A
    return W_v @ I @ weigh((W_k @ I).T @ (W_q @ I))


EXERCISES["06-column-form"] = Exercise(
    reference=lambda I, W_q, W_k, W_v: self_attention_columns(I, W_q, W_k, W_v).output,
    probes=[fixed(seed, (4, 3), (2, 4), (2, 4), (5, 4)) for seed in (0, 1)],
    draw=_draw_columns,
    slips=exercise.parts(_columns, "weigh", exercise.UNSHARED)
    + slips(
        "softmax along the rows: Your rows sum to 1: off by {off:.2f}. Whose scores stand in one column?",
        lambda *call: _columns(*call, softmax),
        "A′ turned over: The shares are right, but lie in rows: off by {off:.2f}. What does V meet?",
        lambda *call: _columns(*call, lambda A: softmax(A.T)),
        "A = Qᵀ K: The queries run down your A: off by {off:.2f}. A column belongs to one query.",
        lambda I, W_q, W_k, W_v: self_attention_columns(I, W_k, W_q, W_v).output,
        "scaled: You divide by the root of d_k. The article does not: off by {off:.2f}.",
        lambda *call: self_attention_columns(*call, scaled=True).output,
        "tokens as rows: Right, but turned over: {count} rows, one per token. Here b_i is a column.",
        lambda *call: self_attention_columns(*call).output.T,
        "the weights only: This is A′, one number for each pair: {count} rows. The last product is missing.",
        lambda *call: self_attention_columns(*call).weights,
        "mixes the tokens themselves: Your B has {count} rows, as tokens have numbers. What do they give?",
        lambda I, W_q, W_k, W_v: _columns(I, W_q, W_k, np.eye(len(I)), lambda A: shares(A, axis=0)),
        "mixes keys: Your B is a mix of the keys: it has {count} rows. What does a token give?",
        lambda I, W_q, W_k, W_v: self_attention_columns(I, W_q, W_k, W_k).output,
    ),
)


def _draw_positions(rng):
    n = int(rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 30, 600]))
    return n, 2 * int(rng.choice([1, 2, 3, 4, 5] if n > 8 else [1, 2, 3, 4, 5, 8, 16, 32, 256]))


def _hands(angles):  # sines in the columns 0, 2, ..., cosines in the others
    return np.where(np.arange(angles.shape[1]) % 2, np.cos(angles), np.sin(angles))


def _waves(n, d, power):  # angles: p * 10000 ** (power(c) / d) in column c
    return _hands(np.arange(n)[:, None] * 10000 ** (power(np.arange(d)) / d))


_POWERS = {
    "exponent without the 2: Your pairs slow down too little: off by {off:.2f}.": lambda c: -(c // 2),
    "exponent doubled: Your pairs slow down too much: off by {off:.2f}.": lambda c: c // 2 * -4,
    "multiplied: Each hand of yours is faster than the one before: off by {off:.2f}.": lambda c: c // 2 * 2,
    "an angle for every column: Off by {off:.2f}: a sine and its cosine share one angle.": lambda c: -c,
    "column number taken for i: Off by {off:.2f}: i counts pairs, not columns.": lambda c: -2 * c,
    "pairs counted from 1: Off by {off:.2f}: the first hand is too slow.": lambda c: c // 2 * -2 - 2,
}


EXERCISES["06-positions"] = Exercise(
    reference=positions,
    probes=[(3, 4), (2, 6), (5, 2)],
    draw=_draw_positions,
    slips=exercise.parts(_waves, "power", _POWERS)
    + slips(
        "sines first, then cosines: All sines stand before all cosines: off by {off:.2f}.",
        lambda n, d: np.concatenate([positions(n, d)[:, ::2], positions(n, d)[:, 1::2]], axis=1),
        "cosine before sine: Place 0 begins with {first:.0f}: in your pairs the cosine comes first.",
        lambda n, d: positions(n, d).reshape(n, -1, 2)[:, :, ::-1].reshape(n, d),
        "places counted from 1: Your first row starts with sin(1) = {first:.2f}. The first place is 0.",
        lambda n, d: positions(n + 1, d)[1:],
        "brackets of the exponent missing: Python reads 9 ** 4 / 2 as (9 ** 4) / 2: off by {off:.2f}.",
        lambda n, d: _hands(np.arange(n)[:, None] * d / 10000.0 ** (np.arange(d) // 2 * 2)),
        "brackets missing: Python reads 9 ** 2 * 3 as (9 ** 2) * 3: you divide by 0, {nans} numbers are nan.",
        lambda n, d: _hands(np.arange(n)[:, None] / (10000**2 * (np.arange(d) // 2) / d)),
        "all brackets missing: Python goes from left to right, 8 / 4 / 2 is 1: off by {off:.2f}.",
        lambda n, d: _hands(np.arange(n)[:, None] / 10000**2 * (np.arange(d) // 2) / d),
    ),
)
