"""The live panels: sliders that answer at once.

A panel is a pure function from the values of its controls to what is seen, plus the wiring below.
It never swallows an error: what went wrong stands in its status line, beside the last good picture.
"""

import base64
import contextlib
import html
import itertools
import re
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
from IPython import get_ipython
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Polygon

from course_lib import data, show
from course_lib.attention import (
    Attention,
    causal_mask,
    padding_mask,
    project,
    scores,
    self_attention,
    softmax,
    weighted_sum,
)
from course_lib.heads import add_scores, merge_heads, mix_scores, split_heads
from course_lib.sequence import positions

WIDTH = 780  # CSS pixels: the width of a notebook cell beside an open file browser at 1280 pixels
# A narrow readout leaves room for the slider itself. A dropdown keeps its keys to itself: otherwise the notebook takes
# the arrows for moving between cells, and d d for deleting one.
STYLE = """<style onload="this.closest('.course-panel')?.querySelectorAll('select').forEach(
    select => select.setAttribute('data-lm-suppress-shortcuts', 'true'))">
.course-panel .widget-readout {flex: 0 0 33px; min-width: 0; margin: 0; padding: 0; text-align: right}
</style>"""


class View(NamedTuple):
    """What a panel shows for one set of values."""

    state: Any  # the numbers behind it, for the tests and for the curious
    tables: show.Html
    picture: bytes = b""  # PNG
    note: str = ""  # one line of text under the panel


class Panel(widgets.VBox):
    """Controls on top, then a picture, tables and one status line.

    title: one line; controls: {name: widget with a value}; view(values) -> View, where values = {name: value};
    rows: the arranged controls; canvas: the show.Canvas the picture comes from, None without picture;
    height: CSS pixels, at most 560; presets: {name: function(values) -> {name: value}}, on the control "preset";
    first: a View to stand there until view() works for the first time, for panels that call a learner's function.
    Handles: panel.sliders[name], panel.state, panel.status.value, panel.set({name: value}), panel.reset().
    """

    def __init__(self, title, controls, view, rows, *, canvas=None, height=560, presets=None, first=None):
        self.title, self.sliders, self.view = title, controls, view
        self.canvas, self.presets = canvas, presets or {}
        self.state, self.redraws, self._png, self._quiet, self._seen = None, 0, b"", False, None
        self._start = {name: control.value for name, control in controls.items()}
        self.picture = (
            widgets.Image(
                format="png", layout=widgets.Layout(width=f"{canvas.width}px", height=f"{canvas.height}px")
            )
            if canvas
            else None
        )
        self.tables = widgets.HTML()
        self.status = widgets.HTML(layout=widgets.Layout(height="22px", margin="0", overflow="hidden"))
        for control in controls.values():
            control.observe(self._changed, "value")
        parts = [*rows, *filter(None, [self.picture]), self.tables, self.status]
        super().__init__(
            parts, layout=widgets.Layout(width=f"{WIDTH}px", height=f"{height}px", overflow="hidden")
        )
        self.add_class("course-panel")
        _close_panel_of_this_cell(self)
        if first:
            self._show(first)
        self.redraw()

    def values(self):
        """{name: value} of all controls; numbers as written on them, since a browser sends 2.000000000000001 for 2."""
        values = {name: control.value for name, control in self.sliders.items()}
        return {
            name: round(value, 9) if isinstance(value, float) else value for name, value in values.items()
        }

    def redraw(self):
        """Show what the controls say now."""
        self.redraws += 1
        self._seen = self.values()
        try:
            shown = self.view(self._seen)
        except Exception as error:  # the learner's own function may raise anything
            self._say(
                f"<b>{type(error).__name__}</b>: {html.escape(str(error))}"
                " <i>(picture: the last good one)</i>"
            )
        else:
            self._show(shown)

    def set(self, values):
        """Set several controls {name: value} and redraw once."""
        with self._together():
            for name, value in values.items():
                self.sliders[name].value = value
        self.redraw()

    def reset(self):
        """Back to how the panel began."""
        self.set(self._start)

    @contextlib.contextmanager
    def _together(self):
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False

    def _changed(self, change):
        if self._quiet or self.values() == self._seen:
            return
        preset = self.sliders.get("preset")
        if change.owner in (preset, self.sliders.get("seed")):
            name = preset.value if change.owner is preset else "random"
            chosen = self.presets.get(name, lambda values: {})
            self.set({"preset": name, **chosen(self.values())})
            return
        if preset and isinstance(change.owner, widgets.FloatSlider):  # a number moved by hand
            with self._together():
                preset.value = OWN
        self.redraw()

    def _show(self, shown):
        self.state, self._png = shown.state, shown.picture
        self.tables.value = f'{STYLE}<div style="--jp-content-font-size1:14px">{shown.tables}</div>'
        if self.picture:
            self.picture.value = shown.picture
        self._say(html.escape(shown.note))

    def _say(self, text):
        """Put a line of HTML into the status line; what is too long for it is in its tooltip."""
        self.status.value = (
            f'<div role="status" title="{re.sub("<.*?>", "", text)}" style="line-height:22px;max-width:{WIDTH}px;'
            f'white-space:nowrap;overflow:hidden;text-overflow:ellipsis">{text}</div>'
        )

    def _repr_mimebundle_(self, **kwargs):
        """Beside the live view: a fixed text, and the picture for readers without a kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        bundle["text/plain"] = f"{self.title} (a live panel: run this cell to move it)"
        if self._png:
            bundle["image/png"] = base64.b64encode(self._png).decode()
        return bundle


_open_panels = {}  # (cell, title) -> the panel that is open there


def _close_panel_of_this_cell(panel):
    """A cell run again closes the widgets of its last panel, so that ten runs leave one panel, not ten."""
    shell = get_ipython()
    cell = shell.get_parent().get("metadata", {}).get("cellId") if hasattr(shell, "get_parent") else None
    if cell is None:
        return
    for widget in _family(_open_panels.pop((cell, panel.title), None)):
        widget.close()
    _open_panels[cell, panel.title] = panel


def _family(widget):
    """A widget with its children, layouts and styles, which are widgets too."""
    if widget is None:
        return []
    parts = [part for part in (widget.layout, getattr(widget, "style", None)) if part]
    return (
        [member for child in getattr(widget, "children", ()) for member in _family(child)] + parts + [widget]
    )


def reset_button(panel_of):
    """A button that resets the panel which panel_of() returns."""
    button = widgets.Button(
        description="reset", tooltip="back to how the panel began", layout=widgets.Layout(width="64px")
    )
    button.on_click(lambda _: panel_of().reset())
    return button


def labels(tokens, most=9):
    """Tokens as numbered labels, "2 saw", cut where they are long."""
    words = [f"{i} {token}" for i, token in enumerate(tokens, 1)]
    return [word if len(word) <= most else word[: most - 1] + "…" for word in words]


def checked_attention(result, like):
    """The result of a learner's attention function, or a ValueError that says what is wrong with it."""
    if result is None:
        raise ValueError("your function returned None: is it still a stub?")
    if not (isinstance(result, tuple) and len(result) == len(like)):
        raise ValueError(
            f"your function returned {type(result).__name__}, "
            "the panel needs Attention(Q, K, V, scores, weights, output)"
        )
    stages = [np.asarray(stage) for stage in result]
    for name, stage, expected in zip(like._fields, stages, like):
        if stage.shape != expected.shape:
            raise ValueError(f"your {name} has shape {stage.shape}, it should have {expected.shape}")
        if stage.dtype.kind not in "biuf" or not np.isfinite(stage).all():
            raise ValueError(f"your {name} holds entries that are not finite numbers")
    return Attention(*stages)


# Notebook 00: a sentence of one's own.


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


# Notebook 02 (and 00, 05): the matrices W_q, W_k, W_v.

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


# Notebook 03: d_k and what the scores are divided by.

SCALES = {"none": lambda d_k: 1, "√d_k": lambda d_k: d_k**0.5, "d_k": lambda d_k: d_k}
YOURS = "yours"
N_KEYS = 64


def _spread(scores):
    """Standard deviation of the scores of one query, its largest weight, its effective number of keys."""
    weights = softmax(scores)
    seen = weights[weights > 0]  # 0 log 0 counts as 0
    return scores.std(), weights.max(), np.exp(-np.sum(seen * np.log(seen)))


def scale(yours=None):
    """Slide d_k and choose what the scores are divided by; see one query share its attention over 64 keys.

    yours(Q, K) -> scores (n_q, n_k), the learner's own function, becomes one more rule, and the first one shown.
    ->  Panel whose state is {"scores": (64,), "weights": (64,), "numbers": {rule: std, largest weight, effective keys}}
    """
    canvas = show.Canvas(WIDTH, 270, 3)
    canvas.figure.subplots_adjust(left=0.05)
    titles = "scores, the largest first", "weights of the same keys", "share of the first m keys together"
    for axes, title, limits in zip(canvas.axes, titles, ((-50, 50), (0, 1), (0, 1.02))):
        axes.set(xlim=(0, N_KEYS + 1), ylim=limits, xticks=[1, 16, 32, 48, 64])
        axes.set_title(title, fontsize=9)
        axes.tick_params(labelsize=8, color="#999999", labelcolor="#666666", length=2)
        axes.spines[:].set_color("#dddddd")
    canvas.axes[2].plot([0, N_KEYS], [0, 1], color="#999999", linewidth=1)
    canvas.axes[2].text(
        N_KEYS,
        0.06,
        "grey curve: root of d_k\ngrey line: equal shares",
        ha="right",
        fontsize=7.5,
        color="#666666",
    )
    places = np.arange(N_KEYS + 1)

    def draw(scores, fair):
        left, middle, right = canvas.axes
        yield left.vlines(places[1:], 0, scores, color=show.BLUE, linewidth=2)
        yield middle.vlines(places[1:], 0, softmax(scores), color=show.PURPLE, linewidth=2)
        for values, color, width in ((fair, show.GRAY, 1), (scores, show.PURPLE, 2)):
            yield right.plot(places, np.append(0, np.cumsum(softmax(values))), color=color, linewidth=width)[
                0
            ]

    def view(values, rule=None):
        rule, d_k = rule or values["rule"], values["d_k"]
        rng = np.random.default_rng(values["draw"])
        Q, K = rng.normal(size=(1, 256))[:, :d_k], rng.normal(size=(N_KEYS, 256))[:, :d_k]
        K = K[np.argsort(-(K @ Q[0]))]  # the key with the largest score first
        found = {name: (Q @ K.T)[0] / divisor(d_k) for name, divisor in SCALES.items()}
        if rule == YOURS:
            found[YOURS] = _checked_scores(yours(Q.copy(), K.copy()))
        numbers = {name: _spread(scores) for name, scores in found.items()}
        table = show.table(
            list(numbers.values()),
            [f"divided by {name}" if name != YOURS else name for name in numbers],
            ["std of scores", "largest weight", "effective keys"],
            kind="plain",
            pick=list(numbers).index(rule),
            caption=f"d_k = {d_k}: one query, {N_KEYS} keys",
        )
        state = {"scores": found[rule], "weights": softmax(found[rule]), "numbers": numbers}
        return View(
            state,
            table,
            canvas.paint(lambda: draw(found[rule], found["√d_k"])),
            f"one query attends to {numbers[rule][2]:.2f} of {N_KEYS} keys, effectively",
        )

    rules = [*SCALES, *([YOURS] if yours else [])]
    controls = {
        "d_k": widgets.SelectionSlider(
            options=[2**i for i in range(9)],
            description="d_k",
            value=16 if yours else N_KEYS,  # square keys would hide a missing .T
            style={"description_width": "34px"},
            layout=widgets.Layout(width="280px"),
        ),
        "rule": widgets.Dropdown(
            options=rules,
            value=rules[-1] if yours else "none",
            description="divide by",
            style={"description_width": "64px"},
            layout=widgets.Layout(width="180px"),
        ),
        "draw": widgets.BoundedIntText(
            0,
            0,
            999,
            description="draw",
            style={"description_width": "34px"},
            layout=widgets.Layout(width="92px"),
        ),
    }
    first = view({name: control.value for name, control in controls.items()}, "√d_k")
    panel = Panel(
        "d_k and the scale of scores",
        controls,
        view,
        [widgets.HBox([*controls.values(), reset_button(lambda: panel)])],
        canvas=canvas,
        height=490,
        first=first,
    )
    return panel


def _checked_scores(result):
    """The (1, 64) scores of a learner's function as 64 numbers, or a ValueError that says what is wrong."""
    if result is None:
        raise ValueError("your function returned None: is it still a stub?")
    result = np.asarray(result)
    if result.shape != (1, N_KEYS):
        raise ValueError(
            f"1 query and {N_KEYS} keys need scores of shape {(1, N_KEYS)}, yours have {result.shape}"
        )
    if result.dtype.kind not in "iuf" or not np.isfinite(result).all():
        raise ValueError("your scores hold entries that are not finite numbers")
    return result[0].astype(float)


# Notebook 05: the weighted sum in the hull of the values.

NORMALIZERS = {
    "softmax": softmax,
    "sigmoid": lambda scores: 1 / (1 + np.exp(-scores)),
    "none": lambda scores: scores,
}


def hull(tokens, V, scores, mix=weighted_sum):
    """The scores of one query as sliders; where its output b lies among the values, what each value contributes.

    tokens: 3 to 6 of them, V (n, 2) not all on one line, scores (n,) to begin with, mix(weights, V) -> output,
    called with weights (1, n).  ->  Panel whose state is {"weights", "contributions", "output", "inside"}
    ValueError for other numbers of tokens or for values on a line.
    """
    V, begin = np.array(V, dtype=float), np.clip(np.round(scores, 1), -3, 3)
    n = len(tokens)
    if not 3 <= n <= 6 or V.shape != (n, 2) or begin.shape != (n,):
        raise ValueError(
            "this panel has room for 3 to 6 tokens with values of 2 numbers and a score each, "
            f"not {n} tokens with V of shape {V.shape} and scores of shape {begin.shape}"
        )
    corners = [np.vstack([V[list(three)].T, np.ones(3)]) for three in itertools.combinations(range(n), 3)]
    corners = [corner for corner in corners if abs(np.linalg.det(corner)) > 1e-9]
    if not corners:
        raise ValueError("these values lie on one line: their hull has no inside")
    names, lengths = labels(tokens), np.hypot(*V.T)

    canvas = show.Canvas(400, 400)
    plane = canvas.axes[0]
    canvas.figure.subplots_adjust(left=0.07, right=0.99, bottom=0.06, top=0.93)
    show.plane(plane, 1.8 * np.abs(V).max())
    plane.set_title("values v;  shares of them, end to end;  b", fontsize=10)
    for corner in corners:  # the hull of points is the union of their triangles
        plane.add_patch(Polygon(corner[:2].T, facecolor="#eeeeee", edgecolor="#eeeeee", zorder=0))
    show.arrows(plane, V, [f"v{i}" for i in range(1, n + 1)], color=show.PURPLE, alpha=0.35)

    def draw(shares, b):
        stops = np.cumsum([np.zeros(2), *shares], axis=0)
        yield from show.arrows(plane, [b], ["b"], color="black")
        yield plane.plot(*stops.T, "o-", color=show.ORANGE, linewidth=1.5, markersize=4)[0]

    def view(values, mix=mix):
        alpha = np.array([values[f"score {i}"] for i in range(1, n + 1)])
        weights = NORMALIZERS[values["normalizer"]](alpha)
        b = _checked_output(mix(weights[None].copy(), V.copy()))
        contributions = np.abs(weights) * lengths
        inside = any((np.linalg.solve(corner, [*b, 1]) > -1e-9).all() for corner in corners)
        tables = show.side_by_side(
            show.table(weights[:, None], names, ["weight α′"], kind="weights"),
            show.table(
                np.stack([lengths, contributions], axis=1),
                labels(tokens, 6),
                ["|v|", "|α′|·|v|"],
                kind="plain",
            ),
        )
        x, y = np.round(b, 2) + 0.0  # + 0.0 turns -0.0 into 0.0
        state = {"weights": weights, "contributions": contributions, "output": b, "inside": inside}
        return View(
            state,
            tables,
            canvas.paint(lambda: draw(weights[:, None] * V, b)),
            f"weights sum to {weights.sum():.2f}; b = ({x:.2f}, {y:.2f}) is "
            f"{'inside' if inside else 'OUTSIDE'} the hull of the values",
        )

    sliders = {
        f"score {i}": widgets.FloatSlider(
            value=score,
            min=-3,
            max=3,
            step=0.1,
            description=name,
            readout_format=".1f",
            tooltip=f"score of {name}",
            style={"description_width": "76px"},
            layout=widgets.Layout(width="350px", height="28px", margin="0"),
        )
        for i, (name, score) in enumerate(zip(names, begin), 1)
    }
    controls = {
        "normalizer": widgets.Dropdown(
            options=[*NORMALIZERS],
            description="weights by",
            style={"description_width": "72px"},
            layout=widgets.Layout(width="200px"),
        ),
        **sliders,
    }
    first = view({name: control.value for name, control in controls.items()}, weighted_sum)
    panel = Panel("Where b lies among the values", controls, view, [], canvas=canvas, height=480, first=first)
    top = widgets.HBox([controls["normalizer"], reset_button(lambda: panel)])
    right = widgets.VBox([*sliders.values(), panel.tables], layout=widgets.Layout(width="370px"))
    panel.children = [top, widgets.HBox([panel.picture, right]), panel.status]
    return panel


def _checked_output(result):
    """The (1, 2) output of a learner's function as 2 numbers, or a ValueError that says what is wrong."""
    if result is None:
        raise ValueError("your function returned None: is it still a stub?")
    result = np.asarray(result)
    if result.shape != (1, 2):
        raise ValueError(f"for weights (1, n) and V (n, 2) your output has shape {result.shape}, not (1, 2)")
    if result.dtype.kind not in "biuf" or not np.isfinite(result).all():
        raise ValueError("your output holds entries that are not finite numbers")
    return result[0].astype(float)


# Notebook 04: from scores to weights.


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


# Notebook 06: the order of the tokens.


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


# Notebook 07: several heads, and ways to put them together.

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
