"""Several heads: several questions at once, each with its own softmax.

Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.
"""

import numpy as np

from course_lib import inputs
from course_lib.attention import Attention, project, scores, softmax, weighted_sum


def split_heads(X, n_heads):
    """Cut the features of each token into n_heads equal slices.  (..., n, h*d) -> (..., h, n, d)

    ValueError where the features do not divide by n_heads.

    >>> split_heads([[1, 2, 3, 4], [5, 6, 7, 8]], 2).tolist()
    [[[1.0, 2.0], [5.0, 6.0]], [[3.0, 4.0], [7.0, 8.0]]]
    """
    X, h = inputs.features_and_heads(X, n_heads)
    slices = X.reshape(*X.shape[:-1], h, X.shape[-1] // h)  # (..., n, h, d): a token's features stay together
    return slices.swapaxes(-2, -3)


def merge_heads(X):
    """Lay the heads of each token side by side again: undoes split_heads.  (..., h, n, d) -> (..., n, h*d)

    >>> merge_heads([[[1, 2], [5, 6]], [[3, 4], [7, 8]]]).tolist()
    [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]
    """
    tokens = inputs.numbers("X", X, axes=3).swapaxes(-2, -3)  # (..., n, h, d)
    *front, h, d = tokens.shape
    return tokens.reshape(*front, h * d)


def multi_head_attention(X, W_q, W_k, W_v, W_o, n_heads, *, mask=None, scaled=True):
    """Self-attention with n_heads heads; the outputs are laid side by side and mixed by W_o.

    X (..., n, d), W_q and W_k (d, h*d_k), W_v (d, h*d_v), W_o (h*d_v, d_out), mask booleans that broadcast
    to (..., n, n), the same for every head, True = may be looked at; scaled divides by sqrt(d_k) of one head
    ->  Attention: Q, K (..., h, n, d_k), V (..., h, n, d_v), scores and weights (..., h, n, n),
        output (..., n, d_out)
    ValueError as in project, split_heads and softmax, and where W_o does not take the merged heads.

    >>> X, W = np.ones((4, 3)), np.ones((3, 6))
    >>> found = multi_head_attention(X, W, W, W, np.ones((6, 5)), n_heads=2)
    >>> found.Q.shape, found.weights.shape, found.output.shape
    ((2, 4, 3), (2, 4, 4), (4, 5))
    """
    Q, K, V = (split_heads(each, n_heads) for each in project(X, W_q, W_k, W_v))  # (..., h, n, d_k or d_v)
    alpha = scores(Q, K, scaled=scaled)  # (..., h, n, n)
    if mask is not None:
        *front, _, n, _ = alpha.shape
        mask = inputs.checked_mask(mask, (*front, n, n))[..., None, :, :]  # (..., 1, n, n)
    weights = softmax(alpha, mask=mask)  # (..., h, n, n)
    merged = merge_heads(weighted_sum(weights, V))  # (..., n, h*d_v)
    return Attention(Q, K, V, alpha, weights, merged @ inputs.output_matrix(W_o, merged))


# The article's ways to make one score of several, before the softmax.


def add_scores(alphas):
    """The article's plain merge: the heads' scores added up.  (..., h, n, n) -> (..., n, n)

    >>> add_scores([[[1, 2]], [[10, 20]]]).tolist()
    [[11.0, 22.0]]
    """
    return inputs.numbers("alphas", alphas, axes=3).sum(axis=-3)


def mix_scores(alphas, mix):
    """The article's other merge: for each pair of tokens its h scores, transformed to one by `mix` (h,).

    (..., h, n, n) -> (..., n, n).  ValueError where mix has not one number per head.

    >>> mix_scores([[[1, 2]], [[10, 20]]], [1, -1]).tolist()
    [[-9.0, -18.0]]
    """
    alphas, mix = inputs.scores_and_mix(alphas, mix)
    return np.tensordot(mix, alphas, axes=(0, -3))
