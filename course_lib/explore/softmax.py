"""The panel of notebook 04: from scores to weights."""

from typing import NamedTuple

import ipywidgets as widgets
import numpy as np
from matplotlib.collections import PolyCollection

from course_lib import show
from course_lib.attention import causal_mask, padding_mask, softmax
from course_lib.explore.panel import WIDTH, Panel, View, labels, reset_button


class Shares(NamedTuple):
    """What goes into a normaliser and what comes out."""

    scores: np.ndarray  # (n, n)  alpha, -inf where hidden
    weights: np.ndarray  # (n, n)  alpha'


def _divided(powers):
    return powers / powers.sum(axis=-1, keepdims=True)


OTHER_NORMALIZERS = {  # beside softmax, a hidden score is -inf here too
    "ReLU / sum": lambda scores: _divided(np.maximum(scores, 0)),
    "sigmoid": lambda scores: 1 / (1 + np.exp(-scores)),
    "divide by sum": lambda scores: _divided(np.where(scores == -np.inf, 0, scores)),
}


def _properties(shares):
    """One line: what the weights keep of what one expects of shares."""
    scores, weights = shares
    seen = np.isfinite(scores)
    higher = (scores[:, :, None] > scores[:, None, :]) & (seen[:, :, None] & seen[:, None, :])
    kept = {
        "nothing below 0": (weights >= 0).all(),
        "rows sum to 1": np.allclose(weights.sum(axis=-1), 1),
        "larger score, larger weight": (weights[:, :, None] > weights[:, None, :])[higher].all(),
    }
    undefined = np.isnan(weights).any(axis=-1).sum()
    return " · ".join(
        [f"{name}: {'yes' if holds else 'NO'}" for name, holds in kept.items()]
        + [f"rows with nan: {undefined}"] * bool(undefined)
    )


def _bars(axes, heights, color, *, width=0.6, alpha=1.0):
    """Bars at 0, 1, 2 ... as one artist; a height of nan or -inf gets none."""
    heights = np.nan_to_num(heights, nan=0, neginf=0, posinf=99)
    left, right = (np.arange(len(heights)) + side * width / 2 for side in (-1, 1))
    zero = np.zeros(len(heights))
    corners = np.stack([[left, zero], [left, heights], [right, heights], [right, zero]])  # (4, 2, n)
    return axes.add_collection(
        PolyCollection(corners.transpose(2, 0, 1), facecolor=color, alpha=alpha), autolim=False
    )


def normalizers(tokens, scores, normalize=softmax):
    """Temperature, normaliser and mask on one table of scores: weights as a table, and as bars for the picked query.

    tokens: 2 to 6 of them, scores (n, n), normalize(scores) -> weights (n, n), called with mask= and temperature= only
    where the controls say so.  ->  Panel whose state is Shares
    ValueError for another number of tokens or scores that do not fit.
    """
    alpha, n = np.array(scores, dtype=float), len(tokens)
    if not 2 <= n <= 6 or alpha.shape != (n, n):
        raise ValueError(
            f"this panel has room for 2 to 6 tokens, not {n} tokens with scores of shape {alpha.shape}"
        )
    names, short, plain = labels(tokens), labels(tokens, 6 if n < 5 else 4), softmax(alpha)
    masks = {
        "none": np.full((n, n), True),
        "causal": causal_mask(n),
        "padding: last token": padding_mask(n - 1, n),
    }

    canvas = show.Canvas(WIDTH, 210, 2)
    for axes, title, ticks in zip(
        canvas.axes, ("scores of the picked query", "its weights"), ((-5, 0, 5), (-1, 0, 1, 2))
    ):
        axes.set(title=title, xlim=(-0.6, n - 0.4), ylim=(ticks[0], ticks[-1]), xticks=range(n), yticks=ticks)
        axes.set_xticklabels(short)
        axes.grid(axis="y", alpha=0.3)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.title.set_size(9)
        axes.tick_params(labelsize=8, length=0)

    def draw(shares, query):
        yield _bars(canvas.axes[0], alpha[query], show.GRAY, width=0.85, alpha=0.35)
        yield _bars(canvas.axes[1], plain[query], show.GRAY, width=0.85, alpha=0.35)
        yield _bars(canvas.axes[0], shares.scores[query], show.BLUE)
        yield _bars(canvas.axes[1], shares.weights[query], show.ORANGE)

    @np.errstate(all="ignore")  # 0 / 0 is one of the things to see here
    def view(values, normalize=normalize):
        mask, temperature, shifted = masks[values["mask"]], values["temperature"], alpha + values["shift"]
        hidden = np.where(mask, shifted, -np.inf)
        if values["normalizer"] == "softmax":
            options = {"mask": mask.copy()} if values["mask"] != "none" else {}
            if temperature != 1:
                options["temperature"] = temperature
            weights = _checked_weights(normalize(shifted, **options), (n, n))
        else:
            weights = OTHER_NORMALIZERS[values["normalizer"]](hidden / temperature)
        shares = Shares(hidden, weights)
        tables = show.side_by_side(
            show.table(hidden, names, short, caption="scores α", limit=6, pick=values["query"]),
            show.table(
                np.column_stack([weights, weights.sum(axis=-1)]),
                names,
                [*short, "sum"],
                kind="weights",
                caption=f"weights α′: {values['normalizer']}",
                pick=values["query"],
            ),
        )
        return View(shares, tables, canvas.paint(lambda: draw(shares, values["query"])), _properties(shares))

    def dropdown(name, options, width, value=None):
        return widgets.Dropdown(
            options=options,
            value=value,
            description=name,
            layout=widgets.Layout(width=width),
            style={"description_width": "initial"},
        )

    def slider(name, low, high, step, value):
        return widgets.FloatSlider(
            value,
            min=low,
            max=high,
            step=step,
            description=name,
            readout_format=".2f",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="356px", margin="2px 16px 2px 2px"),
        )

    controls = {
        "normalizer": dropdown("normaliser", ["softmax", *OTHER_NORMALIZERS], "230px", "softmax"),
        "mask": dropdown("mask", list(masks), "220px", "none"),
        "query": dropdown("query", [(name, i) for i, name in enumerate(names)], "160px", 1),
        "temperature": slider("temperature", 0.1, 5, 0.1, 1),
        "shift": slider("add to every score", -3, 3, 0.25, 0),
    }
    first = view({name: control.value for name, control in controls.items()}, softmax)
    panel = Panel(
        "From scores to weights",
        controls,
        view,
        [
            widgets.HBox(
                [*(controls[name] for name in ("normalizer", "mask", "query")), reset_button(lambda: panel)]
            ),
            widgets.HBox([controls[name] for name in ("temperature", "shift")]),
        ],
        canvas=canvas,
        height=360 + 22 * n,
        first=first,
    )
    return panel


def _checked_weights(result, shape):
    """What a learner's softmax returned as an array, nan and all, or a ValueError."""
    if result is None:
        raise ValueError("your function returned None: is it still a stub?")
    weights = np.asarray(result)
    if weights.shape != shape or weights.dtype.kind not in "biuf":
        raise ValueError(
            f"your weights have shape {weights.shape} of {weights.dtype}, they should have {shape} of numbers"
        )
    return weights.astype(float)
