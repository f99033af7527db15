"""Numbers as tables, vectors as pictures: HTML and SVG text. Knows nothing of attention.

Text is sharp on a projector and at any zoom, takes its ink from the theme, can be read aloud, and is compared
by the tests, so every number and every arrow that a reader sees is checked. Curves, contours and images of
ordinary cells are matplotlib, in the course's own look.
"""

import base64
import html
import io
import math
import pathlib

import numpy as np

# One color each, everywhere: a score is a signed number, its positive side; a weight is a share of ink. All
# keep 3:1 against a light and a dark page; as colors of a cell the last three let text keep 4.5:1 on both.
COLORS = {
    "query": "#1f78c8",
    "key": "#d1570b",
    "value": "#a8559f",
    "output": "#a37b00",
    "ghost": "#808080",
    "score": "#008562",
    "minus": "#a5672d",
    "weight": "#767676",
}
STYLE = f"<style>\n{pathlib.Path(__file__).with_name('show.css').read_text(encoding='utf-8')}</style>"


NUDGE = 1 + 1e-12  # a number halfway between two is rounded away from 0, whatever its last bit says
# Where a label may lie: how far from its tip and turned by how much from its arrow's way, the best first.
NEAR = [(far, turn) for far in (5, 13, 22) for turn in (0, 0.6, -0.6, 1.2, -1.2, 1.9, -1.9, 2.6, -2.6)]


class Html:
    """What a cell shows: `html` in a browser, and the same as `text` where there is none."""

    def __init__(self, html, text):
        self.html, self.text = html, text

    def _repr_html_(self):
        return f'{STYLE}<div class="course">{self.html}</div>'

    def __repr__(self):
        return self.text


def side_by_side(*parts):
    """Several tables and pictures in one line, as far as the line is wide.  ->  Html"""
    return Html("".join(part.html for part in parts), "\n\n".join(part.text for part in parts))


def stacked(*parts):
    """Tables, pictures and lines of them, one below the other.  ->  Html"""
    lines = "".join(f'<div class="course">{part.html}</div>' for part in parts)
    return Html(lines, "\n\n".join(part.text for part in parts))


def table(values, rows=None, columns=None, *, caption="", kind="signed", decimals=2, pick=None):
    """A matrix (n, m) or vector (m,) as a table of colored cells.  ->  Html

    rows, columns: labels, 1, 2, 3 ... where none are given. kind: "signed" colors around 0, "weights" from 0
    to 1, "plain" not at all; a number has one color in every table of a kind. pick: a row to point out.
    ValueError for more than two axes, labels that do not fit, an unknown kind or a row that is not there.
    """
    values = np.asarray(values)
    if not 1 <= values.ndim <= 2:
        raise ValueError(f"a table shows one matrix or vector, not shape {values.shape}")
    if kind not in ("signed", "weights", "plain"):
        raise ValueError(f'kind is "signed", "weights" or "plain", not {kind!r}')
    # + 0.0 turns -0.0 into 0.0
    rounded = np.atleast_2d(np.round(values.astype(float) * NUDGE, decimals)) + 0.0
    rows = _labels(rows, len(rounded), "rows") if values.ndim == 2 or rows is not None else [""]
    columns = _labels(columns, rounded.shape[1], "columns")
    if pick is not None and pick not in range(len(rows)):
        raise ValueError(f"there is no row {pick} to pick among {len(rows)}")
    words = [[number_text(number, decimals) for number in row] for row in rounded.tolist()]
    lines = []
    for i, (label, numbers, line) in enumerate(zip(rows, rounded.tolist(), words)):
        cells = "".join(f"<td{_ink(number, kind)}>{word}</td>" for number, word in zip(numbers, line))
        mark, picked = (" ◀", ' class="picked"') if i == pick else ("", "")
        lines.append(f'<tr{picked}><th scope="row">{html.escape(label)}{mark}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in columns)
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    body = f"<thead><tr><td></td>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return Html(f'<table class="course-table">{title}{body}</table>', _plain(caption, rows, columns, words))


def _labels(labels, count, name):
    labels = range(1, count + 1) if labels is None else list(labels)
    if len(labels) != count:
        raise ValueError(f"{len(labels)} labels for {count} {name}")
    return [str(label) for label in labels]


def number_text(number, decimals=2):
    """A number as it is shown: so many decimals, no "-0.00", a short form where it is huge."""
    if not np.isfinite(number) or abs(number) < 99999.5:
        return f"{round(number * NUDGE, decimals) + 0.0:.{decimals}f}"
    return f"{number:.1e}".replace("e+0", "e").replace("e+", "e")


def _plain(caption, rows, columns, words):
    lines = [["", *columns]] + [[label, *row] for label, row in zip(rows, words)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = "\n".join("  ".join(map(str.rjust, line, widths)).rstrip() for line in lines)
    return f"{caption}\n{text}" if caption else text


def _ink(number, kind):
    """The color of a cell, from the rounded number shown: paper at 0, almost full ink, in either theme."""
    if kind == "plain" or not abs(number) > 0:  # nan too
        return ""
    size = 1 if np.isinf(number) or kind == "weights" else 1 / (abs(number) + 1.5)
    color = COLORS["minus" if number < 0 else "weight" if kind == "weights" else "score"]
    red, green, blue = bytes.fromhex(color[1:])
    return f' style="background:rgb({red} {green} {blue}/{0.93 * min(size * abs(number), 1):.2f})"'


class Picture(Html):
    """A drawing in coordinates of its own, as SVG text; what is drawn first lies lowest.

    x, y: the range shown on each axis; title: a line above; xticks, yticks: {place: word} beside the frame;
    width, height: in pixels of its own, for on screen it grows and shrinks with the width there is.
    Colors are names in COLORS. What is drawn is also said in words, for those who do not see it.
    """

    def __init__(self, x, y, title="", *, xticks=None, yticks=None, width=260, height=230):
        self.y, self.title, self.width, self.height = y, title, width, height
        self.marks, self.said, self._lines, self._tips, self._words = [], [], {}, [], []
        left, right, top, bottom = 34 if yticks else 8, width - 8, 8, height - (20 if xticks else 8)
        self._across, self._up = (right - left) / (x[1] - x[0]), (top - bottom) / (y[1] - y[0])
        self._zero = left - x[0] * self._across, bottom - y[0] * self._up
        for place, word in (xticks or {}).items():
            self._write(self._pixel(place, 0)[0], height - 5, word, "middle")
        for place, word in (yticks or {}).items():
            up = self._pixel(0, place)[1]
            line = f'<path d="M{left},{up:g}H{right}" stroke="{COLORS["ghost"]}" stroke-width=".4"/>'
            self.marks.append(line)
            self._write(left - 4, round(up + 4, 1), word, "end")

    def _pixel(self, x, y):
        """A point in pixels, rounded to a tenth: a difference in the last bit moves nothing."""
        x, y = self._zero[0] + x * self._across, self._zero[1] + y * self._up
        return round(x + 1e-6, 1) + 0.0, round(y + 1e-6, 1) + 0.0

    def _write(self, x, y, word, anchor, style=""):
        place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
        self.marks.append(f"<text {place}{style}>{html.escape(str(word))}</text>")
        half = 3.3 * len(str(word))
        self._words.append((x + {"start": half, "middle": 0, "end": -half}[anchor], y - 4, half + 2, 5))

    def arrows(self, vectors, labels=(), color="ghost", *, width=1.0):
        """Arrows from 0 to vectors (n, 2), with labels beyond their tips.  ->  self

        width: 1, or (n,) for each arrow its own. Arrows that end in one point share a label, "q2 q4"; labels
        keep off arrows and each other. ValueError unless the last axis is 2.
        """
        vectors = np.asarray(vectors, dtype=float)
        if vectors.ndim != 2 or vectors.shape[-1] != 2:
            raise ValueError(f"arrows in a plane have two numbers each, not shape {vectors.shape}")
        start, thin, shared = self._pixel(0, 0), 1 if color == "ghost" else 2.2, {}
        widths = np.broadcast_to(width, len(vectors)).tolist()
        for i, (vector, wide) in enumerate(zip(vectors.tolist(), widths)):
            tip = self._pixel(*vector)
            self.marks.append(_arrow(start, tip, thin * wide, COLORS[color]))
            self._lines[*start, *tip] = True
            if i < len(labels):
                shared.setdefault(tip, []).append(str(labels[i]))
                self.said.append(f"{labels[i]} to ({', '.join(number_text(v, 1) for v in vector)})")
        self._tips += [(tip, " ".join(words)) for tip, words in shared.items()]
        return self

    def line(self, points, color, *, width=2, dots=False, closed=False, says=""):
        """A line through points (n, 2), an area where it is closed; says: what it is, in words.  ->  self"""
        places = [self._pixel(*point) for point in np.asarray(points, dtype=float).tolist()]
        d = "M" + " ".join(f"{x:g},{y:g}" for x, y in places) + "Z" * closed
        ink, fill = COLORS[color], f'fill="{COLORS[color]}" fill-opacity=".18"' if closed else 'fill="none"'
        self.marks.append(f'<path d="{d}" {fill} stroke="{ink}" stroke-width="{width}"/>')
        if dots:
            spots = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="{width + 1}"/>' for x, y in places)
            self.marks.append(f'<g fill="{ink}">{spots}</g>')
        if not closed:
            self._lines.update(dict.fromkeys((*a, *b) for a, b in zip(places[:-1], places[1:])))
        self.said += [says] * bool(says)
        return self

    def bars(self, heights, color, *, thick=0.6, says=""):
        """Bars from 0 at places 0, 1, 2 ...; one that leaves the frame ends there in a head.  ->  self"""
        (low, high), boxes = self.y, []
        for place, height in enumerate(np.asarray(heights, dtype=float).tolist()):
            # nan and -inf have no bar
            end = min(max(height, low), high) if abs(height) < np.inf else high * (height > 0)
            (x0, y0), (x1, y1) = self._pixel(place - thick / 2, 0), self._pixel(place + thick / 2, end)
            boxes.append(f"M{x0:g},{y0:g}H{x1:g}V{y1:g}H{x0:g}Z")
            if height > high or -np.inf < height < low:
                head, below = ("▲", 11) if height > 0 else ("▼", -4)
                self._write((x0 + x1) / 2, y1 + below, head, "middle")
        look = "fill" if color != "ghost" else 'fill="none" stroke'
        self.marks.append(f'<path d="{"".join(boxes)}" {look}="{COLORS[color]}"/>')
        self.said += [says] * bool(says)
        return self

    @property
    def text(self):
        return "; ".join(filter(None, [self.title, *self.said]))

    @property
    def html(self):
        title = f"<figcaption>{html.escape(self.title)}</figcaption>" if self.title else ""
        size = f"--least:{0.8 * self.width:.0f}px;--most:{1.5 * self.width:.0f}px"
        view = f'viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{html.escape(self.text)}"'
        drawing = "".join([*self.marks, *self._placed()])
        return f'<figure style="{size}">{title}<svg {view}>{drawing}</svg></figure>'

    def _placed(self):
        """The labels of arrows, each at the first place near its tip that is free, or the freest."""
        taken, (x0, y0) = [*self._words], self._pixel(0, 0)
        for (x, y), word in sorted(self._tips, key=lambda tip: len(tip[1])):
            width, height = 3.6 * len(word) + 2, 6.5
            way = math.atan2(y - y0, x - x0) if (x, y) != (x0, y0) else -0.7
            best = (math.inf, None)
            for far, turn in NEAR:
                across, up = math.cos(way + turn), math.sin(way + turn)
                reach = far + min(width / max(abs(across), 1e-9), height / max(abs(up), 1e-9))
                box = (x + across * reach, y + up * reach, width, height)
                crowd = self._crowd(box, taken)
                if crowd < best[0]:
                    best = (crowd, box)
                if not crowd:
                    break
            taken.append(best[1])
            place = f'x="{best[1][0]:.1f}" y="{best[1][1] + 4:.1f}" text-anchor="middle"'
            yield f'<text class="tip" {place}>{html.escape(word)}</text>'

    def _crowd(self, box, taken):
        """How much lies under a box (x, y, half width, half height): lines, labels, and the frame's edge."""
        x, y, w, h = box
        outside = x < w or x + w > self.width or y < h or y + h > self.height
        under = sum(abs(x - a) < w + c and abs(y - b) < h + d for a, b, c, d in taken)
        return 3 * outside + 2 * under + sum(_crosses(line, box) for line in self._lines)


def plane(limit, title=""):
    """An empty plane from -limit to limit with its two axes through 0.  ->  Picture"""
    drawn = Picture((-limit, limit), (-limit, limit), title, width=200, height=200)
    middle, end = drawn._pixel(0, 0)[0], drawn._pixel(limit, 0)[0]
    axes = f"M{200 - end:g},{middle:g}H{end:g}M{middle:g},{200 - end:g}V{end:g}"
    drawn.marks.append(f'<path d="{axes}" stroke="{COLORS["ghost"]}" stroke-width=".6"/>')
    for x, word, anchor in ((200 - end, f"{-limit:g}", "start"), (end, f"{limit:g}", "end")):
        drawn._write(x, middle + 12, word, anchor, ' opacity=".75"')
    return drawn


def room(*vectors):
    """The limit of a plane that holds all these vectors: 3, or the next of a few steps.  ->  float"""
    largest = max(np.abs(each).max(initial=0) for each in vectors)
    return next((step for step in (3, 4, 6, 9, 14, 20, 30, 60, 100) if largest <= step), 1.1 * largest)


def links(weights, left, right, title="", *, pick=None):
    """Who looks at whom: lines from words on the left to those on the right, thick as weights.  ->  Picture

    weights (n, m) from 0 to 1; left: n words, right: m words; pick: a row whose lines alone are full.
    """
    weights, rows = np.asarray(weights, dtype=float), max(len(left), len(right))
    drawn = Picture((0, 1), (0, 1), title, width=300, height=22 * rows + 20)
    longest = max(len(str(word)) for word in [*left, *right])
    start = min(max(24 + 6.2 * longest, 78), 120)
    narrow = f' textLength="{start - 14:.0f}" lengthAdjust="spacingAndGlyphs"'
    for x, anchor, words in (start - 8, "end", left), (308 - start, "start", right):
        drawn._write(x, 11, "looks" if anchor == "end" else "is looked at", anchor, ' opacity=".75"')
        for i, word in enumerate(map(str, words)):
            style = ' class="tip"' * (i == pick and anchor == "end") + narrow * (len(word) > 17)
            drawn._write(x, 22 * i + 33, word, anchor, style)
    for i, j in np.ndindex(weights.shape):
        thick = 11 * weights[i, j] * (1 if pick in (None, i) else 0.15)
        if thick > 0.05:
            d = f"M{start:g},{22 * i + 29}L{300 - start:g},{22 * j + 29}"
            drawn.marks.append(f'<path d="{d}" stroke="{COLORS["weight"]}" stroke-width="{thick:.1f}"/>')
    for i, row in enumerate(weights) if pick is None else [(pick, weights[pick])]:
        shares = ", ".join(f"{word} {number_text(share)}" for word, share in zip(right, row))
        drawn.said.append(f"{left[i]}: {shares}")
    return drawn


def _arrow(start, tip, width, color):
    """An arrow as an open path; a dot where it has no length."""
    (x0, y0), (x, y) = start, tip
    length = math.hypot(x - x0, y - y0)
    d = f"M{x0:g},{y0:g}L{x:g},{y:g}"
    if length > 1:
        size = min(length, 4 + 2.4 * width) / length
        a, b = 0.9 * size * (x - x0), 0.9 * size * (y - y0)
        c, e = 0.5 * size * (y - y0), 0.5 * size * (x - x0)
        d += f"M{x - a + c:.1f},{y - b - e:.1f}L{x:g},{y:g}L{x - a - c:.1f},{y - b + e:.1f}"
    look = f'stroke="{color}" stroke-width="{width:g}" stroke-linecap="round"'
    return f'<path d="{d}" fill="none" {look}/>'


def _crosses(line, box):
    """Whether a line (x0, y0, x1, y1) passes through a box (x, y, half width, half height)."""
    x0, y0, x1, y1 = line
    x, y, w, h = box
    if max(x0, x1) < x - w or min(x0, x1) > x + w or max(y0, y1) < y - h or min(y0, y1) > y + h:
        return False
    # The line is within reach of the box: does it miss it?
    return abs((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) < abs(x1 - x0) * h + abs(y1 - y0) * w


def figure(width=6.2, height=3.4, columns=1):
    """An empty matplotlib figure in the course's look, whatever matplotlibrc says.  ->  figure, axes

    width, height in inches. Show it with image(): it is no figure of pyplot.
    """
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcdefaults()
    matplotlib.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 10})
    drawn = Figure(figsize=(width, height), dpi=110, layout="constrained", facecolor="white")
    return drawn, drawn.subplots(1, columns)


def image(figure, says):
    """A matplotlib figure as an image; `says` states in words what is seen.  ->  Html"""
    png = io.BytesIO()
    figure.savefig(png, format="png", metadata={"Software": None})
    source = base64.b64encode(png.getvalue()).decode()
    look = f'alt="{html.escape(says)}" style="max-width:100%"'
    return Html(f'<img {look} src="data:image/png;base64,{source}">', says)
