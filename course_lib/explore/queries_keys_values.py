"""The panel of notebook 02 (and 00, 05): every entry of W_q, W_k and W_v on a slider."""

import ipywidgets as widgets
import numpy as np

from course_lib import data, show
from course_lib.attention import Attention, causal_mask, self_attention
from course_lib.explore.panel import (
    Panel,
    View,
    bar,
    checked_attention,
    choice,
    labels,
    number,
    slider,
    switch,
)

MATRICES = ("W_q", "W_k", "W_v")
OWN = "your own"
PRESETS = {  # each takes the matrices the panel began with
    "the course's": lambda W_q, W_k, W_v: (W_q, W_k, W_v),
    "identity: all three equal": lambda W_q, W_k, W_v: 3 * [np.eye(*W_q.shape)],
    "swap W_q and W_k": lambda W_q, W_k, W_v: (W_k, W_q, W_v),
    "zero W_q": lambda W_q, W_k, W_v: (0 * W_q, W_k, W_v),
    "rotate W_q and W_k": lambda W_q, W_k, W_v: (_rotated(W_q), _rotated(W_k), W_v),
    "sharpen: W_q times 3": lambda W_q, W_k, W_v: (np.clip(3 * W_q, -3, 3), W_k, W_v),
}


def _rotated(W):
    return np.stack([-W[:, 1], W[:, 0]], axis=1)  # every row turned by 90 degrees


def _entries(matrices):
    """{"W_q[0,0]": number} for every entry of the three matrices."""
    named = zip(MATRICES, matrices)
    return {f"{name}[{i},{j}]": float(W[i, j]) for name, W in named for i, j in np.ndindex(W.shape)}


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
    example = data.saw()
    begin, features = [example.W_q, example.W_k, example.W_v], example.features
    if d != len(features):
        begin = list(np.random.default_rng(0).integers(-2, 3, (3, d, 2)).astype(float))
        features = [f"x{i}" for i in range(1, d + 1)]
    base, names = self_attention(X, *begin), labels(tokens)
    marks = [[f"{letter}{i}" for i in range(1, n + 1)] for letter in "qkv"]

    def picture(attention, query):
        wide = show.room(*attention[:2], *base[:2])
        near = show.room(attention.V, attention.output[query], base.V, base.output[query])
        titles = (
            "q: what each looks for",
            "k: what each is found by",
            "v: what each gives; b: what one gets",
        )
        planes = [show.plane(limit, title) for limit, title in zip((wide, wide, near), titles)]
        for plane, ghost, vectors, words, color in zip(
            planes, base, attention, marks, ("query", "key", "value")
        ):
            thick = np.where(np.arange(n) == query, 1.7, 1) if color == "query" else 1
            plane.arrows(ghost).arrows(vectors, words, color, width=thick)
        planes[2].arrows(base.output[[query]]).arrows(
            attention.output[[query]], [f"b{query + 1}"], "output", width=1.7
        )
        return planes

    def view(values, attend=attend):
        matrices = [
            np.array([[values[f"{name}[{i},{j}]"] for j in range(2)] for i in range(d)]) for name in MATRICES
        ]
        options = {} if values["scaled"] else {"scaled": False}
        if values["causal"]:
            options["mask"] = causal_mask(n)
        attention = checked_attention(attend(X.copy(), *matrices, **options), base)
        query, root = values["query"], " / √2" if values["scaled"] else ""
        tables = (
            show.table(attention.scores, names, names, caption=f"scores α = q·k{root}", pick=query),
            show.table(attention.weights, names, names, caption="weights α′", kind="weights", pick=query),
            show.table(attention.output, names, caption="output b = α′ V", pick=query),
        )
        moved = [
            name
            for name, now, then in zip(Attention._fields, attention, base)
            if np.abs(now - then).max() > 1e-9
        ]
        note = f"moved from the grey ghost: {', '.join(moved) or 'nothing'}"
        return View(attention, show.side_by_side(*picture(attention, query), *tables), note)

    def follow(now, changes):
        if "preset" in changes and len(changes) > 1 or not changes.keys() & {"preset", "seed", *entries}:
            return {}  # a reset says all itself
        if changes.keys() & entries.keys():
            return {"preset": OWN}
        name = "random" if "seed" in changes else now["preset"]
        if name == "random":
            drawn = np.random.default_rng(now["seed"]).normal(size=(3, d, 2)).round(1).clip(-3, 3)
            return {"preset": name, **_entries(drawn)}
        return _entries(PRESETS[name](*begin)) if name in PRESETS else {}

    entries = {
        key: slider(
            f"{key[:3]}, {features[int(key[4])]}, column {int(key[6]) + 1}", -3, 3, 0.1, value, word=""
        )
        for key, value in _entries(begin).items()
    }
    controls = {
        "preset": choice("preset", [*PRESETS, "random", OWN]),
        "seed": number("seed"),
        "query": choice("query", [(name, i) for i, name in enumerate(names)], min(1, n - 1)),
        "scaled": switch("scaled", True),
        "causal": switch("causal"),
        **entries,
    }

    def block(name):
        """One matrix: its name and columns, then a row of sliders for each feature."""
        head = [name, "1", "2"]
        cells = [widgets.HTML(f"<b>{word}</b>") for word in head]
        for i, feature in enumerate(features):
            cells += [widgets.HTML(feature), *(entries[f"{name}[{i},{j}]"] for j in range(2))]
        grid = widgets.Box(cells)
        grid.add_class("course-matrix")
        return grid

    top = bar(*(controls[name] for name in ("preset", "seed", "query", "scaled", "causal")))
    rows = [top, bar(*map(block, MATRICES))]
    standard = lambda values: view(values, self_attention)  # noqa: E731
    return Panel("W_q, W_k and W_v", controls, view, rows, standard=standard, follow=follow)
