"""The panel of notebook 06: the order of the tokens."""

import itertools

import ipywidgets as widgets
import numpy as np

from course_lib import show
from course_lib.attention import self_attention
from course_lib.explore.panel import WIDTH, Panel, View, checked_attention, labels, reset_button
from course_lib.sequence import positions


def order(tokens, X, W_q, W_k, W_v, attend=self_attention):
    """Put the tokens into any order, with positions added or not; see whether the outputs are only reordered.

    tokens: 2 to 4 of them, X (n, d) with an even d, W_v (d, 2), attend(X, W_q, W_k, W_v) -> Attention.
    ->  Panel whose state is {"attention": Attention, "order": list, "only_reordered": bool}
    """
    n, d = X.shape
    names, marks = labels(tokens), [f"b{i}" for i in range(1, n + 1)]
    orders = {
        " ".join(str(i + 1) for i in places): list(places) for places in itertools.permutations(range(n))
    }
    canvas = show.Canvas(WIDTH, 230, 2)
    for axes, title in zip(canvas.axes, ("outputs, as written", "outputs, in your order")):
        show.plane(axes, 3, title)

    def draw(straight, moved, places):
        yield from show.arrows(canvas.axes[0], straight, marks, color=show.GRAY)
        yield from show.arrows(canvas.axes[1], straight, color=show.GRAY, alpha=0.4)
        yield from show.arrows(canvas.axes[1], moved, [marks[i] for i in places], color="black")

    def view(values, attend=attend):
        places, P = orders[values["order"]], values["positions"] * positions(n, d)
        like = self_attention(X + P, W_q, W_k, W_v)
        straight = checked_attention(attend(X + P, W_q, W_k, W_v), like)
        moved = checked_attention(attend(X[places] + P, W_q, W_k, W_v), like)
        off = np.abs(moved.output - straight.output[places]).max()
        new = [names[i] for i in places]
        tables = show.side_by_side(
            show.table(
                moved.weights, new, [name.split()[0] for name in new], caption="weights α′", kind="weights"
            ),
            show.table(moved.output, new, caption="output b", limit=3),
            show.table(straight.output[places], new, caption="b as written, reordered", limit=3),
        )
        state = {"attention": moved, "order": places, "only_reordered": bool(off < 1e-9)}
        note = "the outputs are only reordered" if off < 1e-9 else f"the outputs differ by up to {off:.2f}"
        return View(state, tables, canvas.paint(lambda: draw(straight.output, moved.output, places)), note)

    controls = {
        "order": widgets.Dropdown(
            options=list(orders),
            description="order",
            style={"description_width": "40px"},
            layout=widgets.Layout(width="150px"),
        ),
        "positions": widgets.FloatSlider(
            0,
            min=0,
            max=1,
            step=0.1,
            description="positions times",
            readout_format=".1f",
            style={"description_width": "100px"},
            layout=widgets.Layout(width="320px"),
        ),
    }
    first = view({name: control.value for name, control in controls.items()}, self_attention)
    panel = Panel(
        "The order of the tokens",
        controls,
        view,
        [widgets.HBox([*controls.values(), reset_button(lambda: panel)])],
        canvas=canvas,
        height=450,
        first=first,
    )
    return panel
