"""The live panels: sliders that answer at once.

A panel is a pure function from the values of its controls to what is seen, plus the wiring below.
It never swallows an error: what went wrong stands in its status line, beside the last good picture.
"""

import base64
import contextlib
import html
import re
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
from IPython import get_ipython

from course_lib import show
from course_lib.attention import Attention

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
                preset.value = "your own"
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
