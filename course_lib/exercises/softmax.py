"""The exercises of notebook 04: softmax."""

import numpy as np

from course_lib.attention import softmax
from course_lib.exercises.exercise import Exercise, Slip

EXERCISES = {}


def _shares(scores, axis=-1, maximum=np.max, maximum_axis=-1):
    """Softmax with room for slips: over any axis, with any number subtracted first."""
    powers = np.exp(scores - maximum(scores, axis=maximum_axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def _quiet_shares(powers):
    """Powers as shares; a row of zeros stays one."""
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def _nothing(scores, axis, keepdims):
    return 0.0


def _hide(scores, mask):
    return scores if mask is None else np.where(mask, scores, -np.inf)


def _odd_row_sum(got, want, *inputs):
    sums = np.sum(got, axis=-1)[np.sum(want, axis=-1) > 0.5]  # of the rows that see something
    return sums[np.abs(sums - 1).argmax()]


def _count_nan(got, want, *inputs):
    return np.isnan(got).sum()


def _hidden_weight(got, want, scores, mask, *temperature):
    return np.where(mask, 0, got).max()


_rng4 = np.random.default_rng(4)
_ordinary = _rng4.normal(size=(2, 3, 5))
_extreme = _rng4.normal(size=(3, 2, 4)) + [[1000], [-1000]]  # a high row and a low row each

EXERCISES["04-softmax"] = Exercise(
    reference=softmax,
    probes=[(_ordinary,), (_extreme,)],
    slips=[
        Slip(
            "no maximum subtracted",
            lambda scores: _shares(scores, maximum=_nothing),
            "Right for small scores, but with scores near 1000 and near -1000 your weights hold {number} nan. "
            "Print the powers of such scores.",
            _count_nan,
        ),
        Slip(
            "one maximum for all rows",
            lambda scores: _shares(scores, maximum_axis=None),
            "You subtract one number from all rows: in a row far below it every power is 0, and 0 / 0 gave {number} nan. "
            "Which number would suit that row?",
            _count_nan,
        ),
        Slip(
            "divided by the sum of the scores",
            lambda scores: scores / scores.sum(axis=-1, keepdims=True),
            "Your rows sum to 1, but the smallest weight is {number:.2f}. What makes a score positive before it is shared out?",
            lambda got, want, scores: np.min(got),
        ),
        Slip(
            "powers not divided",
            lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
            "Positive numbers in the right proportion, but not shares: one of your rows sums to {number:.2f}.",
            _odd_row_sum,
        ),
        Slip(
            "shares of the exponents",
            lambda scores: (
                (scores - scores.max(axis=-1, keepdims=True))
                / (scores - scores.max(axis=-1, keepdims=True)).sum(axis=-1, keepdims=True)
            ),
            "In your first row the largest score gets the weight {number:.2f}: after the maximum a step is missing.",
            lambda got, want, scores: abs(got[0, 0, scores[0, 0].argmax()]),
        ),
    ]
    + [
        Slip(
            f"softmax over {axes}{also}",
            lambda scores, axis=axis, subtract=subtract: _shares(scores, axis, subtract, axis),
            f"{look} {{number:.2f}}. The keys that share one query's attention lie along one axis: which?{then}",
            number,
        )
        for axes, axis, look, number in [
            ("the queries", -2, "Your columns sum to 1, and one of your rows to", _odd_row_sum),
            (
                "the first axis",
                0,
                "Along the first axis yours sum to 1, and one of your rows to",
                _odd_row_sum,
            ),
            (
                "the whole array",
                None,
                "All your weights together sum to 1, and one of your rows only to",
                _odd_row_sum,
            ),
        ]
        for also, subtract, then in [
            ("", np.max, ""),
            (", no maximum subtracted", _nothing, " And try scores of 1000 afterwards."),
        ]
    ],
)

_seen = _rng4.random(size=(2, 3, 5)) < 0.6
_seen[:, 0, 0], _seen[0, 1], _seen[1, 2, 1:3] = True, False, [True, False]  # one row with nothing to see
_peak_hidden = _extreme + [0, 0, 0, 2000]  # the largest score of every row is hidden
_prefix = np.arange(4) < np.array([3, 2, 1])[:, None, None]  # (3, 1, 4): the same for every query

EXERCISES["04-masked-softmax"] = Exercise(
    reference=lambda scores, mask: softmax(scores, mask=mask),
    probes=[(_ordinary, _seen), (_peak_hidden, _prefix)],
    slips=[
        Slip(
            "scores multiplied by the mask",
            lambda scores, mask: softmax(scores * mask),
            "A hidden key has a weight of {number:.2f}. You set its score to 0: what is exp(0)?",
            _hidden_weight,
        ),
        Slip(
            "zeroed after the softmax",
            lambda scores, mask: softmax(scores) * mask,
            "Hidden keys have weight 0, but a row that sees something sums to {number:.2f}: the share of its hidden keys is lost.",
            _odd_row_sum,
        ),
        Slip(
            "mask the wrong way round",
            lambda scores, mask: softmax(scores, mask=~mask),
            "The keys that may be looked at have no weight at all; a hidden one has {number:.2f}. What does True mean here?",
            _hidden_weight,
        ),
        Slip(
            "0/1 mask added",
            lambda scores, mask: softmax(scores + mask),
            "A hidden key still has a weight of {number:.2f}. You raise the visible scores by 1; that hides nothing.",
            _hidden_weight,
        ),
        Slip(
            "nan where there is nothing to see",
            lambda scores, mask: _shares(_hide(scores, mask)),
            "Right, except for {number} nan: in a row in which every key is hidden you subtract -inf from -inf.",
            _count_nan,
        ),
        Slip(
            "-1e9 instead of -inf",
            lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
            "Right where something may be looked at; in the row that may see nothing a key still gets {number:.2f}.",
            _hidden_weight,
        ),
        Slip(
            "-1e9 added",
            lambda scores, mask: softmax(np.where(mask, scores, scores - 1e9)),
            "Right where something may be looked at; the row that may see nothing has its unmasked weights back, up to "
            "{number:.2f}. Remember what adding one number to a whole row does.",
            _hidden_weight,
        ),
        Slip(
            "hidden keys set the maximum",
            lambda scores, mask: _quiet_shares(_shares(scores) * mask),
            "Right while the scores are near each other. Beside a hidden score that is 2000 higher all visible powers are 0 "
            "and your row sums to {number:.2f}: which keys may have a say in the maximum?",
            _odd_row_sum,
        ),
        Slip(
            "renormalised by 0",
            lambda scores, mask: _shares(scores) * mask / (_shares(scores) * mask).sum(-1, keepdims=True),
            "Where the visible weights sum to 0 you divide by it: {number} nan.",
            _count_nan,
        ),
        Slip(
            "no maximum subtracted",
            lambda scores, mask: _quiet_shares(np.exp(_hide(scores, mask))),
            "Right for small scores, but with scores near 1000 your weights hold {number} nan.",
            _count_nan,
        ),
        Slip(
            "no maximum subtracted, powers times mask",
            lambda scores, mask: _quiet_shares(np.exp(scores) * mask),
            "Right for small scores, but with scores near 1000 your weights hold {number} nan: inf / inf, and inf * 0 too.",
            _count_nan,
        ),
        Slip(
            "mask not used",
            lambda scores, mask: softmax(scores),
            "A hidden key has a weight of {number:.2f}: your mask does nothing.",
            _hidden_weight,
        ),
    ],
)

EXERCISES["04-temperature"] = Exercise(
    reference=lambda scores, mask, temperature: softmax(scores, mask=mask, temperature=temperature),
    probes=[(_ordinary, None, 2.0), (_ordinary, _seen, 0.5), (_extreme, None, 0.1)],
    slips=[
        Slip(
            "multiplied by the temperature",
            lambda scores, mask, temperature: softmax(scores * temperature, mask=mask),
            "At temperature 2 your largest weight is {number:.2f}, more than without: yours gets sharper where it should get flatter.",
            lambda got, want, *inputs: np.max(got),
        ),
        Slip(
            "temperature not used",
            lambda scores, mask, temperature: softmax(scores, mask=mask),
            "Your weights are those of temperature 1, off by {number:.2f}. Where does the temperature enter?",
        ),
        Slip(
            "weights divided by the temperature",
            lambda scores, mask, temperature: softmax(scores, mask=mask) / temperature,
            "At temperature 2 one of your rows sums to {number:.2f}. What should the temperature divide?",
            _odd_row_sum,
        ),
        Slip(
            "weights raised to 1/T",
            lambda scores, mask, temperature: softmax(scores, mask=mask) ** (1 / temperature),
            "The right proportions, but one of your rows sums to {number:.2f}.",
            _odd_row_sum,
        ),
        Slip(
            "maximum of the undivided scores",
            lambda scores, mask, temperature: _quiet_shares(
                np.exp(
                    _hide(scores, mask) / temperature
                    - np.maximum(_hide(scores, mask).max(axis=-1, keepdims=True), -1e300)
                )
            ),
            "Right, except for scores near 1000 at temperature 0.1: {number} nan. What is the largest exponent there?",
            _count_nan,
        ),
        Slip(
            "nan where there is nothing to see",
            lambda scores, mask, temperature: _shares(_hide(scores, mask) / temperature),
            "Right, except for {number} nan in the row that may see nothing.",
            _count_nan,
        ),
        Slip(
            "mask not used",
            lambda scores, mask, temperature: softmax(scores, temperature=temperature),
            "Right without a mask; with one, a hidden key still has a weight of {number:.2f}.",
            _hidden_weight,
        ),
    ],
)
