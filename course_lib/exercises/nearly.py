"""Slips that any exercise may meet: too few digits, rounding, a divisor that is not the right one."""

import numpy as np

from course_lib.exercises.compare import close, comparable, same, several


def nearly(pairs):
    """The name of a slip and what to say to it, where all (got, want) are right but for it; else None."""
    pairs = [each for got, want in pairs for each in _parts(got, want)]
    for got in [got for got, _ in pairs if several(got)]:
        shapes = sorted({part.shape for part in got if type(part) is np.ndarray})
        if len(shapes) > 1:
            text = f"Your list has parts of shapes {shapes[0]} and {shapes[-1]} where one array is due."
            return "parts of different shapes", f"{text} What is missing in the smaller one?"
    if not all(comparable(got, want) for got, want in pairs):
        return None
    units = [want / np.linalg.norm(np.atleast_1d(want), axis=-1, keepdims=True) for _, want in pairs]
    if all(same(got, want) or same(got, unit) for (got, want), unit in zip(pairs, units)):
        return "length 1", "Each row points the right way, but you divide it by its own length."
    off = max(np.abs(np.asarray(got, float) - want).max() for got, want in pairs)
    if all(np.asarray(got).dtype.itemsize < 8 for got, want in pairs) and off < 0.01:
        return "float32", f"Right to about {off:.0e}: your numbers hold 7 digits or fewer, float64 holds 16."
    for decimals in range(10):
        if all(same(got, np.round(want, decimals)) for got, want in pairs):
            return "rounded", f"Right, but rounded to {decimals} decimals. Round what you print alone."
    if all(_one_factor(got, want) for got, want in pairs):
        why = "each row is too small by one factor, as if something were added to what it is divided by"
        return "a little added", f"Close, but off by up to {off:.0e}: {why}."
    return None


def _parts(got, want):
    """Pairs of parts; where got has not as many as want, one pair that cannot be compared."""
    if not isinstance(want, tuple):
        return [(got, want)]
    return list(zip(got, want)) if several(got) and len(got) == len(want) else [(None, want)]


def _one_factor(got, want):
    """Whether every row (or number) of got is want times one factor a little below 1, or want itself."""
    got, want = np.atleast_1d(np.asarray(got, float)), np.atleast_1d(want)
    if not np.isfinite(got).all():
        return False
    nothing = np.abs(want) < 1e-6
    if np.abs(got - want).max(initial=0) > 1e-3 or not close(got, want)[nothing.all(-1)].all():
        return False
    if (np.abs(got) > np.abs(want) + 1e-11)[nothing].any():  # what is as good as nothing has not grown
        return False
    ratio = np.where(nothing, np.nan, got / np.where(nothing, 1, want))
    low, high = np.nanmin(ratio, axis=-1), np.nanmax(ratio, axis=-1)
    known = ~np.isnan(low)
    return bool(((high - low <= 1e-3 * (1 - low) + 1e-11) & (low > 0.9) & (high < 1 + 1e-11))[known].all())
