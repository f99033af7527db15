"""The panel of notebook 00: a sentence of one's own."""

import ipywidgets as widgets
import numpy as np
from matplotlib.collections import LineCollection

from course_lib import data, show
from course_lib.attention import self_attention
from course_lib.explore.panel import WIDTH, Panel, View, labels, reset_button


def sentence(text="the dog bites the man"):
    """Type a sentence; see its scores, weights and outputs, and where one word looks.

    text: 2 to 6 words of data/words.csv; the matrices are those of the running example.
    ->  Panel whose state is an Attention
    """
    canvas = show.Canvas(WIDTH, 190)
    canvas.axes[0].set_axis_off()
    canvas.axes[0].set(xlim=(0, 1), ylim=(0, 1))
    canvas.axes[0].text(0, 0.9, "is looked at", color=show.ORANGE, va="center")
    canvas.axes[0].text(0, 0.1, "looks", color=show.BLUE, va="center")

    def draw(tokens, weights, query):
        places = np.linspace(0.2, 0.95, len(tokens))
        lines = [[(x, 0.22), (to, 0.78)] for x in places for to in places]
        strengths = [share * (1.0 if i == query else 0.15) for i, row in enumerate(weights) for share in row]
        yield canvas.axes[0].add_collection(
            LineCollection(lines, linewidths=16 * np.array(strengths), colors=show.BLUE, alpha=0.8)
        )
        for i, (x, token) in enumerate(zip(places, tokens)):
            weight = "bold" if i == query else "normal"
            yield canvas.axes[0].text(x, 0.1, token, ha="center", va="center", color=show.BLUE, weight=weight)
            yield canvas.axes[0].text(x, 0.9, token, ha="center", va="center", color=show.ORANGE)

    def view(values):
        tokens, X = data.vectors(values["sentence"])
        if not 2 <= len(tokens) <= 6:
            raise ValueError(f"this panel has room for 2 to 6 words, not {len(tokens)}")
        attention = self_attention(X, *data.saw()[3:])
        query, names, short = min(values["word"], len(tokens)) - 1, labels(tokens), labels(tokens, 6)
        tables = show.side_by_side(
            show.table(attention.scores, names, short, caption="scores α", limit=3, pick=query),
            show.table(attention.weights, None, short, caption="weights α′", kind="weights", pick=query),
            show.table(attention.output, caption="output b", limit=3, pick=query),
        )
        most = int(attention.weights[query].argmax())
        return View(
            attention,
            tables,
            canvas.paint(lambda: draw(tokens, attention.weights, query)),
            f"{tokens[query]} looks most at {tokens[most]}: weight {attention.weights[query, most]:.2f}",
        )

    controls = {
        "sentence": widgets.Text(
            text, description="sentence", continuous_update=False, layout=widgets.Layout(width="430px")
        ),
        "word": widgets.IntSlider(
            3,
            1,
            6,
            description="word",
            style={"description_width": "40px"},
            layout=widgets.Layout(width="230px"),
        ),
    }
    panel = Panel(
        "Attention on a sentence",
        controls,
        view,
        [widgets.HBox([*controls.values(), reset_button(lambda: panel)])],
        canvas=canvas,
        height=430,
    )
    return panel
