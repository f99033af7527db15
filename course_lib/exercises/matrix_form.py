"""The exercises of notebook 06: the matrix form."""

import numpy as np

from course_lib.attention import scores, self_attention, self_attention_columns, softmax
from course_lib.exercises.exercise import Exercise, Slip
from course_lib.sequence import positions

EXERCISES = {}

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
