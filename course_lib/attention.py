"""Self-attention with one head, as the papers write it: a token is a row.

Shapes: n tokens with d features each; queries and keys have d_k features, values d_v.
Arrays are (..., n, d): axes in front of the last two are a batch, and nothing crosses them.
Numbers have no unit. Integers become float64, float32 stays float32, inputs are never changed.
Anything that is not a real, finite number, or does not fit, raises a ValueError that says what and why.

Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.
"""

import math
from typing import NamedTuple

import numpy as np


class Attention(NamedTuple):
    """Every stage of attention, in the order in which it is computed."""

    Q: np.ndarray  # (..., n_q, d_k)  what each token looks for
    K: np.ndarray  # (..., n_k, d_k)  what each token is found by
    V: np.ndarray  # (..., n_k, d_v)  what each token gives
    scores: np.ndarray  # (..., n_q, n_k)  alpha
    weights: np.ndarray  # (..., n_q, n_k)  alpha', each row sums to 1
    output: np.ndarray  # (..., n_q, d_v)  b


def project(X, W_q, W_k, W_v):
    """Queries, keys and values of the tokens X: three matrix products.

    X (..., n, d), W_q and W_k (d, d_k), W_v (d, d_v)  ->  Q, K (..., n, d_k) and V (..., n, d_v)
    ValueError where a matrix does not take d features or W_q and W_k disagree on d_k.
    """
    X = numbers("X", X)
    W_q, W_k, W_v = numbers("W_q", W_q), numbers("W_k", W_k), numbers("W_v", W_v)
    for name, W in (("W_q", W_q), ("W_k", W_k), ("W_v", W_v)):
        if W.ndim != 2:
            raise ValueError(f"{name} must be one matrix (d, d_k): it has shape {W.shape}")
        if X.shape[-1] != W.shape[0]:
            raise ValueError(
                f"X has {X.shape[-1]} features but {name} takes {W.shape[0]}: {X.shape} @ {W.shape}"
            )
    if W_q.shape != W_k.shape:
        raise ValueError(
            f"queries and keys need the same d_k, but W_q makes {W_q.shape[1]} features "
            f"and W_k {W_k.shape[1]}: {W_q.shape} and {W_k.shape}"
        )
    return X @ W_q, X @ W_k, X @ W_v


def scores(Q, K, *, scaled=True):
    """Dot product of every query with every key, divided by sqrt(d_k) unless scaled=False.

    Q (..., n_q, d_k), K (..., n_k, d_k)  ->  (..., n_q, n_k)
    ValueError where d_k or the leading axes disagree.
    """
    Q, K = numbers("Q", Q), numbers("K", K)
    d_k = Q.shape[-1]
    if K.shape[-1] != d_k or d_k == 0:
        raise ValueError(
            f"Q has {d_k} features and K has {K.shape[-1]}, they need the same d_k >= 1: "
            f"{Q.shape} and {K.shape}"
        )
    same_batch("Q", Q, "K", K)
    products = Q @ K.swapaxes(-1, -2)  # not K.T, which would reverse the batch axes too
    return products / math.sqrt(d_k) if scaled else products


def softmax(scores, *, mask=None, temperature=1.0):
    """Positive shares that sum to 1 along the last axis, the keys: exp(s) / sum of exp(s).

    scores (..., n_k), a score of -inf counts as hidden; mask: booleans that broadcast to scores,
    True = may be looked at; temperature > 0 divides the scores.  ->  same shape as scores
    A row in which nothing may be looked at gets weights 0, never nan.
    ValueError for a mask that is not boolean or does not fit, and for a temperature that is not > 0.
    """
    scores = numbers("scores", scores, axes=1, minus_inf=True)
    if not (np.ndim(temperature) == 0 and 0 < temperature < math.inf):
        raise ValueError(f"temperature must be one number above 0, not {temperature!r}")
    if mask is not None:
        scores = np.where(checked_mask(mask, scores.shape), scores, -np.inf).astype(scores.dtype)
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = np.where(largest == -np.inf, 0, largest)  # a row with nothing to see
    powers = np.exp((scores - largest) / float(temperature))  # at most 1: nothing overflows
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def weighted_sum(weights, V):
    """Each output is a mix of the values: b_i = sum over j of weights[i, j] * V[j].

    weights (..., n_q, n_k), V (..., n_k, d_v)  ->  (..., n_q, d_v)
    ValueError where the number of weights in a row is not the number of values.
    """
    weights, V = numbers("weights", weights), numbers("V", V)
    if weights.shape[-1] != V.shape[-2]:
        raise ValueError(
            f"a row has {weights.shape[-1]} weights but V has {V.shape[-2]} values: "
            f"{weights.shape} @ {V.shape}"
        )
    same_batch("weights", weights, "V", V)
    return weights @ V


def self_attention(X, W_q, W_k, W_v, *, mask=None, scaled=True, normalize=softmax):
    """One head of self-attention, every stage of it.

    X (..., n, d), W_q and W_k (d, d_k), W_v (d, d_v), mask as in softmax  ->  Attention
    normalize turns scores into weights; it is called with mask= only where a mask is given.
    ValueError as in project and softmax.
    """
    Q, K, V = project(X, W_q, W_k, W_v)
    alpha = scores(Q, K, scaled=scaled)
    weights = normalize(alpha) if mask is None else normalize(alpha, mask=mask)
    return Attention(Q, K, V, alpha, weights, weighted_sum(weights, V))


def self_attention_columns(I, W_q, W_k, W_v, *, scaled=False):
    """The same head in the article's form: a token is a column, q = W_q a, B = V A'.

    I (d, n), W_q and W_k (d_k, d), W_v (d_v, d)
    ->  Attention with Q, K (d_k, n), V (d_v, n), scores A = K^T Q and weights A' (n_k, n_q),
        softmax down each column, output B (d_v, n)
    ValueError where a matrix does not take d features or W_q and W_k disagree on d_k.
    Source: the article's matrix form, read with the alpha_i as the columns of A.
    """
    I = numbers("I", I)
    W_q, W_k, W_v = numbers("W_q", W_q), numbers("W_k", W_k), numbers("W_v", W_v)
    for name, W in (("W_q", W_q), ("W_k", W_k), ("W_v", W_v)):
        if W.ndim != 2 or I.ndim != 2 or W.shape[1] != I.shape[0]:
            raise ValueError(
                f"{name} must take the {I.shape[0]} features of a column of I: {W.shape} @ {I.shape}"
            )
    if W_q.shape != W_k.shape:
        raise ValueError(f"queries and keys need the same d_k: W_q is {W_q.shape}, W_k is {W_k.shape}")
    Q, K, V = W_q @ I, W_k @ I, W_v @ I
    A = K.T @ Q  # A[j, i] = k_j . q_i: column i holds alpha_i
    if scaled:
        A = A / math.sqrt(Q.shape[0])
    weights = softmax(A.T).T  # down each column
    return Attention(Q, K, V, A, weights, V @ weights)


def causal_mask(n):
    """Token i may look at itself and at what came before.  ->  booleans (n, n), True = may be looked at."""
    return np.tri(whole("n", n), dtype=bool)


def padding_mask(lengths, n):
    """The first `length` keys of each sequence may be looked at, the padding after them not.

    lengths (...) whole numbers from 0 to n  ->  booleans (..., 1, n), the same for every query
    ValueError for a length that is not a whole number or does not fit into n.
    """
    lengths, n = np.asarray(lengths), whole("n", n)
    if lengths.dtype.kind not in "iu" or (lengths < 0).any() or (lengths > n).any():
        raise ValueError(f"lengths must be whole numbers from 0 to n = {n}, not {lengths.tolist()}")
    return np.arange(n) < lengths[..., None, None]


# What every function here asks of its input.


def numbers(name, values, *, axes=2, minus_inf=False):
    """`values` as a float array of at least `axes` axes, or a ValueError that names the cause."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, not {array.dtype}: shape {array.shape}")
    if array.ndim < axes:
        raise ValueError(f"{name} needs {axes} axes or more: it has shape {array.shape}")
    if array.dtype.kind != "f":
        array = array.astype(float)
    wrong = ~np.isfinite(array) & ~(minus_inf & (array == -np.inf))
    if wrong.any():
        place = tuple(map(int, np.argwhere(wrong)[0]))
        raise ValueError(
            f"{name}{list(place)} is {array[place]}: every number must be finite, "
            f"in an array of shape {array.shape}"
        )
    return array


def same_batch(left_name, left, right_name, right):
    """ValueError unless the axes in front of the last two fit together."""
    try:
        np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise ValueError(
            f"the leading axes of {left_name} and {right_name} do not fit: {left.shape} and {right.shape}"
        ) from None


def checked_mask(mask, shape):
    """`mask` as booleans of the given shape, or a ValueError."""
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise ValueError(f"mask must be boolean, True = may be looked at, not {mask.dtype}: {mask.shape}")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"the mask does not fit the scores: {mask.shape} and {shape}") from None


def whole(name, value):
    """`value` as an int that is at least 0, or a ValueError."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{name} must be a whole number from 0 up, not {value!r}")
    return int(value)
