"""What a model can know of a token's place and neighbours."""

import numpy as np

from course_lib.attention import whole


def positions(n, d, *, base=10000.0):
    """Sinusoidal positions: pairs of sine and cosine, each pair slower than the one before.  ->  (n, d)

    positions(n, d)[p, 2i] = sin(p / base^(2i/d)), [p, 2i + 1] = cos of the same angle, in radians.
    Moving on by k tokens turns every pair by a fixed angle, wherever p is.
    ValueError for an odd d. Source: Vaswani et al. (2017), section 3.5.
    """
    if whole("d", d) % 2:
        raise ValueError(f"positions need an even number of features, sine and cosine in pairs, not d = {d}")
    angles = np.arange(whole("n", n))[:, None] / base ** (np.arange(0, d, 2) / max(d, 1))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d)
