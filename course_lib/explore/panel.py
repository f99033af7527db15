"""The machine behind the live panels: controls above, picture, tables and one status line below.

A panel is a pure function from the values of its controls to what is seen, plus the wiring below. All that is
seen is the text of one widget, so a move of a slider costs one message. A panel never swallows an error: what
went wrong stands in its status line, beside the last good picture.
"""

import contextlib
import functools
import html
import io
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np

from course_lib import live, show
from course_lib.attention import Attention


class View(NamedTuple):
    """What a panel shows for one set of values."""

    state: Any  # the numbers behind it, for the tests and for the curious
    seen: show.Html  # pictures and tables
    note: str = ""  # one line of text below them


class NotYet(ValueError):
    """A learner's function returns nothing: it is still a stub."""


class Panel(widgets.VBox):
    """Controls, then what view(values) -> View makes of their values.

    title: one line; controls: {name: widget with a value}; rows: those arranged, in one line unless given;
    standard: the view with the library's own function, shown while the learner's is still a stub;
    follow(old, changes) -> {name: value}: what else changes with `changes`, for presets.
    Handles: panel.controls[name] (and by its older name panel.sliders), panel.state, panel.status,
    panel.set({name: value}), panel.reset().
    """

    def __init__(self, title, controls, view, rows=None, *, standard=None, follow=None):
        self.title, self.controls, self.view, self.standard = title, controls, view, standard
        self.sliders, self.follow = controls, follow or (lambda old, changes: changes)
        self.state, self.status, self.redraws, self._quiet = None, "", 0, False
        self._body = self._text = ""
        self._start = self._seen = self.values()
        self._html = widgets.HTML()
        for name, control in controls.items():
            control.observe(functools.partial(self._moved, name), "value")
        reset = widgets.Button(description="reset", tooltip="reset: back to how the panel began")
        reset.on_click(lambda _: self.reset())
        rows = rows or [bar(*controls.values())]
        rows[0].children += (reset,)
        super().__init__([widgets.HTML(live.MANNERS), *rows, self._html])
        self.add_class("course-panel")
        live.close_last_run(self)
        self.redraw()

    def values(self):
        """{name: value} of all controls, numbers as written: a browser sends 2.000000000000001 for 2."""
        now = {name: control.value for name, control in self.controls.items()}
        return {name: round(value, 9) if isinstance(value, float) else value for name, value in now.items()}

    def set(self, changes):
        """Set controls {name: value} and what follows, redraw once. Where one is refused, nothing changes."""
        old, self._quiet = self.values(), True
        try:
            for name, value in {**changes, **self.follow({**self._seen, **changes}, changes)}.items():
                if value != old[name]:
                    self.controls[name].value = value
        except Exception:
            for name, value in old.items():
                self.controls[name].value = value
            raise
        finally:
            self._quiet = False
        self.redraw()

    def reset(self):
        """Back to how the panel began."""
        self._seen = self._start
        self.set(self._start)

    def _moved(self, name, change):
        if not self._quiet and self.values() != self._seen:
            self.set({name: self.values()[name]})

    def redraw(self):
        """Show what the controls say now."""
        self.redraws += 1
        self._seen, printed = self.values(), io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                try:
                    shown = self.view(self._seen)
                except NotYet as stub:
                    shown = self.standard(self._seen)
                    shown = shown._replace(note=f"{stub}, so this is the library's. {shown.note}")
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # a learner's function may raise anything
            self.status = f"{type(error).__name__}: {error} (picture: the last good one)"
            if not self._body and self.standard:
                self._keep(self.standard(self._seen))
        else:
            self._keep(shown)
            self.status = shown.note
        said = f'<p role="status">{html.escape(self.status[:600])}</p>'
        if printed.getvalue():
            said += f"<pre>{html.escape(printed.getvalue()[-2000:])}</pre>"
        self._html.value = f'{show.STYLE}<div class="course">{self._body}{said}</div>'

    def _keep(self, shown):
        self.state, self._body, self._text = shown.state, shown.seen.html, shown.seen.text

    def _ipython_display_(self):
        note = f"{html.escape(self.status)}<br><i>{html.escape(self.title)}: live when this cell is run.</i>"
        still = show.Html(f"{self._body}<div>{note}</div>", f"{self.title}\n{self._text}\n{self.status}")
        live.display_live(self, f"{self.title}: a live panel, run this cell to move it", still)


# Small makers of controls. `name` is what a screen reader says; `word` what stands before the control.


def slider(name, low, high, step, value, word=None):
    """A slider of numbers: whole ones where the step is whole."""
    whole = isinstance(step, int)
    kind, form = (widgets.IntSlider, "d") if whole else (widgets.FloatSlider, f".{len(f'{step:g}') - 2}f")
    word = name if word is None else word
    return kind(value, min=low, max=high, step=step, description=word, tooltip=name, readout_format=form)


def choice(name, options, value=None):
    """A dropdown; options are words, or (word, value) pairs."""
    chosen = {} if value is None else {"value": value}
    return widgets.Dropdown(options=options, description=name, tooltip=name, **chosen)


def number(name):
    """A box for a whole number from 0 to 999."""
    box = widgets.BoundedIntText(0, 0, 999, description=name, tooltip=name)
    box.add_class("course-number")
    return box


def switch(name, value=False):
    """A box to tick."""
    return widgets.Checkbox(value, description=name, tooltip=name, indent=False)


def bar(*parts):
    """Controls in a line that breaks where it is too narrow."""
    line = widgets.Box(parts)
    line.add_class("course-bar")
    return line


def matrix(name, cells, rows):
    """The sliders of a matrix (n, 2), row by row, under its name and beside the names of its rows."""
    words = [widgets.HTML(html.escape(str(word))) for word in (f"{name}", 1, 2, *rows)]
    lines = [part for i, word in enumerate(words[3:]) for part in (word, *cells[2 * i : 2 * i + 2])]
    grid = widgets.Box([*words[:3], *lines])
    grid.add_class("course-matrix")
    return grid


def labels(tokens, most=12):
    """Tokens as numbered labels, "2 saw", cut where they are long."""
    words = [f"{i} {token}" for i, token in enumerate(tokens, 1)]
    return [word if len(word) <= most else word[: most - 1] + "…" for word in words]


def checked(name, result, shape, *, nan=False):
    """What a learner's function returned, as floats of this shape, or an error that says what is wrong.

    NotYet for None; ValueError for another shape, for what is no real number, unless nan= for nan and inf.
    """
    if result is None or result is ...:
        raise NotYet("your function returned None, as a stub does")
    array = np.asarray(result)
    if array.shape != tuple(shape):
        raise ValueError(f"the shape of your {name} is {array.shape}, it should be {tuple(shape)}")
    if array.dtype.kind not in "biuf" or not (nan or np.isfinite(array).all()):
        raise ValueError(f"entries of your {name} are not finite numbers")
    return array.astype(float)


def checked_attention(result, like):
    """A learner's Attention with the shapes of `like`, or an error that says what is wrong."""
    if result is not None and not (isinstance(result, (tuple, list)) and len(result) == len(like)):
        wanted = f"Attention({', '.join(like._fields)})"
        raise ValueError(f"your function returned {type(result).__name__}, the panel needs {wanted}")
    stages = [None] * len(like) if result is None else result
    return Attention(*(checked(*each) for each in zip(like._fields, stages, map(np.shape, like))))
