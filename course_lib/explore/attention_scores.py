"""The panel of notebook 03: d_k and what the scores are divided by."""

import ipywidgets as widgets
import numpy as np

from course_lib import show
from course_lib.attention import softmax
from course_lib.explore.panel import WIDTH, Panel, View, reset_button

SCALES = {"none": lambda d_k: 1, "√d_k": lambda d_k: d_k**0.5, "d_k": lambda d_k: d_k}
YOURS = "yours"
N_KEYS = 64


def _spread(scores):
    """Standard deviation of the scores of one query, its largest weight, its effective number of keys."""
    weights = softmax(scores)
    seen = weights[weights > 0]  # 0 log 0 counts as 0
    return scores.std(), weights.max(), np.exp(-np.sum(seen * np.log(seen)))


def scale(yours=None):
    """Slide d_k and choose what the scores are divided by; see one query share its attention over 64 keys.

    yours(Q, K) -> scores (n_q, n_k), the learner's own function, becomes one more rule, and the first one shown.
    ->  Panel whose state is {"scores": (64,), "weights": (64,), "numbers": {rule: std, largest weight, effective keys}}
    """
    canvas = show.Canvas(WIDTH, 270, 3)
    canvas.figure.subplots_adjust(left=0.05)
    titles = "scores, the largest first", "weights of the same keys", "share of the first m keys together"
    for axes, title, limits in zip(canvas.axes, titles, ((-50, 50), (0, 1), (0, 1.02))):
        axes.set(xlim=(0, N_KEYS + 1), ylim=limits, xticks=[1, 16, 32, 48, 64])
        axes.set_title(title, fontsize=9)
        axes.tick_params(labelsize=8, color="#999999", labelcolor="#666666", length=2)
        axes.spines[:].set_color("#dddddd")
    canvas.axes[2].plot([0, N_KEYS], [0, 1], color="#999999", linewidth=1)
    canvas.axes[2].text(
        N_KEYS,
        0.06,
        "grey curve: root of d_k\ngrey line: equal shares",
        ha="right",
        fontsize=7.5,
        color="#666666",
    )
    places = np.arange(N_KEYS + 1)

    def draw(scores, fair):
        left, middle, right = canvas.axes
        yield left.vlines(places[1:], 0, scores, color=show.BLUE, linewidth=2)
        yield middle.vlines(places[1:], 0, softmax(scores), color=show.PURPLE, linewidth=2)
        for values, color, width in ((fair, show.GRAY, 1), (scores, show.PURPLE, 2)):
            yield right.plot(places, np.append(0, np.cumsum(softmax(values))), color=color, linewidth=width)[
                0
            ]

    def view(values, rule=None):
        rule, d_k = rule or values["rule"], values["d_k"]
        rng = np.random.default_rng(values["draw"])
        Q, K = rng.normal(size=(1, 256))[:, :d_k], rng.normal(size=(N_KEYS, 256))[:, :d_k]
        K = K[np.argsort(-(K @ Q[0]))]  # the key with the largest score first
        found = {name: (Q @ K.T)[0] / divisor(d_k) for name, divisor in SCALES.items()}
        if rule == YOURS:
            found[YOURS] = _checked_scores(yours(Q.copy(), K.copy()))
        numbers = {name: _spread(scores) for name, scores in found.items()}
        table = show.table(
            list(numbers.values()),
            [f"divided by {name}" if name != YOURS else name for name in numbers],
            ["std of scores", "largest weight", "effective keys"],
            kind="plain",
            pick=list(numbers).index(rule),
            caption=f"d_k = {d_k}: one query, {N_KEYS} keys",
        )
        state = {"scores": found[rule], "weights": softmax(found[rule]), "numbers": numbers}
        return View(
            state,
            table,
            canvas.paint(lambda: draw(found[rule], found["√d_k"])),
            f"one query attends to {numbers[rule][2]:.2f} of {N_KEYS} keys, effectively",
        )

    rules = [*SCALES, *([YOURS] if yours else [])]
    controls = {
        "d_k": widgets.SelectionSlider(
            options=[2**i for i in range(9)],
            description="d_k",
            value=16 if yours else N_KEYS,  # square keys would hide a missing .T
            style={"description_width": "34px"},
            layout=widgets.Layout(width="280px"),
        ),
        "rule": widgets.Dropdown(
            options=rules,
            value=rules[-1] if yours else "none",
            description="divide by",
            style={"description_width": "64px"},
            layout=widgets.Layout(width="180px"),
        ),
        "draw": widgets.BoundedIntText(
            0,
            0,
            999,
            description="draw",
            style={"description_width": "34px"},
            layout=widgets.Layout(width="92px"),
        ),
    }
    first = view({name: control.value for name, control in controls.items()}, "√d_k")
    panel = Panel(
        "d_k and the scale of scores",
        controls,
        view,
        [widgets.HBox([*controls.values(), reset_button(lambda: panel)])],
        canvas=canvas,
        height=490,
        first=first,
    )
    return panel


def _checked_scores(result):
    """The (1, 64) scores of a learner's function as 64 numbers, or a ValueError that says what is wrong."""
    if result is None:
        raise ValueError("your function returned None: is it still a stub?")
    result = np.asarray(result)
    if result.shape != (1, N_KEYS):
        raise ValueError(
            f"1 query and {N_KEYS} keys need scores of shape {(1, N_KEYS)}, yours have {result.shape}"
        )
    if result.dtype.kind not in "iuf" or not np.isfinite(result).all():
        raise ValueError("your scores hold entries that are not finite numbers")
    return result[0].astype(float)
