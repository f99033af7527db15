"""The panel of notebook 05: the weighted sum in the hull of the values."""

import itertools

import ipywidgets as widgets
import numpy as np
from matplotlib.patches import Polygon

from course_lib import show
from course_lib.attention import softmax, weighted_sum
from course_lib.explore.panel import Panel, View, labels, reset_button

NORMALIZERS = {
    "softmax": softmax,
    "sigmoid": lambda scores: 1 / (1 + np.exp(-scores)),
    "none": lambda scores: scores,
}


def hull(tokens, V, scores, mix=weighted_sum):
    """The scores of one query as sliders; where its output b lies among the values, what each value contributes.

    tokens: 3 to 6 of them, V (n, 2) not all on one line, scores (n,) to begin with, mix(weights, V) -> output,
    called with weights (1, n).  ->  Panel whose state is {"weights", "contributions", "output", "inside"}
    ValueError for other numbers of tokens or for values on a line.
    """
    V, begin = np.array(V, dtype=float), np.clip(np.round(scores, 1), -3, 3)
    n = len(tokens)
    if not 3 <= n <= 6 or V.shape != (n, 2) or begin.shape != (n,):
        raise ValueError(
            "this panel has room for 3 to 6 tokens with values of 2 numbers and a score each, "
            f"not {n} tokens with V of shape {V.shape} and scores of shape {begin.shape}"
        )
    corners = [np.vstack([V[list(three)].T, np.ones(3)]) for three in itertools.combinations(range(n), 3)]
    corners = [corner for corner in corners if abs(np.linalg.det(corner)) > 1e-9]
    if not corners:
        raise ValueError("these values lie on one line: their hull has no inside")
    names, lengths = labels(tokens), np.hypot(*V.T)

    canvas = show.Canvas(400, 400)
    plane = canvas.axes[0]
    canvas.figure.subplots_adjust(left=0.07, right=0.99, bottom=0.06, top=0.93)
    show.plane(plane, 1.8 * np.abs(V).max())
    plane.set_title("values v;  shares of them, end to end;  b", fontsize=10)
    for corner in corners:  # the hull of points is the union of their triangles
        plane.add_patch(Polygon(corner[:2].T, facecolor="#eeeeee", edgecolor="#eeeeee", zorder=0))
    show.arrows(plane, V, [f"v{i}" for i in range(1, n + 1)], color=show.PURPLE, alpha=0.35)

    def draw(shares, b):
        stops = np.cumsum([np.zeros(2), *shares], axis=0)
        yield from show.arrows(plane, [b], ["b"], color="black")
        yield plane.plot(*stops.T, "o-", color=show.ORANGE, linewidth=1.5, markersize=4)[0]

    def view(values, mix=mix):
        alpha = np.array([values[f"score {i}"] for i in range(1, n + 1)])
        weights = NORMALIZERS[values["normalizer"]](alpha)
        b = _checked_output(mix(weights[None].copy(), V.copy()))
        contributions = np.abs(weights) * lengths
        inside = any((np.linalg.solve(corner, [*b, 1]) > -1e-9).all() for corner in corners)
        tables = show.side_by_side(
            show.table(weights[:, None], names, ["weight α′"], kind="weights"),
            show.table(
                np.stack([lengths, contributions], axis=1),
                labels(tokens, 6),
                ["|v|", "|α′|·|v|"],
                kind="plain",
            ),
        )
        x, y = np.round(b, 2) + 0.0  # + 0.0 turns -0.0 into 0.0
        state = {"weights": weights, "contributions": contributions, "output": b, "inside": inside}
        return View(
            state,
            tables,
            canvas.paint(lambda: draw(weights[:, None] * V, b)),
            f"weights sum to {weights.sum():.2f}; b = ({x:.2f}, {y:.2f}) is "
            f"{'inside' if inside else 'OUTSIDE'} the hull of the values",
        )

    sliders = {
        f"score {i}": widgets.FloatSlider(
            value=score,
            min=-3,
            max=3,
            step=0.1,
            description=name,
            readout_format=".1f",
            tooltip=f"score of {name}",
            style={"description_width": "76px"},
            layout=widgets.Layout(width="350px", height="28px", margin="0"),
        )
        for i, (name, score) in enumerate(zip(names, begin), 1)
    }
    controls = {
        "normalizer": widgets.Dropdown(
            options=[*NORMALIZERS],
            description="weights by",
            style={"description_width": "72px"},
            layout=widgets.Layout(width="200px"),
        ),
        **sliders,
    }
    first = view({name: control.value for name, control in controls.items()}, weighted_sum)
    panel = Panel("Where b lies among the values", controls, view, [], canvas=canvas, height=480, first=first)
    top = widgets.HBox([controls["normalizer"], reset_button(lambda: panel)])
    right = widgets.VBox([*sliders.values(), panel.tables], layout=widgets.Layout(width="370px"))
    panel.children = [top, widgets.HBox([panel.picture, right]), panel.status]
    return panel


def _checked_output(result):
    """The (1, 2) output of a learner's function as 2 numbers, or a ValueError that says what is wrong."""
    if result is None:
        raise ValueError("your function returned None: is it still a stub?")
    result = np.asarray(result)
    if result.shape != (1, 2):
        raise ValueError(f"for weights (1, n) and V (n, 2) your output has shape {result.shape}, not (1, 2)")
    if result.dtype.kind not in "biuf" or not np.isfinite(result).all():
        raise ValueError("your output holds entries that are not finite numbers")
    return result[0].astype(float)
