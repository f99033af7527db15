"""The exercises of notebook 04: softmax."""

from functools import partial

import numpy as np

from course_lib.attention import softmax
from course_lib.exercises import exercise as e
from course_lib.exercises.exercise import Exercise, divided, fixed, hide, shares, slips, variants

EXERCISES = {}

_some, _more = _stack = fixed(0, (2, 2, 3))[0]
_high, _low, _mixed = np.array([[1000, 999, 1000.5], [-1000, -1001, -999], [-1000, 1000, -1000]])

_INSTEAD = {  # what is subtracted instead of each row's maximum
    "the mean": partial(np.mean, axis=-1, keepdims=True),
    "the smallest score": partial(np.min, axis=-1, keepdims=True),
    "the first score": lambda scores: scores[..., :1],
    "the largest absolute score": lambda scores: np.abs(scores).max(axis=-1, keepdims=True),
}


def _bare(scores, empty=0):
    return divided(np.exp(scores), empty=empty)


EXERCISES["04-softmax"] = Exercise(
    reference=softmax,
    probes=[(_stack,), (np.stack([_high, _low]),), (np.stack([_mixed, -_mixed]),), (_stack[::-1] * 2,)],
    draw=lambda rng: (e.draw_rows(rng),),
    slips=slips(
        "nothing subtracted: Right for small scores; here {nans} nan. Print the powers of such scores.",
        _bare,
        "one maximum for all rows: In a row far below it every power is 0, and 0 / 0 gave {nans} nan.",
        partial(shares, subtract=np.max),
        "nan hidden: You turned nan into a number: a row sums to {row_sum:.2f}. Why was it nan?",
        lambda scores: np.nan_to_num(_bare(scores)),
        "scores divided by their sum: The smallest weight is {smallest:.2f}. What makes it positive?",
        divided,
        "powers not divided: In the right proportion, but not shares: a row sums to {row_sum:.2f}.",
        lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
        "the bare powers: Positive, but not shares: a row sums to {row_sum:.2f}.",
        np.exp,
        "shares of the exponents: The largest score gets {smallest:.2f}: after the maximum a step is gone.",
        lambda scores: divided(scores - scores.max(axis=-1, keepdims=True)),
    )
    + [
        slip
        for what, subtract in _INSTEAD.items()
        for slip in slips(
            f"{what} subtracted: Right for small scores; here {{nans}} nan. Print the exponents of such rows.",
            partial(shares, subtract=subtract),
        )
    ]
    + [
        slip
        for axes, axis in (("the queries", -2), ("the first axis", 0), ("the whole array", None))
        for slip in variants(
            f"softmax over {axes}: One of your rows sums to {{row_sum:.2f}}. Along which axis do "
            "the keys lie that share one query's attention?",
            {
                "": partial(shares, axis=axis),
                ", nothing subtracted": partial(shares, axis=axis, subtract=lambda scores: 0),
            },
        )
    ],
)


def _visible(subtract, empty, scores, mask):  # subtract sees all scores, hidden ones too
    return divided(np.where(mask, np.exp(scores - subtract(scores)), 0), empty=empty)


def _ways(form, **ways):
    """form(scores, mask, weigh) with the ways of taking shares that a learner may have by now."""
    ways = {"": softmax, ", nothing subtracted": _bare} | ways
    return {also: partial(form, weigh=weigh) for also, weigh in ways.items()}


_seen = np.array([[True, False, True], [False, False, False]])  # the second row may see nothing
_first_two = np.array([True, True, False])
_one_row = [(_some + [0, 2000, 0], _seen[0]), (_mixed, _first_two)]
_undone = {", 0 / 0": shares}

# These do the same where a mask hides nothing and where there is none.
_MASKED = (
    variants(
        "scores multiplied by the mask: A hidden key has {hidden:.2f}. What is exp(0)?",
        _ways(lambda scores, mask, weigh: weigh(scores * mask)),
    )
    + variants(
        "zeroed after the softmax: A row sums to {row_sum:.2f}: the share of its hidden keys is lost.",
        _ways(lambda scores, mask, weigh: weigh(scores) * mask),
    )
    + variants(
        "0/1 mask added: A hidden key has {hidden:.2f}. You raise the visible scores by 1, no more.",
        _ways(lambda scores, mask, weigh: weigh(scores + mask)),
    )
    + variants(
        "mask not used: Where keys are hidden, one has a weight of {hidden:.2f}: your mask does nothing.",
        _ways(lambda scores, mask, weigh: weigh(scores)),
    )
)
