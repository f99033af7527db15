"""What an exercise and a slip are, and what the exercises share.

An exercise is data: what is right, the calls it is tried on, and the slips that are known. A slip is a wrong
way that learners really take. Its hint says what shows it and where to look, never the answer; a name in
braces, as in "off by {off:.2f}", becomes a number measured on what the learner's function returned.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np


class Slip(NamedTuple):
    """A known wrong implementation and what to say to it."""

    name: str
    wrong: Callable
    hint: str


DRAWS = 120


@dataclass(eq=False)
class Exercise:
    """What a learner's function is compared with. A call is a tuple; a dict at its end: keywords."""

    reference: Callable
    probes: list  # of calls that tell the slips apart, small because they are shown
    draw: Callable  # draw(rng) -> a call, out of everything that the text of the exercise allows
    slips: list

    @cached_property
    def calls(self):
        """The probes, then calls drawn from one seed: the same every time."""
        rng = np.random.default_rng(0)
        return self.probes + [self.draw(rng) for _ in range(DRAWS)]


def slips(*told):
    """Slips from pairs: "name: hint", and the wrong function."""
    names, hints = zip(*(text.split(": ", 1) for text in told[::2]))
    return list(map(Slip, names, told[1::2], hints))


def parts(form, part, told):
    """Slips of a form that takes something else for one of its parts.  told: {"name: hint": what it takes}"""
    return slips(*(each for text, taken in told.items() for each in (text, partial(form, **{part: taken}))))


# What a call is drawn from.


def sizes(rng, count, most=6):
    """Sizes from 1 up: on half of the draws all different, on the others some equal, or all."""
    case = rng.random()
    if case < 0.5:
        return rng.permutation(most)[:count] + 1
    return rng.integers(1, 4, size=count) if case < 0.85 else np.full(count, rng.integers(1, 4))


def front(rng, most=2):
    """The axes in front of an array: none, one or two."""
    return tuple(rng.integers(1, 4, size=rng.integers(0, most + 1)))


def arrays(rng, *shapes):
    """Numbers with one decimal, short to read; on some draws with more, or whole ones in some or all."""
    whole, decimals = rng.choice([0, 0, 0, 0.5, 1]), rng.choice([1, 1, 1, 5, 17])
    return tuple(
        rng.integers(-2, 3, shape) if rng.random() < whole else rng.normal(size=shape).round(decimals) + 0.0
        for shape in shapes
    )


def draw_rows(rng):
    """Scores (..., n_k): ordinary, around 1000 or -1000 by the row, or both mixed in one row."""
    n_q, n_k = sizes(rng, 2)
    before = (*front(rng), n_q) if rng.random() < 0.85 else ()
    scores = arrays(rng, (*before, 64 if rng.random() < 0.03 else n_k))[0]
    spread = scores.shape if rng.random() < 0.5 else (*before, 1)
    return scores + rng.choice([-1000, 0, 1000], spread) * rng.choice([0, 0, 1])


def draw_mask(rng):
    """Scores and a mask, of fewer axes or axes of length 1; rows without a key; hidden ones of any size."""
    scores = draw_rows(rng)
    shape = [size if rng.random() < 0.8 else 1 for size in scores.shape[:-1]] + [scores.shape[-1]]
    shape = shape[rng.integers(scores.ndim) if rng.random() < 0.4 else 0 :]
    mask = (rng.random(shape) < rng.choice([0.3, 0.6, 1])) & (rng.random((*shape[:-1], 1)) < 0.85)
    return np.where(mask, scores, scores + rng.choice([0, 0, 2000, 2 * 10**9, -2 * 10**9])), mask


def draw_whole(rng):
    """Scores, mask and temperature, each of the last two by name, by place, or not at all."""
    scores, mask = draw_mask(rng) if rng.random() < 0.6 else (draw_rows(rng), None)
    temperature = {"temperature": rng.choice([0.1, 0.5, 1, 2, 5, 1000]).item()} if rng.random() < 0.7 else {}
    named = (scores, temperature if mask is None else {"mask": mask} | temperature)
    return [named, (scores, mask, temperature), (scores, mask, *temperature.values())][rng.integers(3)]


def fixed(seed, *shapes):
    """Arrays for a probe: numbers with one decimal, none of them 0."""
    rng = np.random.default_rng(seed)
    return tuple(rng.choice([-1, 1], shape) * rng.integers(1, 20, shape) / 10 for shape in shapes)


# What slips are made of: one head of attention in exchangeable parts, and what scores are wrongly divided by.


def shares(scores, axis=-1, subtract=None):
    """Softmax over any axis; subtract(scores) goes off first, the maximum along the axis unless given."""
    return divided(np.exp(scores - (subtract(scores) if subtract else scores.max(axis, keepdims=True))), axis)


def divided(powers, axis=-1, empty=0):
    """Powers as shares; empty=1 leaves a row of zeros as it is."""
    total = powers.sum(axis, keepdims=True)
    return powers / np.where(total == 0, empty, total)


def bare(scores, empty=0):
    """Softmax with nothing subtracted."""
    return divided(np.exp(scores), empty=empty)


def warm(form, scores, mask=None, temperature=1.0):
    """A form of scores and mask, with a temperature; where there is no mask it gets np.array(True)."""
    return form(scores / temperature, np.array(True) if mask is None else mask)


def hide(scores, mask):
    """Scores with -inf where the mask, if there is one, hides them."""
    return scores if mask is None else np.where(mask, scores, -np.inf)


def instead(form, hint, also=""):
    """Slips of subtracting something else than each row's maximum, for a form that takes subtract=."""
    wrong = {
        "the mean": lambda scores: scores.mean(axis=-1, keepdims=True),
        "the smallest score": lambda scores: scores.min(axis=-1, keepdims=True),
        "the first score": lambda scores: scores[..., :1],
    }
    return [Slip(f"{what} subtracted{also}", partial(form, subtract=f), hint) for what, f in wrong.items()]


def attend(Q, K, V, *, divide=np.sqrt, turn=lambda K: K.swapaxes(-1, -2), weigh=shares, take=lambda A: A):
    """Scores, weights and output; weigh makes weights of scores, take says which of them the values meet."""
    alpha = Q @ turn(K) / divide(Q.shape[-1])
    weights = weigh(alpha)
    return alpha, weights, take(weights) @ V


UNSHARED = {  # what weigh= makes instead of each row's shares
    "no softmax: You mix with the scores themselves: off by {off:.2f}.": lambda alpha: alpha,
    "powers not divided: You mix with powers, not yet shares: off by {off:.2f}.": np.exp,
    "one softmax for all: All weights together sum to 1: off by {off:.2f}.": partial(shares, axis=None),
    "keepdims missing: Your sums lost an axis: off by {off:.2f}.": lambda a: np.exp(a) / np.exp(a).sum(-1),
}


def scales(form, *, seen="the output is off by {off:.2f}"):
    """What is done instead of dividing by the root of d_k, for a form that takes divide=."""
    divisors = {
        f"not scaled: You do not divide: {seen}. What keeps scores from growing with d_k?": lambda d_k: 1,
        f"divided by d_k: You divide by d_k itself, or by its root twice: {seen}.": lambda d_k: d_k,
        f"divided by half of d_k: Python reads 9 ** 1/2 as (9 ** 1) / 2: {seen}.": lambda d_k: d_k / 2,
        f"divided by twice d_k: Python reads 1 / 9 ** 1/2 as (1 / 9) / 2: {seen}.": lambda d_k: d_k * 2,
        f"multiplied by the root: You make the scores larger: {seen}.": lambda d_k: 1 / np.sqrt(d_k),
    }
    return parts(form, "divide", divisors)


def roots(form, *, seen="the output is off by {off:.2f}"):
    """scales, and the roots of other sizes, for a form of X, W_q, W_k, W_v (, i, or W_o, n_heads)."""
    return scales(form, seen=seen) + slips(
        f"always the root of 2: You divide by the root of 2, whatever d_k is: {seen}.",
        lambda *call: form(*call, divide=lambda d_k: np.sqrt(2)),
        f"root of d: You count the features of a token: {seen}. How many terms has a score?",
        lambda *call: form(*call, divide=lambda d_k: np.sqrt(call[0].shape[-1])),
        f"root of d_v: You count the features of a value: {seen}. What is a score a sum of?",
        lambda *call: form(*call, divide=lambda d_k: np.sqrt(call[3].shape[1] / (*call[5:], 1)[0])),
        f"root of n: You count the tokens: {seen}. How many terms has a score?",
        lambda *call: form(*call, divide=lambda d_k: np.sqrt(call[0].shape[-2])),
    )


def heads(form, **seen):
    """roots, wrong matrices, and what is taken for each row's shares, for a form with divide= and weigh=."""
    exchanged = slips(
        "queries and keys exchanged: Off by {off:.2f}: you ask with keys. Who asks, who is found?",
        lambda X, W_q, W_k, *rest: form(X, W_k, W_q, *rest),
        "W_q used for the keys: Off by {off:.2f}: you make queries twice. Which matrix makes keys?",
        lambda X, W_q, W_k, *rest: form(X, W_q, W_q, *rest),
    )
    return roots(form, **seen) + exchanged + parts(form, "weigh", UNSHARED)


# What hints measure, on the first part of a result that is wrong.

MEASURES = {
    "off": lambda got, want: np.abs(got - want).max(),
    "ratio": lambda got, want: np.ravel(got)[np.abs(want).argmax()] / np.ravel(want)[np.abs(want).argmax()],
    "count": lambda got, want: len(got),
    "due": lambda got, want: len(want),
    "columns": lambda got, want: got.shape[-1],
    "axes": lambda got, want: np.ndim(got),
    "heads": lambda got, want: got.shape[-3],
    "tokens": lambda got, want: got.shape[-2],
    "first": lambda got, want: np.ravel(got)[0],
    "largest": lambda got, want: np.max(got),
    "smallest": lambda got, want: np.min(got),
    "nans": lambda got, want: np.isnan(got).sum(),
    "hidden": lambda got, want: got[want == 0].max(),
    "row_sum": lambda got, want: max(got.sum(axis=-1)[want.sum(axis=-1) > 0], key=lambda s: abs(s - 1)),
}


class Measured(dict):
    """The measures by name, each made when a hint asks for it."""

    def __init__(self, got, want):
        self.pair = got, want

    def __missing__(self, name):
        return MEASURES[name](*self.pair)
