"""What a model can know of a token's place and neighbors."""

import numpy as np

from course_lib import inputs


def positions(n, d, *, base=10000.0):
    """Sinusoidal positions: pairs of sine and cosine, each pair slower than the one before.  ->  (n, d)

    positions(n, d)[p, 2i] = sin(p / base^(2i/d)), [p, 2i + 1] = cos of the same angle, in radians.
    The first pair turns by 1 radian per token, pair i by base^(2i/d) times less; with base 1 all turn alike.
    Moving on by k tokens turns every pair by a fixed angle, wherever p is.
    ValueError for an odd d and for a base below 1. Source: Vaswani et al. (2017), section 3.5.

    >>> positions(2, 4).round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.84, 0.54, 0.01, 1.0]]
    """
    n, d, base = inputs.places_and_base(n, d, base)
    slowness = base ** (np.arange(0, d, 2) / d)  # (d/2,)  1 for the first pair
    angles = np.arange(n)[:, None] / slowness  # (n, d/2)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)


def rnn(X, W_x, W_h):
    """The states of a plain recurrent network, each made of its token and the state before.

    h_i = tanh(x_i W_x + h_(i-1) W_h), and the state before the first token is 0.
    X (..., n, d), W_x (d, d_h), W_h (d_h, d_h)  ->  (..., n, d_h)
    ValueError where W_x does not take d features or W_h does not lead from d_h features to d_h.
    Source: Elman (1990), "Finding Structure in Time", without a bias.

    >>> rnn([[1], [0]], W_x=[[1]], W_h=[[0.5]]).round(2).tolist()
    [[0.76], [0.36]]
    """
    X, W_x, W_h = inputs.tokens_and_steps(X, W_x, W_h)
    read = X @ W_x  # (..., n, d_h)  all tokens at once: none of this waits
    states, h = np.empty_like(read), np.zeros_like(read[..., :1, :])  # (..., 1, d_h)
    for i in range(read.shape[-2]):  # each step waits for the one before
        h = states[..., i : i + 1, :] = np.tanh(read[..., i : i + 1, :] + h @ W_h)
    return states


def bidirectional_rnn(X, forward, backward):
    """One RNN from the first token to the last and one from the last to the first, side by side.

    X (..., n, d), forward and backward: a pair W_x (d, d_h), W_h (d_h, d_h) each  ->  (..., n, 2 d_h)
    Row i holds both states at token i; the two may differ in d_h. ValueError as in rnn.
    Source: Schuster and Paliwal (1997), "Bidirectional Recurrent Neural Networks".

    >>> bidirectional_rnn([[1], [0]], ([[1]], [[0.5]]), ([[1]], [[0.5]])).round(2).tolist()
    [[0.76, 0.76], [0.36, 0.0]]
    """
    X = inputs.numbers("X", X)
    there, back = rnn(X, *forward), rnn(X[..., ::-1, :], *backward)[..., ::-1, :]
    return np.concatenate([there, back], axis=-1)
