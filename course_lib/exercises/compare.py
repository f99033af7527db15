"""Whether a result is the right one, and if not, what to say: words and small tables, as exact as needed."""

from typing import NamedTuple

import numpy as np

TOLERANCE = 1e-10
PLAIN = {np.ndarray, float, int, *np.sctypeDict.values()}  # kinds of numbers; a subclass answers for itself


class Problem(NamedTuple):
    """In place of a result: the kind of error, and a line about it."""

    kind: str
    text: str


def same(got, want):
    """Equal in kind, shape and (to 1e-10) in numbers; several things part by part, sets in any order."""
    if isinstance(got, Problem) or isinstance(want, Problem):
        return isinstance(got, Problem) and isinstance(want, Problem) and got.kind == want.kind
    if isinstance(want, tuple):
        return several(got) and len(got) == len(want) and all(map(same, got, want))
    if isinstance(want, set):
        return isinstance(got, (set, frozenset, list, tuple)) and _words(got) == want
    return comparable(got, want) and bool(close(got, want).all())


def alike(got, wrong):
    """The same, but for numbers without sense in both, as a division by 0 makes: nan, inf, beyond 1e6."""
    return same(_tame(got), _tame(wrong))


def _tame(result):
    if several(result):
        return tuple(map(_tame, result))
    return np.where(np.abs(result) < 1e6, result, np.nan) if comparable(result, result) else result


def wrong_part(got, want):
    """Of several things the first that is wrong, as (its number, got, want); of one thing (0, got, want)."""
    if isinstance(want, tuple) and several(got) and len(got) == len(want):
        return next((i, g, w) for i, (g, w) in enumerate(zip(got, want), 1) if not same(g, w))
    return 0, got, want


def faint(got, want):
    """Whether tables of a result hardly show what is wrong: it is nearly right, or nothing but nan."""
    _, got, want = wrong_part(got, want)
    return comparable(got, want) and (np.isnan(got).all() or np.allclose(got, want, rtol=0.01, atol=0.01))


def difference(got, want, known=()):
    """One sentence on the first thing that is not as it should be; known: the words there are."""
    if isinstance(got, Problem):
        return got.text
    part, (_, got, want) = _part(got, want), wrong_part(got, want)
    if isinstance(want, tuple):
        found = len(got) if several(got) else kind(got)
        return f"Return {len(want)} things, separated by commas; this is {found}."
    if isinstance(want, set):
        return _set_difference(got, want, known)
    due = f"a NumPy array of shape {np.shape(want)}" if np.shape(want) else "a single number"
    if type(got) not in PLAIN:
        return f"{part}This is {kind(got)}; return {due}."
    holds, dtype = np.asarray(got).dtype, np.asarray(want).dtype
    if holds.kind not in "iuf":
        return f"{part}Your array holds {holds}, it should hold {dtype}."
    if np.shape(got) != np.shape(want):
        return f"{part}Your shape is {np.shape(got)}, it should be {np.shape(want)}."
    if np.isnan(got).any():
        return f"{part}Of {np.size(got)} numbers nan: {np.isnan(got).sum()}."
    if holds.kind in "iu" and (np.mod(want, 1) != 0).any():
        return f"{part}You return whole numbers only ({holds}), where there are fractions."
    place = tuple(map(int, np.argwhere(~close(got, want))[0]))
    got_text, want_text = (texts[0] for texts in _told_apart(np.asarray(got)[place], np.asarray(want)[place]))
    where = f"The shape is right, but entry {list(place)}" if place else "The number"
    return f"{part}{where} is {got_text} where it should be {want_text}."


def both(got, want):
    """What came (nothing, where it cannot be shown) and what should have come, as text."""
    part, (_, got, want) = _part(got, want), wrong_part(got, want)
    if isinstance(want, set):
        return None, None  # the answer itself
    if isinstance(want, tuple):
        return None, f"{len(want)} arrays of shapes {', '.join(str(part.shape) for part in want)}"
    if type(got) not in PLAIN or np.asarray(got).dtype.kind not in "iuf":
        return None, _table(want, _told_apart(want, want)[1])
    tables = (_table(each, words) for each, words in zip((got, want), _told_apart(got, want)))
    return tuple(f"{part.strip()}\n{table}".lstrip() for table in tables)


def _part(got, want):
    """Which of several things is wrong, to begin a sentence with: a stage has a name."""
    number, stages = wrong_part(got, want)[0], getattr(want, "_fields", None)
    named = f"Stage {number}, {stages[number - 1]}: " if stages and number else ""
    return named or (f"Number {number} of what you return: " if number else "")


def kind(thing):
    """What a thing is, in words."""
    if isinstance(thing, np.ma.MaskedArray):
        return "a masked array, not a plain one"
    if callable(thing):
        return "a function, perhaps for want of ()"
    names = {"ndarray": "an array", "tuple": "a tuple", "list": "a list", "NoneType": "None", "str": "a text"}
    name = type(thing).__name__
    return names.get(name, f"of type {name[:60]}")


def several(result):
    """Whether a function returned several things."""
    return isinstance(result, (tuple, list)) and not isinstance(result, Problem)


def comparable(got, want):
    """Two plain arrays or numbers of one shape."""
    if type(got) not in PLAIN or type(want) not in PLAIN:
        return False
    return np.asarray(got).dtype.kind in "iuf" and np.shape(got) == np.shape(want)


def close(got, want):
    """Which numbers are equal to 1e-10, absolutely where small, relatively where large; nan equals nan."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    off = np.abs(got - want) <= TOLERANCE * (1 + np.abs(want))
    return off | (got == want) | (np.isnan(got) & np.isnan(want))


def _words(got):
    return {word if isinstance(word, str) else None for word in got}


def _set_difference(got, want, known):
    if not isinstance(got, (set, frozenset, list, tuple)):
        return f"This is {kind(got)}; return a set of names."
    found = _words(got)
    unknown = sorted(str(word)[:40] for word in found - set(known))
    not_one = f' "{unknown[0]}" is not one of the names to choose from.' if unknown else ""
    counts = f"{len(found & want)} right, {len(found - want)} too many, {len(want - found)} missing"
    return f"You name {len(found)}: {counts}.{not_one}"


def _told_apart(got, want):
    """The numbers of both as words, with as many digits (4 at least) as tell those apart that differ."""
    differ = ~close(got, want).ravel() if np.shape(got) == np.shape(want) else np.array([], bool)
    for digits in range(4, 18):
        words = [[f"{v:.{digits}g}" for v in np.ravel(each).round(12) + 0.0] for each in (got, want)]
        if all(g != w for g, w, apart in zip(*words, differ) if apart):
            break
    return words


def _table(values, words):
    width = max(map(len, words), default=0)
    table = np.array([word.rjust(width) for word in words]).reshape(np.shape(values))
    return np.array2string(table, formatter={"all": str}, max_line_width=110, threshold=100, edgeitems=3)
