"""The panel of notebook 02 (and 00, 05): every entry of W_q, W_k and W_v on a slider."""

import functools

import numpy as np

from course_lib import data, show
from course_lib.attention import Attention, causal_mask, self_attention
from course_lib.explore import panel
from course_lib.explore.panel import Panel, View

MATRICES = ("W_q", "W_k", "W_v")
OWN = "your own"
TITLES = ("q: looks for", "k: is found by", "v: gives; b: gets")
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


def _planes(now, base, query):
    """q, k and v as arrows, with the ghosts of `base`; the output of one query among the values."""
    values = [now.V, base.V, now.output[[query]], base.output[[query]]]
    looks, found, gives = (show.room(*each) for each in (now[:2] + base[:2], now[:2] + base[:2], values))
    drawn = []
    for limit, title, color, vectors, ghosts in zip((looks, found, gives), TITLES, show.COLORS, now, base):
        marks = [f"{title[0]}{i}" for i in range(1, len(vectors) + 1)]
        thick = np.where(np.arange(len(vectors)) == query, 1.7, 1) if color == "query" else 1
        drawn.append(show.plane(limit, title).arrows(ghosts).arrows(vectors, marks, color, width=thick))
    drawn[2].arrows(values[3]).arrows(values[2], [f"b{query + 1}"], "output", width=1.7)
    return show.side_by_side(*drawn)


def qkv(tokens, X, attend=self_attention):
    """Every entry of W_q, W_k and W_v as a slider; q, k, v as arrows, alpha, alpha' and b as tables.

    tokens: 2 to 6 of them, X (n, d) with d from 1 to 4, attend(X, W_q, W_k, W_v) -> Attention, called with
    mask= and scaled= only where their switches say so.  ->  Panel whose state is an Attention
    ValueError for other numbers of tokens or features.
    """
    X, n = np.array(X, dtype=float), len(tokens)
    if X.ndim != 2 or not (2 <= n <= 6 and 1 <= X.shape[1] <= 4) or n != len(X):
        wanted = "this panel has room for 2 to 6 tokens with 1 to 4 features each"
        raise ValueError(f"{wanted}, not {n} tokens with X of shape {X.shape}")
    d, (_, features, _, *begin) = X.shape[1], data.saw()
    if d != len(features):
        features = [f"x{i}" for i in range(1, d + 1)]
        begin = list(np.random.default_rng(0).integers(-2, 3, (3, d, 2)).astype(float))
    base, names = self_attention(X, *begin), panel.labels(tokens)

    def view(values, attend=attend):
        matrices = np.reshape([values[name] for name in entries], (3, d, 2))
        options = {} if values["scaled"] else {"scaled": False}
        if values["causal"]:
            options["mask"] = causal_mask(n)
        now = panel.checked_attention(attend(X.copy(), *matrices, **options), base)
        query, root = values["query"], " / √2" if values["scaled"] else ""
        tables = show.side_by_side(
            show.table(now.scores, names, names, caption=f"scores α = q·k{root}", pick=query),
            show.table(now.weights, names, names, caption="weights α′", kind="weights", pick=query),
            show.table(now.output, names, caption="output b = α′ V", pick=query),
        )
        moved = [name for name, a, b in zip(Attention._fields, now, base) if np.abs(a - b).max() > 1e-9]
        note = f"moved from the gray ghost: {', '.join(moved) or 'nothing'}"
        return View(now, show.stacked(_planes(now, base, query), tables), note)

    def follow(now, changes):
        if {"preset", "W_q[0,0]"} <= changes.keys():
            return {}  # a reset: it says all itself
        if changes.keys() & entries.keys():
            return {"preset": OWN}
        name = "random" if "seed" in changes else changes.get("preset")
        if name == "random":
            drawn = np.random.default_rng(now["seed"]).normal(size=(3, d, 2)).round(1).clip(-3, 3)
            return {"preset": name, **_entries(drawn)}
        return _entries(PRESETS[name](*begin)) if name in PRESETS else {}

    entries = {  # "W_q[0,0]" is said as "W_q, deed, column 1"
        name: panel.slider(
            f"{name[:3]}, {features[int(name[4])]}, column {int(name[6]) + 1}", -3, 3, 0.1, value, ""
        )
        for name, value in _entries(begin).items()
    }
    queries = [(name, i) for i, name in enumerate(names)]
    top = {
        "preset": panel.choice("preset", [*PRESETS, "random", OWN]),
        "seed": panel.number("seed"),
        "query": panel.choice("query", queries, min(1, n - 1)),
        "scaled": panel.switch("scaled", True),
        "causal": panel.switch("causal"),
    }
    parts = [list(entries.values())[2 * d * i : 2 * d * (i + 1)] for i in range(3)]
    rows = [
        panel.bar(*top.values()),
        panel.bar(*(panel.matrix(*each, features) for each in zip(MATRICES, parts))),
    ]
    standard = functools.partial(view, attend=self_attention)
    return Panel("W_q, W_k and W_v", {**top, **entries}, view, rows, standard=standard, follow=follow)
