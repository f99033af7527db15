"""What live things in a cell share: manners, a still to stand for them, an end when the cell runs again."""

import pathlib

from IPython import get_ipython
from IPython.display import display

from course_lib import show

# Styles of controls, and what their HTML lacks: live.html says it.
MANNERS = pathlib.Path(__file__).with_name("live.html").read_text(encoding="utf-8")
VIEW = "application/vnd.jupyter.widget-view+json"
# Where the live view cannot be shown, the still stands for it; else it is hidden.
STILL = """<style>.jp-OutputArea:has(.course-panel) .course-still {display: none}
.jp-OutputArea:has(.course-still) .jp-OutputArea-output:not(:has(*)) {display: none}
</style>"""

_open = {}  # (window, cell) -> (its last run, the widgets which that made)


def display_live(widget, words, still):
    """Show a widget, and a still (Html) of it: for readers without a kernel, and for a notebook reopened.

    words: what stands for the widget where there is only plain text.
    """
    view = {"model_id": widget.model_id, "version_major": 2, "version_minor": 0}
    display({"text/plain": words, VIEW: view}, raw=True)
    display(show.Html(f'{STILL}<div class="course course-still">{still.html}</div>', still.text))


def close_last_run(widget):
    """A cell run again in a window closes the widgets of its last run there, and keeps nothing of them."""
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = parent.get("metadata", {}).get("cellId")
    if cell is None:
        return
    window, run = parent["header"]["session"], parent["header"]["msg_id"]
    last, made = _open.get((window, cell), (run, []))
    if last != run:
        for old in made:
            for part in _family(old):
                part.unobserve_all()
                part.close()
            old.children = ()
            for name in [name for name in vars(old) if not name.startswith(("_trait", "_cross"))]:
                delattr(old, name)  # the old panel itself stays in Out: nothing hangs on it
        made = []
    _open[window, cell] = run, [*made, widget]


def _family(widget):
    """A widget with its children, layouts and styles, which are widgets too."""
    parts = [part for part in (widget.layout, getattr(widget, "style", None)) if part]
    children = [member for child in getattr(widget, "children", ()) for member in _family(child)]
    return [*children, *parts, widget]
