"""What a model can know of a token's place and neighbors."""

import collections

import numpy as np

from course_lib import inputs


def ceiling(seen, labels):
    """The largest share of labels that any function can get right which is given only what is seen.

    seen, labels: n of each, of any kind that can be a key  ->  float from 0 to 1. Where the same is seen, the
    same is answered, so at best its most frequent label. Of these labels: on others it may be less.
    ValueError for none, or for lists that differ in length.

    >>> ceiling(["I", "saw", "a", "saw"], ["other", "verb", "other", "noun"])
    0.75
    """
    seen, labels = list(seen), list(labels)
    if len(seen) != len(labels) or not seen:
        raise ValueError(
            f"each label needs what is seen, one or more: {len(seen)} seen, {len(labels)} labels"
        )
    counts = collections.defaultdict(collections.Counter)
    for sight, label in zip(seen, labels):
        counts[sight][label] += 1
    return sum(max(count.values()) for count in counts.values()) / len(labels)


def windows(X, radius):
    """For each token its row and `radius` rows on either side, zeros beyond the edges.

    X (..., n, d)  ->  (..., n, 2 radius + 1, d), the own row in the middle. ValueError for a negative radius.

    >>> windows([[1], [2], [3]], 1)[..., 0].tolist()
    [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 3.0, 0.0]]
    """
    X, radius = inputs.numbers("X", X), inputs.whole("radius", radius)
    edge = np.zeros((*X.shape[:-2], radius, X.shape[-1]), X.dtype)
    padded = np.concatenate([edge, X, edge], axis=-2)  # (..., n + 2 radius, d)
    places = np.arange(X.shape[-2])[:, None] + np.arange(2 * radius + 1)  # (n, 2 radius + 1)
    return padded[..., places, :]


def fully_connected(X, W):
    """A fully connected layer on each token alone: max(0, x W).

    X (..., n, d), W (d, d_out)  ->  (..., n, d_out). ValueError where W does not take d features.
    ReLU and no bias, as in the feed-forward layer of Vaswani et al. (2017), section 3.3.

    >>> fully_connected([[1, 2], [3, -4]], [[1], [1]]).tolist()
    [[3.0], [0.0]]
    """
    X, W = inputs.tokens_and_kernel(X, W, axes=2)
    return np.maximum(X @ W, 0)


def convolution(X, W):
    """A convolution along the tokens: max(0, sum of x_(i+j-r) W_j), the same W at every place.

    X (..., n, d), W (2r + 1, d, d_out), a matrix for each place of the window  ->  (..., n, d_out)
    Zeros beyond the edges. ValueError for an even window and where W does not take d features.
    Not turned over, like ONNX Conv; ReLU and no bias.

    >>> convolution([[1], [2], [3]], [[[1]], [[0]], [[1]]]).tolist()
    [[2.0], [4.0], [2.0]]
    """
    X, W = inputs.tokens_and_kernel(X, W, axes=3)
    return np.maximum(np.einsum("...nwd,wde->...ne", windows(X, len(W) // 2), W), 0)


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
