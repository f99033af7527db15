"""The panel of notebook 02: the matrices W_q, W_k, W_v."""

import ipywidgets as widgets
import numpy as np

from course_lib import data, show
from course_lib.attention import Attention, causal_mask, self_attention
from course_lib.explore.panel import WIDTH, Panel, View, checked_attention, labels, reset_button

OWN = "your own"
MATRICES = ("W_q", "W_k", "W_v")


def _rotated(W):
    return np.stack([-W[:, 1], W[:, 0]], axis=1)  # every row turned by 90 degrees


PRESETS = {  # each takes the matrices the panel began with
    "the course's": lambda W_q, W_k, W_v: (W_q, W_k, W_v),
    "identity: all three equal": lambda W_q, W_k, W_v: 3 * [np.eye(*W_q.shape)],
    "swap W_q and W_k": lambda W_q, W_k, W_v: (W_k, W_q, W_v),
    "zero W_q": lambda W_q, W_k, W_v: (0 * W_q, W_k, W_v),
    "rotate W_q and W_k": lambda W_q, W_k, W_v: (_rotated(W_q), _rotated(W_k), W_v),
    "sharpen: W_q times 3": lambda W_q, W_k, W_v: (np.clip(3 * W_q, -3, 3), W_k, W_v),
}


def _entries(matrices):
    return {
        f"{name}[{i},{j}]": float(W[i, j])
        for name, W in zip(MATRICES, matrices)
        for i, j in np.ndindex(W.shape)
    }


def qkv(tokens, X, attend=self_attention):
    """Every entry of W_q, W_k and W_v as a slider; q, k, v as arrows, alpha, alpha' and b as tables.

    tokens: 2 to 6 of them, X (n, d) with d from 1 to 4, attend(X, W_q, W_k, W_v) -> Attention, called with
    mask= and scaled= only where their switches say so.  ->  Panel whose state is an Attention
    ValueError for other numbers of tokens or features.
    """
    X = np.array(X, dtype=float)
    if X.ndim != 2 or not (2 <= len(X) <= 6 and 1 <= X.shape[1] <= 4) or len(tokens) != len(X):
        raise ValueError(
            "this panel has room for 2 to 6 tokens with 1 to 4 features each, "
            f"not {len(tokens)} tokens with X of shape {X.shape}"
        )
    n, d = X.shape
    example = data.saw()[3:]  # W_q, W_k, W_v
    begin = example if d == 3 else list(np.random.default_rng(0).integers(-2, 3, (3, d, 2)).astype(float))
    base = self_attention(X, *begin)
    names, short = labels(tokens), labels(tokens, 6 if n < 5 else 5)
    marks = [[f"{letter}{i}" for i in range(1, n + 1)] for letter in "qkv"]

    canvas = show.Canvas(WIDTH, 230, 3)
    for axes, title, ghost in zip(
        canvas.axes, ("q  looks for", "k  is found by", "v  gives   (b gets)"), base[:3]
    ):
        show.plane(axes, 4, title)
        show.arrows(axes, ghost, color=show.GRAY, alpha=0.35)

    def draw(attention, query):
        for axes, vectors, mark, color in zip(
            canvas.axes, attention, marks, (show.BLUE, show.ORANGE, show.PURPLE)
        ):
            picked = color == show.BLUE and np.arange(n) == query
            yield from show.arrows(axes, vectors, mark, color=color, width=np.where(picked, 1.6, 1))
        yield from show.arrows(canvas.axes[2], base.output[[query]], color=show.GRAY, alpha=0.35, width=1.6)
        yield from show.arrows(
            canvas.axes[2], attention.output[[query]], [f"b{query + 1}"], color="black", width=1.6
        )

    def view(values, attend=attend):
        matrices = [
            np.array([[values[f"{name}[{i},{j}]"] for j in range(2)] for i in range(d)]) for name in MATRICES
        ]
        options = {} if values["scaled"] else {"scaled": False}
        if values["causal"]:
            options["mask"] = causal_mask(n)
        attention = checked_attention(attend(X.copy(), *matrices, **options), base)
        query, root = values["query"], " / √2" if values["scaled"] else ""
        tables = show.side_by_side(
            show.table(attention.scores, names, short, caption=f"scores α = q·k{root}", limit=6, pick=query),
            show.table(
                attention.weights,
                None,
                short,
                caption="weights α′: rows sum to 1",
                kind="weights",
                pick=query,
            ),
            show.table(attention.output, caption="output b = α′ V", limit=4, pick=query),
        )
        moved = [
            name for name, now, then in zip(Attention._fields, attention, base) if not np.allclose(now, then)
        ]
        return View(
            attention,
            tables,
            canvas.paint(lambda: draw(attention, query)),
            f"moved from the grey ghost: {', '.join(moved) or 'nothing'}",
        )

    def from_preset(name):
        return lambda values: _entries(PRESETS[name](*begin))

    def at_random(values):
        return _entries(np.random.default_rng(values["seed"]).normal(size=(3, d, 2)).round(1).clip(-3, 3))

    sliders = {
        name: widgets.FloatSlider(
            value=value,
            min=-3,
            max=3,
            step=0.1,
            description=name[4:-1],
            readout_format=".1f",
            tooltip=name,
            style={"description_width": "22px"},
            layout=widgets.Layout(width="122px", height="26px", margin="0"),
        )
        for name, value in _entries(begin).items()
    }
    presets = {**{name: from_preset(name) for name in PRESETS}, "random": at_random}
    switch = dict(indent=False, layout=widgets.Layout(width="74px"))
    controls = {
        "preset": widgets.Dropdown(
            options=[*presets, OWN],
            description="preset",
            style={"description_width": "44px"},
            layout=widgets.Layout(width="236px"),
        ),
        "seed": widgets.BoundedIntText(
            0,
            0,
            999,
            description="seed",
            style={"description_width": "34px"},
            layout=widgets.Layout(width="92px"),
        ),
        "query": widgets.Dropdown(
            options=[(name, i) for i, name in enumerate(names)],
            value=min(1, n - 1),
            description="query",
            style={"description_width": "40px"},
            layout=widgets.Layout(width="140px"),
        ),
        "scaled": widgets.Checkbox(True, description="scaled", **switch),
        "causal": widgets.Checkbox(False, description="causal", **switch),
        **sliders,
    }

    def block(name):
        entries = [slider for key, slider in sliders.items() if key.startswith(name)]
        return widgets.VBox(
            [
                widgets.HTML(f"<b>{name}</b>", layout=widgets.Layout(height="20px", margin="0 0 0 28px")),
                widgets.GridBox(entries, layout=widgets.Layout(grid_template_columns="130px 130px")),
            ],
            layout=widgets.Layout(width="260px"),
        )

    top = widgets.HBox(
        [controls[name] for name in ("preset", "seed", "query", "scaled", "causal")]
        + [reset_button(lambda: panel)]
    )
    first = view({name: control.value for name, control in controls.items()}, self_attention)
    panel = Panel(
        "W_q, W_k and W_v",
        controls,
        view,
        [top, widgets.HBox([block(name) for name in MATRICES])],
        canvas=canvas,
        height=560,
        presets=presets,
        first=first,
    )
    return panel
