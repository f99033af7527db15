"""Several heads: several questions at once, each with its own softmax.

Source: Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.
"""

import numpy as np

from course_lib.attention import (
    Attention,
    checked_mask,
    numbers,
    project,
    scores,
    softmax,
    weighted_sum,
    whole,
)


def split_heads(X, n_heads):
    """Cut the features of each token into n_heads equal slices.  (..., n, h*d) -> (..., h, n, d)

    ValueError where the features do not divide by n_heads.
    """
    X = numbers("X", X)
    if whole("n_heads", n_heads) == 0 or X.shape[-1] % n_heads:
        raise ValueError(f"{X.shape[-1]} features do not divide into {n_heads} heads: {X.shape}")
    slices = X.reshape(*X.shape[:-1], n_heads, -1)  # (..., n, h, d): a token's features stay together
    return slices.swapaxes(-2, -3)


def merge_heads(X):
    """Lay the heads of each token side by side again: undoes split_heads.  (..., h, n, d) -> (..., n, h*d)"""
    X = numbers("X", X, axes=3)
    tokens = X.swapaxes(-2, -3)  # (..., n, h, d)
    return tokens.reshape(*tokens.shape[:-2], -1)


def multi_head_attention(X, W_q, W_k, W_v, W_o, n_heads, *, mask=None):
    """Self-attention with n_heads heads; the outputs are laid side by side and mixed by W_o.

    X (..., n, d), W_q and W_k (d, h*d_k), W_v (d, h*d_v), W_o (h*d_v, d_out), mask booleans that broadcast
    to (..., n, n), the same for every head, True = may be looked at
    ->  Attention: Q, K (..., h, n, d_k), V (..., h, n, d_v), scores and weights (..., h, n, n), output (..., n, d_out)
    ValueError as in project, split_heads and softmax, and where W_o does not take the merged heads.
    """
    Q, K, V = (split_heads(each, n_heads) for each in project(X, W_q, W_k, W_v))
    alpha = scores(Q, K)
    if mask is not None:
        mask = checked_mask(mask, alpha.shape[:-3] + alpha.shape[-2:])[..., None, :, :]
    weights = softmax(alpha, mask=mask)
    heads = merge_heads(weighted_sum(weights, V))  # (..., n, h*d_v)
    W_o = numbers("W_o", W_o)
    if W_o.ndim != 2 or W_o.shape[0] != heads.shape[-1]:
        raise ValueError(
            f"the merged heads have {heads.shape[-1]} features but W_o takes {W_o.shape[0]}: "
            f"{heads.shape} @ {W_o.shape}"
        )
    return Attention(Q, K, V, alpha, weights, heads @ W_o)


# The article's ways to make one score of several, before the softmax.


def add_scores(alphas):
    """The article's plain merge: the heads' scores added up.  (..., h, n, n) -> (..., n, n)"""
    return numbers("alphas", alphas, axes=3).sum(axis=-3)


def mix_scores(alphas, mix):
    """The article's other merge: for each pair of tokens its h scores, transformed to one by `mix` (h,).

    (..., h, n, n) -> (..., n, n).  ValueError where mix has not one number a head.
    """
    alphas, mix = numbers("alphas", alphas, axes=3), numbers("mix", mix, axes=1)
    if mix.shape != alphas.shape[-3:-2]:
        raise ValueError(
            f"mix needs one number for each of {alphas.shape[-3]} heads: {mix.shape} and {alphas.shape}"
        )
    return np.tensordot(mix, alphas, axes=(0, -3))
