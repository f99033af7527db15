"""The panel of notebook 07: several heads, and ways to put them together."""

import ipywidgets as widgets
import numpy as np
from matplotlib.collections import LineCollection

from course_lib import show
from course_lib.attention import project, scores, softmax, weighted_sum
from course_lib.explore.panel import WIDTH, Panel, View, labels, reset_button
from course_lib.heads import add_scores, merge_heads, mix_scores, split_heads

MERGES = ("concat + W_o", "add scores", "mix scores")


def heads(tokens, X, W_q, W_k, W_v, W_o):
    """Choose the number of heads, how q, k, v are split, and how the heads are merged; see every attention map.

    tokens: 2 to 4 of them, X (n, d), W_q, W_k and W_v (d, 6), W_o (6, d_out); the scores are not scaled.
    ->  Panel whose state is {"heads": (h, n, n) each head's own weights, "maps": (m, n, n) those the output is
        made with, "output": (n, d_out), "off": how far the maps are from one-head attention}
    """
    Q, K, V = project(X, W_q, W_k, W_v)
    one = softmax(scores(Q, K, scaled=False))
    names = labels(tokens)
    columns = [name.split()[0] for name in names]
    rng = np.random.default_rng(0)
    mixing, mix = {name: rng.normal(size=(6, 6)) / 6**0.5 for name in "QKV"}, rng.normal(size=3).round(1)
    canvas = show.Canvas(WIDTH, 170, 3)
    for axes in canvas.axes:
        axes.set(xlim=(0, 1), ylim=(-0.15, 1.15))
        axes.set_axis_off()
    places = np.linspace(0.1, 0.9, len(tokens))

    def draw(maps):
        for axes, weights in zip(canvas.axes, maps):
            lines = [[(x, 0), (to, 0.85)] for x in places for to in places]
            yield axes.add_collection(LineCollection(lines, linewidths=7 * weights.ravel(), colors=show.BLUE))
            for i, (x, token) in enumerate(zip(places, tokens), 1):
                for y, color in ((-0.12, show.BLUE), (0.97, show.ORANGE)):
                    yield axes.text(x, y, columns[i - 1], ha="center", va="center", color=color, fontsize=8)

    def view(values):
        h, merge = values["heads"], values["merge"]
        parts = (
            (Q, K, V) if values["split"] == "slices" else (Q @ mixing["Q"], K @ mixing["K"], V @ mixing["V"])
        )
        Q_h, K_h, V_h = (split_heads(part, h) for part in parts)
        alphas = scores(Q_h, K_h, scaled=False)
        alone = softmax(alphas)
        if merge == "concat + W_o":
            maps, mixed = alone, merge_heads(weighted_sum(alone, V_h))
        else:
            maps = softmax(add_scores(alphas) if merge == "add scores" else mix_scores(alphas, mix[:h]))[None]
            mixed = weighted_sum(maps[0], merge_heads(V_h))
        tables = [
            show.table(
                weights, names if i == 0 else None, columns, caption=f"head {i + 1} alone", kind="weights"
            )
            for i, weights in enumerate(alone)
        ]
        used = [
            show.table(
                weights,
                names if i == 0 else None,
                columns,
                kind="weights",
                caption=f"used: map {i + 1} of {len(maps)}",
            )
            for i, weights in enumerate(maps)
        ]
        off = max(np.abs(weights - one).max() for weights in maps)
        distance = "exactly" if off < 1e-12 else f"up to {off:.2f} from"
        maps_of = f"{len(maps)} map{'s' if len(maps) > 1 else ''} for each token"
        return View(
            {"heads": alone, "maps": maps, "output": mixed @ W_o, "off": off},
            show.Html(show.side_by_side(*tables) + show.side_by_side(*used)),
            canvas.paint(lambda: draw(maps)),
            f"{maps_of}, {distance} one-head attention",
        )

    controls = {
        "heads": widgets.IntSlider(
            2,
            1,
            3,
            description="heads",
            style={"description_width": "40px"},
            layout=widgets.Layout(width="220px"),
        ),
        "split": widgets.Dropdown(
            options=["slices", "matrices"],
            description="split by",
            style={"description_width": "50px"},
            layout=widgets.Layout(width="160px"),
        ),
        "merge": widgets.Dropdown(
            options=MERGES,
            description="merge by",
            style={"description_width": "66px"},
            layout=widgets.Layout(width="220px"),
        ),
    }
    panel = Panel(
        "Heads",
        controls,
        view,
        [widgets.HBox([*controls.values(), reset_button(lambda: panel)])],
        canvas=canvas,
        height=500,
    )
    return panel
