"""The machine behind the live panels: controls above, picture, tables and one status line below.

A panel is a pure function from the values of its controls to what is seen, plus the wiring below. All that is seen
is the text of one widget, so a move of a slider costs one message. A panel never swallows an error: what went wrong
stands in its status line, beside the last good picture.
"""

import contextlib
import functools
import html
import io
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np
from IPython import get_ipython
from IPython.display import display

from course_lib import show
from course_lib.attention import Attention

# Styles of the controls, and what their HTML lacks: a name and a true value for a screen reader, one tab stop each;
# plain keys stay with a control instead of reaching the notebook, where d d deletes the cell.
MANNERS = """<style onload="
const panel = this.closest('.course-panel');
const mend = () => {
  for (const label of panel.querySelectorAll('.widget-label[title]'))
    label.parentElement.querySelector('.noUi-handle, select, input')?.setAttribute('aria-label', label.title);
  for (const slider of panel.querySelectorAll('.widget-slider')) {
    const readout = slider.querySelector('.widget-readout'), handle = slider.querySelector('.noUi-handle');
    readout?.setAttribute('tabindex', -1);
    if (handle && readout && handle.getAttribute('aria-valuetext') != readout.textContent)
      handle.setAttribute('aria-valuetext', readout.textContent);
  }
};
mend();
new MutationObserver(mend).observe(panel, {subtree: true, childList: true, characterData: true,
  attributes: true, attributeFilter: ['aria-valuetext', 'title']});
window.courseKeys ??= !addEventListener('keydown', event => event.target.closest?.('.course-panel')?.toggleAttribute(
  'data-lm-suppress-shortcuts', !(event.ctrlKey || event.metaKey || event.altKey || event.key == 'Escape')), true);
">
.course-panel {width: 100%; min-width: 0; max-width: 1100px; overflow: visible; color: var(--jp-content-font-color1, inherit)}
.course-panel .course-bar {flex-wrap: wrap; gap: 2px 18px; overflow: visible; align-items: center}
.course-panel .widget-label {width: auto !important; min-width: 0; color: inherit; overflow: visible}
.course-panel .widget-slider {flex: 1 1 210px; width: auto; max-width: 420px; margin: 0}
.course-panel .widget-slider .slider-container {margin: 0 10px; min-width: 64px}
.course-panel .widget-readout {flex: 0 0 auto; min-width: 2.6em; margin: 0; padding: 0; text-align: right; color: inherit}
.course-panel .widget-dropdown, .course-panel .widget-text, .course-panel .widget-checkbox {width: auto; flex: 0 1 auto}
.course-panel .widget-text:not(.course-number) {flex: 1 1 260px}
.course-panel .course-number {max-width: 9em}
.course-panel .course-matrix {display: grid; grid-template-columns: max-content 1fr 1fr; flex: 1 1 250px; align-items: center;
 gap: 0 6px; overflow: visible}
.course-panel .course-matrix .widget-html {line-height: 24px; text-align: right}
.course-panel .course-matrix > :nth-child(-n+3) {text-align: center}
.course-panel .noUi-target {background: none; border: 1px solid #808080}
.course-panel .noUi-connect {background: #808080}
.course-panel .noUi-handle {border: 2px solid #808080; background: var(--jp-layout-color0, white); opacity: 1}
.course-panel .noUi-handle:focus-visible {outline: 3px solid #1f78c8; outline-offset: 1px}
.course-panel button {border: 1px solid #808080; width: auto}
.course-panel .widget-html, .course-panel .widget-html-content {width: 100%; overflow: visible; margin: 0}
.course-panel p {flex: 1 0 100%; margin: 0; line-height: 22px; min-height: 22px; overflow-wrap: anywhere}
.course-panel pre {flex: 1 0 100%; margin: 0; max-height: 8em; overflow: auto; white-space: pre-wrap; color: inherit}
</style>"""
# Where the live panel cannot be shown, its last run's picture and numbers stand for it; where it is, they do not.
STILL = """<style>.jp-OutputArea:has(.course-panel) .course-still {display: none}
.jp-OutputArea:has(.course-still) [data-mime-type="application/vnd.jupyter.widget-view+json"]:not(:has(*)) {display: none}
</style>"""


class View(NamedTuple):
    """What a panel shows for one set of values."""

    state: Any  # the numbers behind it, for the tests and for the curious
    seen: show.Html  # pictures and tables
    note: str = ""  # one line of text below them


class NotYet(ValueError):
    """A learner's function returns nothing: it is still a stub."""


class Panel(widgets.VBox):
    """Controls, then what view(values) -> View makes of their values.

    title: one line; controls: {name: widget with a value}; rows: those arranged, in one line where none are given;
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
        super().__init__([widgets.HTML(MANNERS), *rows, self._html])
        self.add_class("course-panel")
        _close_last_run(self)
        self.redraw()

    def values(self):
        """{name: value} of all controls; numbers as written on them, since a browser sends 2.000000000000001 for 2."""
        values = {name: control.value for name, control in self.controls.items()}
        return {
            name: round(value, 9) if isinstance(value, float) else value for name, value in values.items()
        }

    def set(self, changes):
        """Set controls {name: value} and what follows from them, and redraw once. Nothing changes where one is refused."""
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
        """The live view, and the same as a still: for readers without a kernel, and for a notebook reopened."""
        view = {"model_id": self.model_id, "version_major": 2, "version_minor": 0}
        live = "application/vnd.jupyter.widget-view+json"
        display({"text/plain": f"{self.title}: a live panel, run this cell to move it", live: view}, raw=True)
        note = f"<p>{html.escape(self.status)}</p><p><i>{html.escape(self.title)}: live when this cell is run.</i></p>"
        still = f'{STILL}<div class="course course-still">{self._body}<div>{note}</div></div>'
        display(show.Html(still, f"{self.title}\n{self._text}\n{self.status}"))


_open = {}  # (window, cell) -> (its last run, the panels which that made)


def _close_last_run(panel):
    """A cell run again in a window closes the panels of its last run there, and keeps nothing of them."""
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = parent.get("metadata", {}).get("cellId")
    if cell is None:
        return
    window, run = parent["header"]["session"], parent["header"]["msg_id"]
    last, panels = _open.get((window, cell), (run, []))
    if last != run:
        for old in panels:
            for widget in _family(old):
                widget.unobserve_all()
                widget.close()
            old.__dict__.clear()
        panels = []
    _open[window, cell] = run, [*panels, panel]


def _family(widget):
    """A widget with its children, layouts and styles, which are widgets too."""
    parts = [part for part in (widget.layout, getattr(widget, "style", None)) if part]
    return (
        [member for child in getattr(widget, "children", ()) for member in _family(child)] + parts + [widget]
    )


# Small makers of controls. `name` is what a screen reader says; `word` what stands before the control.


def slider(name, low, high, step, value, word=None):
    """A slider of numbers: whole ones where the step is whole."""
    whole = isinstance(step, int)
    kind, form = (widgets.IntSlider, "d") if whole else (widgets.FloatSlider, f".{len(f'{step:g}') - 2}f")
    word = name if word is None else word
    return kind(value, min=low, max=high, step=step, description=word, tooltip=name, readout_format=form)


def choice(name, options, value=None):
    """A dropdown; options are words, or (word, value) pairs."""
    first = options[0][1] if isinstance(options[0], tuple) else options[0]
    return widgets.Dropdown(
        options=options, value=first if value is None else value, description=name, tooltip=name
    )


def number(name, value=0, high=999):
    """A box for a whole number from 0 up."""
    box = widgets.BoundedIntText(value, 0, high, description=name, tooltip=name)
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


def labels(tokens, most=12):
    """Tokens as numbered labels, "2 saw", cut where they are long."""
    words = [f"{i} {token}" for i, token in enumerate(tokens, 1)]
    return [word if len(word) <= most else word[: most - 1] + "…" for word in words]


def checked(name, result, shape, *, nan=False):
    """What a learner's function returned, as an array of floats of this shape, or an error that says what is wrong.

    NotYet for None, ValueError for another shape, for what are no real numbers, and unless nan for nan and inf.
    """
    if result is None or result is ...:
        raise NotYet("your function returned None, as a stub does")
    array = np.asarray(result)
    if array.shape != tuple(shape):
        raise ValueError(f"your {name} has shape {array.shape}, it should have {tuple(shape)}")
    if array.dtype.kind not in "biuf" or not (nan or np.isfinite(array).all()):
        raise ValueError(f"your {name} holds entries that are not finite numbers")
    return array.astype(float)


def checked_attention(result, like):
    """A learner's Attention with the shapes of `like`, or an error that says what is wrong."""
    if result is not None and not (isinstance(result, (tuple, list)) and len(result) == len(like)):
        wanted = f"Attention({', '.join(like._fields)})"
        raise ValueError(f"your function returned {type(result).__name__}, the panel needs {wanted}")
    stages = [None] * len(like) if result is None else result
    return Attention(*(checked(*each) for each in zip(like._fields, stages, map(np.shape, like))))
