"""The panel of notebook 03: d_k and what the scores are divided by."""

import ipywidgets as widgets
import numpy as np

from course_lib import show
from course_lib.attention import softmax
from course_lib.explore.panel import Panel, View, bar, checked, choice, number

SCALES = {"none": lambda d_k: 1, "√d_k": lambda d_k: d_k**0.5, "d_k": lambda d_k: d_k}
YOURS = "yours"
N_KEYS = 64
COLUMNS = ["std of scores", "largest weight", "effective keys"]


def _spread(scores):
    """Standard deviation of the scores of one query, its largest weight, its effective number of keys."""
    weights = softmax(scores)
    seen = weights[weights > 0]  # 0 log 0 counts as 0
    return scores.std(), weights.max(), np.exp(-np.sum(seen * np.log(seen)))


def _room(scores):
    """How far the axis of the scores reaches: the next of a few steps."""
    largest = np.abs(scores).max()
    power = min(10 ** np.ceil(np.log10(largest + 1)), 1e307)
    return next((step for step in (0.3, 1, 3, 10, 30, 100) if largest <= step), power)


def _picture(scores, fair, d_k):
    """Scores and weights as bars; what the first m keys have together, also with fair scores."""
    weights, room = softmax(scores), _room(scores)
    places = {0: "1", 15: "16", 31: "32", 47: "48", 63: "64"}
    sides, many = (-1, N_KEYS), np.arange(N_KEYS + 1)
    together, thin = (np.append(0, np.cumsum(each)) for each in (weights, softmax(fair)))
    ends = {limit: f"{limit:.3g}" for limit in (-room, 0, room)}
    shares, halves = {0: "0", 0.5: "0.5", 1: "1"}, {0: "0", 32: "32", 64: "64"}

    def picture(x, y, title, xticks, yticks):
        return show.Picture(x, y, title, xticks=xticks, yticks=yticks, width=245, height=190)

    left = picture(sides, (-room, room), f"scores for d_k = {d_k}", places, ends)
    middle = picture(sides, (0, 1), "weights of the same keys", places, shares)
    right = picture((0, 64), (0, 1), "the first m keys; thin: √d_k", halves, shares)
    said = [
        f"from {show.number_text(each.max())} down to {show.number_text(each.min())}"
        for each in (scores, weights)
    ]
    left.bars(scores, "score", thick=0.7, says=f"{N_KEYS} keys, {said[0]}")
    middle.bars(weights, "weight", thick=0.7, says=f"{N_KEYS} keys, {said[1]}")
    first = np.argmax(together >= 0.5)
    half = f"half of the attention: the first {first}"
    right.line(np.stack([many, thin], axis=1), "ghost", width=1)
    right.line(np.stack([many, together], axis=1), "weight", width=2.5, closed=True, says=half)
    return left, middle, right


def scale(yours=None):
    """Slide d_k and choose what the scores are divided by; see one query share its attention over 64 keys.

    yours(Q, K) -> scores (n_q, n_k), a learner's own, becomes one more rule, and the first one shown.
    ->  Panel whose state is {"scores": (64,), "weights": (64,), "numbers": {rule: the three COLUMNS}}
    """

    @np.errstate(all="ignore")  # a learner's scores may be as large as they like
    def view(values):
        rule, d_k = values["rule"], values["d_k"]
        rng = np.random.default_rng(values["draw"])
        Q, K = rng.normal(size=(1, 256))[:, :d_k], rng.normal(size=(N_KEYS, 256))[:, :d_k]
        K = K[np.argsort(-(K @ Q[0]))]  # the key with the largest score first
        found = {name: (Q @ K.T)[0] / divisor(d_k) for name, divisor in SCALES.items()}
        if rule == YOURS:
            found[YOURS] = checked("scores", yours(Q, K), (1, N_KEYS))[0]
        numbers = {name: _spread(scores) for name, scores in found.items()}
        picked, title = list(numbers).index(rule), "one query, 64 keys, scores divided by"
        table = show.table(list(numbers.values()), numbers, COLUMNS, kind="plain", pick=picked, caption=title)
        seen = show.side_by_side(*_picture(found[rule], found["√d_k"], d_k), table)
        note = f"one query attends to {numbers[rule][2]:.2f} of {N_KEYS} keys, effectively"
        return View({"scores": found[rule], "weights": softmax(found[rule]), "numbers": numbers}, seen, note)

    rules = [*SCALES, YOURS] if yours else [*SCALES]
    d_k = widgets.SelectionSlider(
        options=[2**i for i in range(9)],
        value=16 if yours else N_KEYS,  # square keys would hide a missing .T
        description="d_k",
        tooltip="d_k",
        readout=False,  # it would take typing and ignore it: the picture says d_k
    )
    controls = {
        "d_k": d_k,
        "rule": choice("divide by", rules, rules[-1] if yours else "none"),
        "draw": number("draw"),
    }
    standard = lambda values: view({**values, "rule": "√d_k"})  # noqa: E731  the library's rule
    return Panel("d_k and the scale of scores", controls, view, [bar(*controls.values())], standard=standard)
