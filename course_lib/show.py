"""Numbers as tables, vectors as figures. Knows nothing of attention.

A table is HTML: sharp on a projector, readable in light and dark theme and by a screen reader, and
compared by the tests, so every number a reader sees is checked. Vectors, hulls and curves are matplotlib.
"""

import functools
import html
import io

import numpy as np
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import IdentityTransform
from PIL import Image

BLUE, ORANGE, PURPLE, GRAY = "#0072b2", "#c05a00", "#9b3d8f", "#8a8a8a"  # told apart by colour-blind readers
COLORMAPS = {"signed": "PuOr", "weights": "cividis"}


class Html(str):
    """HTML that JupyterLab draws; `text` is the same as plain text."""

    text = ""

    def _repr_html_(self):
        return str(self)

    def __repr__(self):
        return self.text


def table(values, rows=None, columns=None, *, caption="", kind="signed", decimals=2, limit=None, pick=None):
    """A matrix (n, m) or vector (m,) as a table of coloured cells.  ->  Html

    rows, columns: labels, 1, 2, 3 ... where none are given. kind: "signed" colours around 0 up to +-limit
    (the largest entry unless given), "weights" from 0 to 1, "plain" not at all. pick: a row to point out.
    ValueError for more than two axes or labels that do not fit.
    """
    values = np.asarray(values)
    if not 1 <= values.ndim <= 2:
        raise ValueError(f"a table shows one matrix or vector, not shape {values.shape}")
    rounded = np.atleast_2d(np.round(values.astype(float), decimals)) + 0.0  # + 0.0 turns -0.0 into 0.0
    rows = _labels(rows, rounded.shape[0], "rows") if values.ndim == 2 or rows is not None else [""]
    columns = _labels(columns, rounded.shape[1], "columns")
    words = [[_number(number, decimals) for number in row] for row in rounded]
    styles = _cell_styles(rounded, kind, limit)
    head = "".join(f'<th scope="col" style="{_HEAD}">{html.escape(c)}</th>' for c in columns)
    body = "".join(
        f'<tr style="background:transparent"><th scope="row" style="{_HEAD};text-align:right{_PICKED if i == pick else ""}">'
        f"{html.escape(label)}{' &#9664;' if i == pick else ''}</th>"
        + "".join(f'<td style="{_CELL};{style}">{word}</td>' for word, style in zip(words[i], styles[i]))
        + "</tr>"
        for i, label in enumerate(rows)
    )
    title = f'<caption style="{_CAPTION}">{html.escape(caption)}</caption>' if caption else ""
    drawn = Html(
        f'<table style="{_TABLE}">{title}<thead><tr><td style="{_HEAD}"></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )
    drawn.text = _plain(caption, rows, columns, words)
    return drawn


def side_by_side(*parts):
    """Several tables in one line.  ->  Html"""
    drawn = Html(
        '<div style="display:flex;flex-wrap:wrap;gap:4px 22px;align-items:flex-start">'
        + "".join(f"<div>{part}</div>" for part in parts)
        + "</div>"
    )
    drawn.text = "\n\n".join(part.text for part in parts)
    return drawn


_TABLE = (
    "border-collapse:separate;border-spacing:1px;margin:2px 0;"
    "font-size:calc(0.93 * var(--jp-content-font-size1, 14px));line-height:1.35;width:auto"
)
_CELL = "min-width:34px;padding:1px 4px;text-align:right;font-variant-numeric:tabular-nums;border-radius:2px"
_HEAD = "padding:1px 4px;font-weight:500;background:transparent;color:inherit;text-align:center"
_PICKED = ";font-weight:800"
_CAPTION = "caption-side:top;text-align:left;font-weight:600;padding:0 0 2px;color:inherit;white-space:nowrap"


def _labels(labels, count, name):
    labels = range(1, count + 1) if labels is None else list(labels)
    if len(labels) != count:
        raise ValueError(f"{len(labels)} labels for {count} {name}")
    return [str(label) for label in labels]


def _number(number, decimals):
    return f"{number:.{decimals}f}" if np.isfinite(number) else str(number)


def _plain(caption, rows, columns, words):
    lines = [["", *columns]] + [[label, *row] for label, row in zip(rows, words)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = "\n".join(
        "  ".join(word.rjust(width) for word, width in zip(line, widths)).rstrip() for line in lines
    )
    return f"{caption}\n{text}" if caption else text


@functools.cache
def _shades(colormap):
    """256 cell styles along a colormap, the text dark or light by the luminance behind it."""
    colors = colormaps[colormap](np.linspace(0, 1, 256))[:, :3]
    luminance = np.where(colors <= 0.04, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]
    return [
        "background:#%02x%02x%02x;color:%s"
        % (*(int(round(255 * c)) for c in color), "#111" if light > 0.18 else "#fff")
        for color, light in zip(colors, luminance)
    ]


def _cell_styles(rounded, kind, limit):
    """One style a cell, from the rounded number shown: a difference in the last bit changes nothing."""
    if kind == "plain":
        return np.full(rounded.shape, "", dtype=object)
    finite = np.isfinite(rounded)
    if kind == "weights":
        place = rounded
    else:
        limit = limit or np.abs(rounded[finite]).max(initial=0) or 1
        place = 0.5 + rounded / (2 * limit)
    shades = np.array(_shades(COLORMAPS[kind]), dtype=object)
    index = np.clip(np.where(finite, place, 0) * 255 + 0.5, 0, 255).astype(int)
    return np.where(finite, shades[index], "")


def plane(axes, limit, title=""):
    """Draw an empty plane from -limit to +limit, with its two axes through 0."""
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", title=title)
    axes.axhline(0, color="#cccccc", linewidth=1, zorder=0)
    axes.axvline(0, color="#cccccc", linewidth=1, zorder=0)
    axes.tick_params(labelsize=8, color="#999999", labelcolor="#666666", length=2)
    axes.spines[:].set_color("#dddddd")
    axes.set_axisbelow(True)


def arrows(axes, vectors, labels=(), *, color=BLUE, alpha=1.0, width=1.0):
    """Arrows from 0 to vectors (n, 2), the labels beyond their tips.  ->  the artists drawn

    width: 1, or (n,) for each arrow its own. The plane's limits must be set.
    Arrows that end in one point (to one decimal) share one label: "q2 q4".
    """
    vectors = np.asarray(vectors, dtype=float).reshape(-1, 2)
    reach = np.ptp(axes.get_xlim()) / 2
    shapes = _arrow_shapes(vectors, 0.012 * reach * np.broadcast_to(width, len(vectors))[:, None])
    artists = [PolyCollection(shapes, color=2 * [color], alpha=alpha, linewidth=0, zorder=3)]  # for one
    tips = {}
    for vector, label in zip(vectors, labels):
        tips.setdefault(tuple(np.round(vector, 1) + 0.0), []).append(label)
    if tips:
        words = [" ".join(names) for names in tips.values()]
        points = np.array(list(tips))
        lengths = np.hypot(*points.T)[:, None]
        ways = np.where(lengths > 0, points / np.maximum(lengths, 0.1), 0.7)
        halves = np.array([[0.3 * len(word), 0.5] for word in words]) * _letter_size(axes)
        places = np.clip(
            _apart(points + ways * (0.05 * reach + halves), halves), halves - reach, reach - halves
        )
        artists.append(
            PathCollection(
                [_letters(word) for word in words],
                sizes=[1],
                offsets=places,
                zorder=4,
                offset_transform=axes.transData,
                transform=IdentityTransform(),
                linewidth=0,
                color=2 * [color],
            )
        )  # colour, matplotlib is slower
    for artist in artists:
        axes.add_collection(artist, autolim=False)
    return artists


def _apart(places, halves):
    """The centres of labels (n, 2), of half size halves, moved up or down where one would lie on an earlier one."""
    places = places.copy()
    for i, half in enumerate(halves):
        for place, other in zip(places[:i], halves):
            x, y = places[i] - place
            if abs(x) < half[0] + other[0] and abs(y) < half[1] + other[1]:
                places[i, 1] = place[1] + np.copysign(half[1] + other[1], y)
    return places


def _arrow_shapes(vectors, half):
    """One polygon (7, 2) an arrow: a shaft 2 * half wide, and a head."""
    lengths = np.hypot(*vectors.T)[:, None]
    along = vectors / np.where(lengths > 0, lengths, 1)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) * half
    neck = vectors - along * np.minimum(lengths, 7 * half)
    return np.stack(
        [across, neck + across, neck + 3 * across, vectors, neck - 3 * across, neck - across, -across], axis=1
    )


def _letter_size(axes):
    """The height of a letter of 9 points, in the units of the axes."""
    return 9 * axes.figure.dpi / 72 * np.ptp(axes.get_xlim()) / axes.bbox.width


@functools.cache
def _letters(text):
    """A label as one outline centred on 0: drawn ten times faster than a text."""
    path = TextPath((0, 0), text, size=9, prop=FontProperties(weight="bold"))
    return Path(path.vertices - path.get_extents().get_points().mean(axis=0), path.codes)


class Canvas:
    """A picture of fixed size whose frame is drawn once; `paint` adds what moves, fast enough for a slider.

    width, height in CSS pixels; drawn at one and a half times that, to be sharp on most screens. Never touches pyplot.
    """

    def __init__(self, width, height, panes=1):
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / 100, height / 100), dpi=150, facecolor="white")
        self.agg = FigureCanvasAgg(self.figure)
        self.axes = self.figure.subplots(1, panes, squeeze=False)[0]
        self.figure.subplots_adjust(left=0.04, right=0.985, bottom=0.1, top=0.88, wspace=0.18)
        self.frame = None

    def paint(self, draw):
        """PNG bytes of the frame with the artists that draw() returns on top of it."""
        if self.frame is None:
            self.agg.draw()
            self.frame = self.agg.copy_from_bbox(self.figure.bbox)
        self.agg.restore_region(self.frame)
        for artist in draw():
            artist.axes.draw_artist(artist)
            artist.remove()
        image = Image.frombuffer("RGBA", self.agg.get_width_height(), self.agg.buffer_rgba()).convert("RGB")
        png = io.BytesIO()
        image.quantize(palette=_palette(), dither=0).save(png, "PNG", compress_level=1)
        return png.getvalue()


@functools.cache
def _palette():
    """The course's colours, each in 32 steps to white: few enough for a small, fast PNG."""
    inks = [to_rgb(ink) for ink in (BLUE, ORANGE, PURPLE, "black")]
    steps = np.append(np.linspace(0, 0.95, 31), 1)[
        :, None
    ]  # nothing so near to white that Pillow takes it for white
    colors = np.concatenate([steps + (1 - steps) * ink for ink in inks])
    palette = Image.new("P", (1, 1))
    palette.putpalette((255 * colors).round().astype(np.uint8).ravel().tolist())
    return palette
