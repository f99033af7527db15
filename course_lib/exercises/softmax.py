"""The exercises of notebook 04: softmax."""

from functools import partial

import numpy as np

from course_lib.attention import softmax
from course_lib.exercises.exercise import Exercise, divided, draw_mask, draw_rows, fixed, hide, shares, slips

EXERCISES = {}

_some, _more = _stack = fixed(0, (2, 2, 3))[0]
_high, _low, _mixed = np.array([[1000, 999, 1000.5], [-1000, -1001, -999], [-1000, 1000, -1000]])

EXERCISES["04-softmax"] = Exercise(
    reference=softmax,
    probes=[(_stack,), (np.stack([_high, _low]),), (np.stack([_mixed, -_mixed]),), (_stack[::-1] * 2,)],
    draw=lambda rng: (draw_rows(rng),),
    slips=slips(
        "nothing subtracted: Right for small scores; here {nans} nan. Print the powers of such scores.",
        partial(shares, subtract=lambda scores: 0),
        "one maximum for all rows: In a row far below it every power is 0, and 0 / 0 gave {nans} nan.",
        partial(shares, subtract=np.max),
        "nan hidden: You turned nan into a number: a row sums to {row_sum:.2f}. Why was it nan?",
        lambda scores: np.nan_to_num(divided(np.exp(scores))),
        "scores divided by their sum: The smallest weight is {smallest:.2f}. What makes it positive?",
        divided,
        "powers not divided: In the right proportion, but not shares: a row sums to {row_sum:.2f}.",
        lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
        "the bare powers: Positive, but not shares: a row sums to {row_sum:.2f}.",
        np.exp,
        "shares of the exponents: The largest score gets {smallest:.2f}: after the maximum a step is gone.",
        lambda scores: divided(scores - scores.max(axis=-1, keepdims=True)),
        *(
            part
            for axes, axis in (("the queries", -2), ("the first axis", 0), ("the whole array", None))
            for also, subtract in (("", None), (", nothing subtracted", lambda scores: 0))
            for part in (
                f"softmax over {axes}{also}: One of your rows sums to {{row_sum:.2f}}. Along which axis do "
                "the keys lie that share one query's attention?",
                partial(shares, axis=axis, subtract=subtract),
            )
        ),
    ),
)

_seen = np.array([[True, False, True], [False, False, False]])  # the second row may see nothing

EXERCISES["04-masked-softmax"] = Exercise(
    reference=lambda scores, mask: softmax(scores, mask=mask),
    probes=[(_some, _seen), (_more, _seen[0]), (_high, _seen[0]), (_some + [0, 2000, 0], _seen[0])],
    draw=draw_mask,
    slips=slips(
        "scores multiplied by the mask: A hidden key has {hidden:.2f}. What is exp(0)?",
        lambda scores, mask: softmax(scores * mask),
        "zeroed after the softmax: A row sums to {row_sum:.2f}: the share of its hidden keys is lost.",
        lambda scores, mask: softmax(scores) * mask,
        "mask the wrong way round: A hidden key has {hidden:.2f}, and what may be looked at has nothing.",
        lambda scores, mask: softmax(scores, mask=~mask),
        "0/1 mask added: A hidden key has {hidden:.2f}. You raise the visible scores by 1, no more.",
        lambda scores, mask: softmax(scores + mask),
        "(1 - mask) * -inf: {nans} nan: what is 0 times inf?",
        lambda scores, mask: shares(scores + (1 - mask) * -np.inf),
        "nan where there is nothing to see: Right, except for {nans} nan: that row subtracts -inf from -inf.",
        lambda scores, mask: shares(hide(scores, mask)),
        "nan hidden: You turned nan into a number: a row sums to {row_sum:.2f}. Why was it nan?",
        lambda scores, mask: np.nan_to_num(divided(np.exp(hide(scores, mask)))),
        "-1e9 instead of -inf: In the row that may see nothing a key still gets {hidden:.2f}.",
        lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
        "-1e9 added: A hidden key gets {hidden:.2f}. What does one number added to a whole row do?",
        lambda scores, mask: softmax(np.where(mask, scores, scores - 1e9)),
        "hidden keys set the maximum: All visible powers are 0 beside it: a row sums to {row_sum:.2f}.",
        lambda scores, mask: divided(shares(scores) * mask, empty=1),
        "renormalized by 0: Where the visible weights sum to 0 you divide by it: {nans} nan.",
        lambda scores, mask: divided(shares(scores) * mask),
        "nothing subtracted: Right for small scores; here a row sums to {row_sum:.2f}. Print the powers.",
        lambda scores, mask: divided(np.exp(hide(scores, mask)), empty=1),
        "mask not used: A hidden key has a weight of {hidden:.2f}: your mask does nothing.",
        lambda scores, mask: softmax(scores),
    ),
)


def _whole(rng):
    # mask and temperature by name, by place, or not at all
    scores, mask = draw_mask(rng) if rng.random() < 0.6 else (draw_rows(rng), None)
    temperature = {"temperature": rng.choice([0.1, 0.5, 1, 2, 5, 1000]).item()} if rng.random() < 0.7 else {}
    named = (scores, temperature if mask is None else {"mask": mask} | temperature)
    return [named, (scores, mask, temperature), (scores, mask, *temperature.values())][rng.integers(3)]


def _undivided_maximum(scores, mask=None, temperature=1.0):
    hidden = hide(scores, mask)
    return divided(np.exp(hidden / temperature - np.maximum(hidden.max(-1, keepdims=True), -1e300)), empty=1)


EXERCISES["04-temperature"] = Exercise(
    reference=lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask, temperature=temperature),
    probes=[
        (_some, {"temperature": 2.0}),
        (_more, _seen, 0.5),
        (_some,),
        (_high, None, 0.1),
        (_high, None, 2.0),
    ],
    draw=_whole,
    slips=slips(
        "multiplied by the temperature: Your largest weight is {largest:.2f}: sharper instead of flatter.",
        lambda scores, mask=None, temperature=1.0: softmax(scores * temperature, mask=mask),
        "temperature not used: Your weights are those of temperature 1, off by {off:.2f}.",
        lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask),
        "weights divided by the temperature: A row sums to {row_sum:.2f}. What should it divide?",
        lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask) / temperature,
        "weights raised to 1/T: The right proportions, but a row sums to {row_sum:.2f}.",
        lambda scores, mask=None, temperature=1.0: softmax(scores, mask=mask) ** (1 / temperature),
        "maximum of the undivided scores: A row sums to {row_sum:.2f}. What is the largest exponent in it?",
        _undivided_maximum,
        "nothing subtracted: Right for small scores; here a row sums to {row_sum:.2f}. Print the powers.",
        lambda scores, mask=None, temperature=1.0: divided(np.exp(hide(scores, mask) / temperature), empty=1),
        "nan where there is nothing to see: Right, except for {nans} nan in the row that may see nothing.",
        lambda scores, mask=None, temperature=1.0: shares(hide(scores, mask) / temperature),
        "mask not used: Right without a mask; with one, a hidden key still has {hidden:.2f}.",
        lambda scores, mask=None, temperature=1.0: softmax(scores, temperature=temperature),
    ),
)
