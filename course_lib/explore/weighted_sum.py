"""The panel of notebook 05: the weighted sum in the hull of the values."""

import functools

import numpy as np

from course_lib import show
from course_lib.attention import softmax, weighted_sum
from course_lib.explore.panel import Panel, View, bar, checked, choice, labels, slider

NORMALIZERS = {
    "softmax": softmax,
    "sigmoid": lambda scores: 1 / (1 + np.exp(-scores)),
    "none": lambda scores: scores,
}


def hull(tokens, V, scores, mix=weighted_sum):
    """The scores of one query as sliders; where its output b lies among the values, what each contributes.

    tokens: 3 to 6 of them, V (n, 2) not all on one line, scores (n,) to begin with, to a tenth,
    mix(weights, V) -> output, called with weights (1, n).
    ->  Panel whose state is {"weights", "contributions", "output", "inside"}
    ValueError for other numbers of tokens or for values on a line.
    """
    V, begin = np.array(V, dtype=float), np.round(np.asarray(scores, dtype=float), 1)
    n = len(tokens)
    if not 3 <= n <= 6 or V.shape != (n, 2) or begin.shape != (n,):
        raise ValueError(
            "this panel has room for 3 to 6 tokens with values of 2 numbers and a score each, "
            f"not {n} tokens with V of shape {V.shape} and scores of shape {begin.shape}"
        )
    corners = _corners(V)
    if len(corners) < 3:
        raise ValueError("these values lie on one line: their hull has no inside")
    names, lengths, unit = labels(tokens), np.hypot(*V.T), np.abs(V).max()

    def picture(shares, b):
        walk = np.cumsum([np.zeros(2), *shares], axis=0)
        limit = (
            0.4 * unit * show.room(2.5 / unit * np.vstack([V, walk, b]))
        )  # 1.2 units as long as all are in
        plane = show.plane(float(f"{limit:.2g}"), "values, their shares end to end, b")
        plane.line(corners, "value", width=0, closed=True, says="shaded: the hull of the values")
        plane.arrows(V, [f"v{i}" for i in range(1, n + 1)], "value", width=0.6)
        plane.arrows(b[None], ["b"], "output", width=1.4)
        stops = ", ".join(f"({', '.join(map(show.number_text, stop))})" for stop in walk)
        return plane.line(walk, "weight", width=1.5, dots=True, says=f"the shares lead over {stops}")

    def view(values, mix=mix):
        alpha = np.array([values[f"score {i}"] for i in range(1, n + 1)])
        weights = NORMALIZERS[values["normalizer"]](alpha)
        b = checked("output", mix(weights[None].copy(), V.copy()), (1, 2))[0]
        contributions = np.abs(weights) * lengths
        inside = all(_left_of(start, end, b) >= -1e-9 for start, end in zip(corners, np.roll(corners, -1, 0)))
        shares, total = np.append(weights, weights.sum())[:, None], [*names, "sum"]
        arrive = np.stack([lengths, contributions], axis=1)
        seen = show.side_by_side(
            picture(weights[:, None] * V, b),
            show.table(shares, total, ["α′"], kind="weights", caption="weights"),
            show.table(arrive, names, ["|v|", "|α′|·|v|"], kind="plain", caption="what arrives"),
        )
        where = f"b = ({', '.join(map(show.number_text, b))}) is {'inside' if inside else 'OUTSIDE'}"
        state = {"weights": weights, "contributions": contributions, "output": b, "inside": inside}
        note = f"weights sum to {show.number_text(weights.sum())}; {where} the hull of the values"
        if not np.allclose(b, weights @ V):
            note += "; the walk of the shares ends elsewhere: b is not their sum"
        return View(state, seen, note)

    most = float(np.ceil(max(3, *np.abs(begin))))
    scores = {
        f"score {i}": slider(f"score of {name}", -most, most, 0.1, score, word=name)
        for i, (name, score) in enumerate(zip(names, begin), 1)
    }
    for score in scores.values():
        score.layout.flex = "1 1 340px"  # some pixels for each tenth
    controls = {"normalizer": choice("weights by", [*NORMALIZERS]), **scores}
    rows = [bar(controls["normalizer"]), bar(*scores.values())]
    standard = functools.partial(view, mix=weighted_sum)
    return Panel("Where b lies among the values", controls, view, rows, standard=standard)


def _corners(points):
    """The corners of the hull of points (n, 2), counterclockwise; the two ends where all lie on one line."""

    def half(points):
        chain = []
        for point in points:
            while len(chain) > 1 and _left_of(*chain[-2:], point) <= 1e-9:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    points = sorted(map(tuple, points))
    return np.array(half(points) + half(points[::-1]))


def _left_of(start, end, point):
    """Positive where a point lies left of the way from start to end, 0 on it."""
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])
