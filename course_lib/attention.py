"""Self-attention with one head, as the papers write it: a token is a row.

Shapes: n tokens with d features each; queries and keys have d_k features, values d_v.
Arrays are (..., n, d): axes in front of the last two are a batch, and nothing crosses them.
Numbers have no unit. Integers become float64, float32 stays float32, inputs are never changed.
Anything that is not a real, finite number, or does not fit, raises a ValueError that says what and why.
A product too large for its floats becomes inf, with NumPy's warning, and the next function refuses it.

Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.
"""

import math
from typing import NamedTuple

import numpy as np

from course_lib import inputs


class Attention(NamedTuple):
    """Every stage of attention, in the order in which it is computed."""

    Q: np.ndarray  # (..., n_q, d_k)  what each token looks for
    K: np.ndarray  # (..., n_k, d_k)  what each token is found by
    V: np.ndarray  # (..., n_k, d_v)  what each token gives
    scores: np.ndarray  # (..., n_q, n_k)  alpha
    weights: np.ndarray  # (..., n_q, n_k)  alpha'
    output: np.ndarray  # (..., n_q, d_v)  b


def project(X, W_q, W_k, W_v):
    """Queries, keys and values of the tokens X: three matrix products.

    X (..., n, d), W_q and W_k (d, d_k), W_v (d, d_v)  ->  Q, K (..., n, d_k) and V (..., n, d_v)
    ValueError where a matrix does not take d features or W_q and W_k disagree on d_k.

    >>> Q, K, V = project([[1, 2]], W_q=[[1], [0]], W_k=[[0], [1]], W_v=[[3], [4]])
    >>> Q.tolist(), K.tolist(), V.tolist()
    ([[1.0]], [[2.0]], [[11.0]])
    """
    X, W_q, W_k, W_v = inputs.tokens_and_matrices(X, W_q, W_k, W_v)
    return X @ W_q, X @ W_k, X @ W_v


def scores(Q, K, *, scaled=True):
    """alpha: the dot product of every query with every key, divided by sqrt(d_k) unless scaled=False.

    Q (..., n_q, d_k), K (..., n_k, d_k)  ->  (..., n_q, n_k)
    ValueError where d_k or the leading axes disagree.

    >>> scores([[1, 2, 0, 0]], [[3, 4, 0, 0], [0, 1, 5, 5]]).tolist()
    [[5.5, 1.0]]
    """
    Q, K = inputs.queries_and_keys(Q, K)
    alpha = Q @ K.swapaxes(-1, -2)  # not K.T, which would reverse the batch axes too
    if scaled:
        alpha /= math.sqrt(Q.shape[-1])
    return alpha


def softmax(alpha, *, mask=None, temperature=1.0):
    """alpha': shares that sum to 1 along the last axis, the keys: exp(alpha) / sum of exp(alpha).

    alpha (..., n_k), a score of -inf counts as hidden; mask: booleans that broadcast to alpha,
    True = may be looked at; temperature > 0 divides the scores.  ->  same shape as alpha
    Hidden keys get 0. A row in which nothing may be looked at gets 0 everywhere, never nan.
    ValueError for a mask that is not boolean or does not fit, and for a temperature that is not > 0.

    >>> softmax([[0, 1000, 1000]], mask=[True, True, False]).tolist()
    [[0.0, 1.0, 0.0]]
    """
    alpha, mask, temperature = inputs.scores_and_mask(alpha, mask, temperature)
    if mask is not None:
        alpha = np.where(mask, alpha, alpha.dtype.type(-np.inf))  # exp(-inf) is 0
    largest = alpha.max(axis=-1, keepdims=True, initial=-np.inf)
    largest[largest == -np.inf] = 0  # a row with nothing to see
    with np.errstate(over="ignore", under="ignore"):  # far below the largest is 0, on purpose
        powers = alpha - largest  # at most 0, so that exp is at most 1: nothing becomes inf
        powers /= temperature
        np.exp(powers, out=powers)
        total = powers.sum(axis=-1, keepdims=True)
        total[total == 0] = 1  # again: 0 / 1, not 0 / 0
        powers /= total
    return powers


def weighted_sum(weights, V):
    """b: each output is a mix of the values, b_i = sum over j of weights[i, j] * V[j].

    weights (..., n_q, n_k), V (..., n_k, d_v)  ->  (..., n_q, d_v)
    ValueError where the number of weights in a row is not the number of values.

    >>> weighted_sum([[0.25, 0.75]], [[4, 0], [0, 8]]).tolist()
    [[1.0, 6.0]]
    """
    weights, V = inputs.weights_and_values(weights, V)
    with np.errstate(under="ignore"):  # a tiny weight may give 0
        return weights @ V


def self_attention(X, W_q, W_k, W_v, *, mask=None, scaled=True, normalize=softmax):
    """One head of self-attention, every stage of it.

    X (..., n, d), W_q and W_k (d, d_k), W_v (d, d_v), mask as in softmax  ->  Attention
    normalize turns scores into weights; it is called with mask= only where a mask is given.
    ValueError as in project and softmax.

    >>> self_attention([[1, 2], [1, 2]], [[1], [0]], [[0], [1]], [[3], [4]]).output.tolist()
    [[11.0], [11.0]]
    """
    Q, K, V = project(X, W_q, W_k, W_v)  # (..., n, d_k), (..., n, d_k), (..., n, d_v)
    alpha = scores(Q, K, scaled=scaled)  # (..., n, n)
    weights = normalize(alpha) if mask is None else normalize(alpha, mask=mask)  # (..., n, n)
    output = weighted_sum(weights, V)  # (..., n, d_v)
    return Attention(Q, K, V, alpha, weights, output)


def self_attention_columns(I, W_q, W_k, W_v, *, scaled=False):
    """The same head in the article's form: a token is a column, q = W_q a, B = V A'.

    I (d, n), W_q and W_k (d_k, d), W_v (d_v, d)
    ->  Attention with Q, K (d_k, n), V (d_v, n), scores A = K^T Q and weights A' (n_k, n_q), output (d_v, n)
    Not divided by sqrt(d_k) unless scaled=True: the article leaves the root out, self_attention does not.
    ValueError where a matrix does not take d features or W_q and W_k disagree on d_k.
    Source: the article's matrix form, read with the alpha_i as the columns of A.

    >>> self_attention_columns([[1, 1], [2, 2]], [[1, 0]], [[0, 1]], [[3, 4]]).output.tolist()
    [[11.0, 11.0]]
    """
    I, W_q, W_k, W_v = inputs.columns_and_matrices(I, W_q, W_k, W_v)
    Q, K, V = W_q @ I, W_k @ I, W_v @ I  # (d_k, n), (d_k, n), (d_v, n)
    alpha = K.T @ Q  # (n_k, n_q)  alpha[j, i] = k_j . q_i: column i holds alpha_i
    if scaled:
        alpha /= math.sqrt(len(Q))
    weights = softmax(alpha.T).T  # (n_k, n_q)  down each column
    with np.errstate(under="ignore"):
        output = V @ weights  # (d_v, n_q)
    return Attention(Q, K, V, alpha, weights, output)


def causal_mask(n):
    """Token i may look at itself and at what came before.  ->  booleans (n, n), True = may be looked at.

    >>> causal_mask(2).tolist()
    [[True, False], [True, True]]
    """
    places = np.arange(inputs.whole("n", n))
    return places <= places[:, None]


def padding_mask(lengths, n):
    """The first `length` keys of each sequence may be looked at, the padding after them not.

    lengths (...) whole numbers from 0 to n  ->  booleans (..., 1, n), the same for every query
    ValueError for a length that is not a whole number or does not fit into n.

    >>> padding_mask([1, 3], 3).tolist()
    [[[True, False, False]], [[True, True, True]]]
    """
    lengths, n = inputs.lengths_within(lengths, n)
    return np.arange(n) < lengths[..., None, None]
