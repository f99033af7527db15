"""The exercises of notebook 04: softmax."""

from functools import partial

import numpy as np

from course_lib.attention import softmax
from course_lib.exercises import exercise
from course_lib.exercises.exercise import Exercise, Slip, bare, divided, fixed, hide, instead, shares, slips

EXERCISES = {}

_some, _more = _stack = fixed(0, (2, 2, 3))[0]
_high, _low, _mixed = np.array([[1000, 999, 1000.5], [-1000, -1001, -999], [-1000, 1000, -1000]])

_AXIS = "One of your rows sums to {row_sum:.2f}. Along which axis do the keys lie that share one attention?"


def _sums(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)


EXERCISES["04-softmax"] = Exercise(
    reference=softmax,
    probes=[(_stack,), (np.stack([_high, _low]),), (np.stack([_mixed, -_mixed]),), (_stack[::-1] * 2,)],
    draw=lambda rng: (exercise.draw_rows(rng),),
    slips=slips(
        "nothing subtracted: Right for small scores; here {nans} nan. Print the powers of such scores.",
        bare,
        "one maximum for all rows: In a row far below it every power is 0, and 0 / 0 gave {nans} nan.",
        partial(shares, subtract=np.max),
        "nan hidden: You turned nan into a number: a row sums to {row_sum:.2f}. Why was it nan?",
        lambda scores: np.nan_to_num(bare(scores)),
        "one sum for all rows: A row sums to {row_sum:.2f}: you divide by the sum of all rows together.",
        lambda scores: shares(scores) * (sums := _sums(scores)) / sums.sum(),
        "scores divided by their sum: Off by {off:.2f}. What makes a weight positive, whatever its score?",
        divided,
        "powers not divided: In the right proportion, but not shares: a row sums to {row_sum:.2f}.",
        lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
        "the bare powers: Positive, but not shares: a row sums to {row_sum:.2f}.",
        np.exp,
    )
    + instead(shares, "Right for small scores; here {nans} nan. Print the exponents: how large does one get?")
    + [
        Slip(f"softmax over {axes}{also}", partial(shares, axis=axis, subtract=subtract), _AXIS)
        for axes, axis in (("the queries", -2), ("the first axis", 0), ("the whole array", None))
        for also, subtract in (("", None), (", nothing subtracted", lambda scores: 0))
    ],
)

_seen = np.array([[True, False, True], [False, False, False]])  # the second row may see nothing
_far, _ends = (_some + [0, 2000, 0], _seen[0]), (_mixed, np.array([True, True, False]))

_HIDING = slips(  # of scores and a mask; where there is none, it is np.array(True)
    "hidden scores made 0: A hidden key has {hidden:.2f}. What is exp(0)?",
    lambda scores, mask: softmax(scores * mask),
    "zeroed after the softmax: A row sums to {row_sum:.2f}: the share of its hidden keys is lost.",
    lambda scores, mask: softmax(scores) * mask,
    "0/1 mask added: A hidden key has {hidden:.2f}. You raise the visible scores by 1, no more.",
    lambda scores, mask: softmax(scores + mask),
    "mask not used: Where a key is hidden, it still has {hidden:.2f}: your mask does nothing.",
    lambda scores, mask: softmax(scores),
    "nan where there is nothing to see: Right, except for {nans} nan: that row subtracts -inf from -inf.",
    lambda scores, mask: shares(hide(scores, mask)),
    "nothing subtracted, and 0 / 0: {nans} nan: what do the powers sum to in a row that sees nothing?",
    lambda scores, mask: bare(hide(scores, mask)),
    "nothing subtracted: Right for small scores; here a row sums to {row_sum:.2f}. Print the powers.",
    lambda scores, mask: bare(hide(scores, mask), empty=1),
    "nan hidden: You turned nan into a number: a row sums to {row_sum:.2f}. Why was it nan?",
    lambda scores, mask: np.nan_to_num(bare(hide(scores, mask))),
    "shares of nothing: In the row that may see nothing a key still gets {hidden:.2f}. What hides it?",
    lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
    "-1e9 added: A hidden key gets {hidden:.2f}. What does one number added to a whole row do?",
    lambda scores, mask: softmax(np.where(mask, scores, scores - 1e9)),
    "hidden keys set the maximum: All visible powers are 0 beside it: a row sums to {row_sum:.2f}.",
    lambda scores, mask: divided(shares(scores) * mask, empty=1),
    "renormalized by 0: Where the visible weights sum to 0 you divide by it: {nans} nan.",
    lambda scores, mask: divided(shares(scores) * mask),
    "(1 - mask) * -inf: {nans} nan: what is 0 times inf?",
    lambda scores, mask: shares(scores + ((1 - mask) * -np.inf if mask.ndim else 0)),
)


def _visible(scores, mask, subtract, empty=0):  # subtract sees hidden scores, too
    return bare(hide(scores - subtract(scores), mask), empty=empty)


def _hidden(scores, mask, subtract):
    return bare(hide(scores, mask) - subtract(hide(scores, mask)))


def _turned(scores, mask, weigh):
    return weigh(hide(scores, ~mask if mask.ndim else mask))


_HIDING += instead(partial(_visible, empty=1), "{nans} nan. Print the exponents: how large does one get?")
_HIDING += instead(_visible, "{nans} nan: what does a row sum to that sees nothing?", ", and 0 / 0")
_HIDING += instead(_hidden, "{nans} nan: -inf minus -inf. Print what you subtract.", " after hiding")
_TURNED = "A hidden key has {hidden:.2f}, and what may be looked at has nothing."
_HIDING += [
    Slip(f"mask the wrong way round{also}", partial(_turned, weigh=weigh), _TURNED)
    for also, weigh in (("", softmax), (", and 0 / 0", shares), (", nothing subtracted", bare))
]

EXERCISES["04-masked-softmax"] = Exercise(
    reference=lambda scores, mask: softmax(scores, mask=mask),
    probes=[(_some, _seen), (_more, _seen[0]), (_high, _seen[0]), _far, _ends],
    draw=exercise.draw_mask,
    slips=_HIDING,
)


def _undivided(scores, mask=None, temperature=1.0):
    largest = np.maximum(hide(scores, mask).max(-1, keepdims=True), -1e300)
    return bare(hide(scores / temperature - largest, mask), empty=1)


def _powers(scores, mask=None, temperature=1.0):
    return divided(softmax(scores, mask=mask) ** (1 / temperature), empty=1)


_warm_calls = [(_some, {"temperature": 2.0}), (_more, _seen, 0.5), (_some,), (_high, None, 0.1)]
_more_calls = [(_high, None, 2.0), (*_far, 0.5), (*_ends, 0.5), (_mixed, None, 1000.0)]

EXERCISES["04-temperature"] = Exercise(
    reference=lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask, temperature=temperature),
    probes=_warm_calls + _more_calls,
    draw=exercise.draw_whole,
    slips=[Slip(name, partial(exercise.warm, wrong), hint) for name, wrong, hint in _HIDING]
    + slips(
        "multiplied by the temperature: Your largest weight is {largest:.2f}: sharper instead of flatter.",
        lambda scores, mask=None, temperature=1.0: softmax(scores * temperature, mask=mask),
        "None taken for a mask: Without a mask a row sums to {row_sum:.2f}: None is False, and hides all.",
        lambda scores, mask=None, temperature=1.0: softmax(
            scores, mask=np.array(mask, dtype=bool), temperature=temperature
        ),
        "temperature without effect: Off by {off:.2f}, as at temperature 1. Is it used? Does it cancel?",
        lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask),
        "weights raised to 1/T: The right proportions, but a row sums to {row_sum:.2f}.",
        lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask) ** (1 / temperature),
        "shares raised to 1/T: Right until a share is 0 in float64: then no power helps. Off by {off:.2f}.",
        _powers,
        "maximum of the undivided scores: A row sums to {row_sum:.2f}. What is the largest exponent in it?",
        _undivided,
    ),
)
