"""What each function asks of its input: one check per function.

A check returns the input as arrays that fit together, or raises a ValueError that says what came and what was
expected. It never changes what it is given. Integers become float64, float32 stays float32.
"""

import numpy as np


def tokens_and_matrices(X, W_q, W_k, W_v):
    """For `project`: X (..., n, d), W_q and W_k (d, d_k), W_v (d, d_v)."""
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
    return X, W_q, W_k, W_v


def columns_and_matrices(I, W_q, W_k, W_v):
    """For `self_attention_columns`: I (d, n), W_q and W_k (d_k, d), W_v (d_v, d)."""
    I = numbers("I", I)
    W_q, W_k, W_v = numbers("W_q", W_q), numbers("W_k", W_k), numbers("W_v", W_v)
    for name, W in (("W_q", W_q), ("W_k", W_k), ("W_v", W_v)):
        if W.ndim != 2 or I.ndim != 2 or W.shape[1] != I.shape[0]:
            raise ValueError(
                f"{name} must take the {I.shape[0]} features of a column of I: {W.shape} @ {I.shape}"
            )
    if W_q.shape != W_k.shape or len(W_q) == 0:
        raise ValueError(f"queries and keys need the same d_k >= 1: W_q is {W_q.shape}, W_k is {W_k.shape}")
    return I, W_q, W_k, W_v


def queries_and_keys(Q, K):
    """For `scores`: Q (..., n_q, d_k), K (..., n_k, d_k)."""
    Q, K = numbers("Q", Q), numbers("K", K)
    if Q.shape[-1] != K.shape[-1] or Q.shape[-1] == 0:
        raise ValueError(
            f"Q has {Q.shape[-1]} features and K has {K.shape[-1]}, they need the same d_k >= 1: "
            f"{Q.shape} and {K.shape}"
        )
    same_batch("Q", Q, "K", K)
    return Q, K


def scores_and_mask(alpha, mask, temperature):
    """For `softmax`: alpha (..., n_k), -inf allowed; mask None or made as large; temperature above 0."""
    alpha = numbers("scores", alpha, axes=1, minus_inf=True)
    mask = None if mask is None else checked_mask(mask, alpha.shape)
    return alpha, mask, above_zero("temperature", temperature, alpha.dtype)


def weights_and_values(weights, V):
    """For `weighted_sum`: weights (..., n_q, n_k), V (..., n_k, d_v)."""
    weights, V = numbers("weights", weights), numbers("V", V)
    if weights.shape[-1] != V.shape[-2]:
        raise ValueError(
            f"a row has {weights.shape[-1]} weights but V has {V.shape[-2]} values: "
            f"{weights.shape} @ {V.shape}"
        )
    same_batch("weights", weights, "V", V)
    return weights, V


def lengths_within(lengths, n):
    """For `padding_mask`: whole numbers from 0 to n."""
    lengths, n = plain("lengths", lengths), whole("n", n)
    if lengths.dtype.kind not in "iu" or (lengths < 0).any() or (lengths > n).any():
        raise ValueError(f"lengths must be whole numbers from 0 to n = {n}, not {lengths.tolist()}")
    return lengths, n


def features_and_heads(X, n_heads):
    """For `split_heads`: X (..., n, h*d), n_heads = h."""
    X, n_heads = numbers("X", X), whole("n_heads", n_heads)
    if n_heads == 0 or X.shape[-1] % n_heads:
        raise ValueError(f"{X.shape[-1]} features do not divide into {n_heads} heads: {X.shape}")
    return X, n_heads


def output_matrix(W_o, merged):
    """For `multi_head_attention`: merged heads (..., n, h*d_v), W_o (h*d_v, d_out)."""
    W_o = numbers("W_o", W_o)
    if W_o.ndim != 2 or W_o.shape[0] != merged.shape[-1]:
        raise ValueError(
            f"the merged heads have {merged.shape[-1]} features but W_o takes {W_o.shape[0]}: "
            f"{merged.shape} @ {W_o.shape}"
        )
    return W_o


def scores_and_mix(alphas, mix):
    """For `mix_scores`: alphas (..., h, n_q, n_k), mix (h,)."""
    alphas, mix = numbers("alphas", alphas, axes=3), numbers("mix", mix, axes=1)
    if mix.shape != alphas.shape[-3:-2]:
        raise ValueError(
            f"mix needs one number for each of {alphas.shape[-3]} heads: {mix.shape} and {alphas.shape}"
        )
    return alphas, mix


def places_and_base(n, d, base):
    """For `positions`: n and d whole, d even, base 1 or more."""
    n, d, base = whole("n", n), whole("d", d), above_zero("base", base)
    if d % 2:
        raise ValueError(f"positions need an even number of features, sine and cosine in pairs, not d = {d}")
    if base < 1:
        raise ValueError(f"base must be 1 or more, or later pairs would turn faster, not {base}")
    return n, d, base


def tokens_and_kernel(X, W, axes):
    """For `fully_connected` and `convolution`: X (..., n, d), W (d, d_out) or (2r + 1, d, d_out)."""
    X, W = numbers("X", X), numbers("W", W)
    if W.ndim != axes or X.shape[-1] != W.shape[-2]:
        raise ValueError(
            f"W must have {axes} axes and take the {X.shape[-1]} features of a token: {X.shape} and {W.shape}"
        )
    if axes == 3 and len(W) % 2 == 0:
        raise ValueError(f"a window has an odd number of places, r + 1 + r, not {len(W)}: W is {W.shape}")
    return X, W


def tokens_and_steps(X, W_x, W_h):
    """For `rnn`: X (..., n, d), W_x (d, d_h), W_h (d_h, d_h)."""
    X, W_x, W_h = numbers("X", X), numbers("W_x", W_x), numbers("W_h", W_h)
    if W_x.ndim != 2 or X.shape[-1] != W_x.shape[0]:
        raise ValueError(f"W_x must take the {X.shape[-1]} features of a token: {X.shape} @ {W_x.shape}")
    if W_h.shape != (W_x.shape[1],) * 2:
        raise ValueError(
            f"W_h must lead from the {W_x.shape[1]} features of a state to as many: "
            f"W_x is {W_x.shape}, W_h is {W_h.shape}"
        )
    return X, W_x, W_h


# What the checks are made of


def plain(name, values):
    """`values` as an array of NumPy's own class, so that nothing is lost on the way."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} must be a plain array: the mask of a masked array would be lost")
    try:
        return np.asarray(values)
    except ValueError:  # NumPy's message does not name the argument
        raise ValueError(f"{name} must be a full rectangle of numbers: its rows differ in length") from None


def numbers(name, values, *, axes=2, minus_inf=False):
    """`values` as an array of finite floats with at least `axes` axes; -inf only where it means hidden."""
    array = plain(name, values)
    if array.dtype.kind not in "biuf":
        hint = " (None, or a whole number beyond 64 bits?)" if array.dtype == object else ""
        raise ValueError(f"{name} must hold real numbers, not {array.dtype}{hint}: shape {array.shape}")
    if array.ndim < axes:
        raise ValueError(f"{name} needs {axes} axes or more: it has shape {array.shape}")
    if array.dtype.kind != "f":
        array = array.astype(float)
    fine = array < np.inf if minus_inf else np.isfinite(array)  # nan < inf is False
    if not fine.all():
        place = tuple(map(int, np.argwhere(~fine)[0]))
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
    """`mask` as booleans of the given shape, True = may be looked at."""
    mask = plain("mask", mask)
    if mask.dtype != bool:
        raise ValueError(f"mask must be boolean, True = may be looked at, not {mask.dtype}: {mask.shape}")
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(f"the mask does not fit the scores: {mask.shape} and {shape}") from None


def whole(name, value):
    """`value` as an int that is at least 0."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{name} must be a whole number from 0 up, not {value!r}")
    return int(value)


def above_zero(name, value, kind=float):
    """`value` as one float of the given kind, above 0 and finite in that kind."""
    array = plain(name, value)
    with np.errstate(all="ignore"):
        number = array.astype(kind)[()] if array.ndim == 0 and array.dtype.kind in "iuf" else np.nan
    if not 0 < number < np.inf:
        raise ValueError(f"{name} must be one number above 0 that {np.dtype(kind)} can hold, not {value!r}")
    return number
