"""The panel of notebook 04: from scores to weights."""

from typing import NamedTuple

import numpy as np

from course_lib import show
from course_lib.attention import causal_mask, padding_mask, softmax
from course_lib.explore.panel import Panel, View, bar, checked, choice, labels, slider


class Shares(NamedTuple):
    """What goes into a normalizer and what comes out."""

    scores: np.ndarray  # (n, n)  alpha, -inf where hidden
    weights: np.ndarray  # (n, n)  alpha'


def _divided(powers):
    return powers / powers.sum(axis=-1, keepdims=True)


OTHER_NORMALIZERS = {  # beside softmax, a hidden score is -inf here too
    "ReLU / sum": lambda scores: _divided(np.maximum(scores, 0)),
    "sigmoid": lambda scores: 1 / (1 + np.exp(-scores)),
    "divide by sum": lambda scores: _divided(np.where(scores == -np.inf, 0, scores)),
}


def _promises(shares):
    """One line: what the weights keep of what one expects of shares; rows with nan are named, not judged."""
    undefined = np.isnan(shares.weights).any(axis=-1)
    if undefined.all():
        return "nan, not a number, in every row"
    scores, weights = (each[~undefined] for each in shares)
    higher = (scores[:, :, None] > scores[:, None, :]) & (scores[:, None, :] > -np.inf)
    kept = {
        "none below 0": (weights >= 0).all(),
        "rows sum to 1": np.allclose(weights.sum(axis=-1), 1),
        "larger score, larger weight": (weights[:, :, None] > weights[:, None, :])[higher].all(),
    }
    rows = ", ".join(f"row {i + 1}" for i in np.flatnonzero(undefined))
    nan = f"nan, not a number, in {rows}; in the others: " if rows else ""
    infinite = [f"row {i + 1}" for i in np.flatnonzero(np.isinf(shares.weights).any(axis=-1))]
    nan += f"inf in {', '.join(infinite)}; " if infinite else ""
    return nan + " · ".join(f"{name}: {'yes' if holds else 'NO'}" for name, holds in kept.items())


def _bars(title, heights, ghost, color, words, steps):
    """Bars of the picked query, plain softmax as a grey frame around each, on an axis that follows them."""
    known = np.append(heights, ghost)
    largest = np.abs(known[np.isfinite(known)]).max(initial=0)
    limit = next((step for step in steps if largest <= step), min(10 ** np.ceil(np.log10(largest)), 1e307))
    low = -limit if color == "score" or (heights < 0).any() else 0
    said = [f"{word} {show.number_text(height)}" for word, height in zip(words, heights)]
    under = {i: said[i] if np.isnan(height) else words[i] for i, height in enumerate(heights)}
    ends = {place: f"{place:.3g}" for place in (low, 0, limit)}
    frame = (-0.6, len(words) - 0.4), (low, limit), title
    drawn = show.Picture(*frame, xticks=under, yticks=ends, width=320, height=170)
    # A score of -inf is hidden and has no bar, a weight of -inf has one that leaves the frame.
    drawn_to = heights if color == "score" else np.maximum(heights, -1e308)
    return drawn.bars(ghost, "ghost", thick=0.85).bars(drawn_to, color, says=", ".join(said))


def normalizers(tokens, scores, normalize=softmax):
    """Temperature, normalizer and mask on one table of scores: all weights in a table, one query's as bars.

    tokens: 2 to 6 of them, scores (n, n), normalize(scores) -> weights (n, n), called with mask= and
    temperature= only where the controls say so.  ->  Panel whose state is Shares
    ValueError for another number of tokens or scores that do not fit.
    """
    alpha, n = np.array(scores, dtype=float), len(tokens)
    if not 2 <= n <= 6 or alpha.shape != (n, n):
        raise ValueError(f"room for 2 to 6 tokens, not {n} tokens with scores of shape {alpha.shape}")
    names, plain = labels(tokens, 17), softmax(alpha)
    short = names if max(map(len, names)) <= 42 // n else range(1, n + 1)  # as much as fits beside each other
    masks = {
        "none": np.full((n, n), True),
        "causal": causal_mask(n),
        "padding: last token": padding_mask(n - 1, n),
    }

    @np.errstate(all="ignore")  # 0 / 0 is one of the things to see here
    def view(values, normalize=normalize):
        mask, temperature, shifted = masks[values["mask"]], values["temperature"], alpha + values["shift"]
        hidden, query, name = np.where(mask, shifted, -np.inf), values["query"], values["normalizer"]
        if name == "softmax":
            options = {"mask": mask.copy()} if values["mask"] != "none" else {}
            if temperature != 1:
                options["temperature"] = temperature
            weights = checked("weights", normalize(shifted, **options), (n, n), nan=True)
        else:
            weights = OTHER_NORMALIZERS[name](hidden / temperature)
        rows, title = np.column_stack([weights, weights.sum(axis=-1)]), f"weights α′: {name}"
        left = _bars(f"scores of {names[query]}", hidden[query], alpha[query], "score", short, (3, 6, 12, 30))
        right = _bars("its weights", weights[query], plain[query], "weight", short, (1, 2, 5, 20, 100))
        given = show.table(hidden, names, short, caption="scores α", pick=query)
        found = show.table(rows, names, [*short, "sum"], kind="weights", caption=title, pick=query)
        seen = show.stacked(show.side_by_side(left, right), show.side_by_side(given, found))
        return View(Shares(hidden, weights), seen, _promises(Shares(hidden, weights)))

    controls = {
        "normalizer": choice("normalizer", ["softmax", *OTHER_NORMALIZERS]),
        "mask": choice("mask", list(masks)),
        "query": choice("query", [(name, i) for i, name in enumerate(names)], 1),
        "temperature": slider("temperature", 0.1, 5, 0.1, 1.0),
        "shift": slider("add to every score", -3, 3, 0.25, 0.0),
    }
    rows = [bar(*list(controls.values())[:3]), bar(controls["temperature"], controls["shift"])]
    standard = lambda values: view(values, softmax)  # noqa: E731
    return Panel("From scores to weights", controls, view, rows, standard=standard)
