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
