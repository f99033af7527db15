"""The panel of notebook 06: the order of the tokens."""

import functools
import itertools

import numpy as np

from course_lib import show
from course_lib.attention import self_attention
from course_lib.explore.panel import Panel, View, checked_attention, choice, labels, slider
from course_lib.sequence import positions


def order(tokens, X, W_q, W_k, W_v, attend=self_attention):
    """Put the tokens into any order, with positions added or not; see whether the outputs are only reordered.

    tokens: 2 to 4 of them, X (n, d) with an even d, W_v (d, 2), attend(X, W_q, W_k, W_v) -> Attention.
    ->  Panel whose state is {"attention": Attention, "order": list, "only_reordered": bool}
    ValueError for other numbers of tokens or features.
    """
    X, *W = (np.array(each, dtype=float) for each in (X, W_q, W_k, W_v))
    n, (d, *_) = len(tokens), X.shape[1:] or (0,)
    if not 2 <= n <= 4 or X.shape != (n, d) or d < 2 or d % 2 or W[2].shape != (d, 2):
        raise ValueError(
            "this panel has room for 2 to 4 tokens with an even number d of features, and W_v (d, 2), "
            f"not {n} tokens with X of shape {X.shape} and W_v of shape {W[2].shape}"
        )
    like = self_attention(X, *W)
    columns = ["now 1", "now 2", "before 1", "before 2"]
    names, marks = labels(tokens), [f"b{i}" for i in range(1, n + 1)]
    orders = {" ".join(str(i + 1) for i in places): [*places] for places in itertools.permutations(range(n))}

    def view(values, attend=attend):
        places, P = orders[values["order"]], values["positions"] * positions(n, d)
        straight, moved = (
            checked_attention(attend(rows + P, *map(np.copy, W)), like) for rows in (X, X[places])
        )
        off = np.abs(moved.output - straight.output[places]).max()
        new, numbers = [names[i] for i in places], [str(i + 1) for i in places]
        both = np.hstack([moved.output, straight.output[places]])
        limit = show.room(straight.output, moved.output)
        seen = show.side_by_side(
            show.plane(limit, "outputs, as written").arrows(straight.output, marks, "output"),
            show.plane(limit, "outputs, in your order")
            .arrows(straight.output)
            .arrows(moved.output, [marks[i] for i in places], "output"),
            show.table(moved.weights, new, numbers, caption="weights α′, in your order", kind="weights"),
            show.table(both, new, columns, caption="b now, and before, as written"),
        )
        state = {"attention": moved, "order": places, "only_reordered": bool(off < 1e-9)}
        differ = f"the outputs differ by up to {show.number_text(off)}"
        return View(state, seen, "the outputs are only reordered" if off < 1e-9 else differ)

    controls = {"order": choice("order", [*orders]), "positions": slider("positions times", 0, 1, 0.1, 0.0)}
    standard = functools.partial(view, attend=self_attention)
    return Panel("The order of the tokens", controls, view, standard=standard)
