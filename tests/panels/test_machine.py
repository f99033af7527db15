"""The machine behind the panels: one message a move, nothing swallowed, nothing leaked, a still for later."""

import gc
import re
import weakref

import ipywidgets as widgets
import numpy as np
import pytest

from course_lib import explore, live, show
from course_lib.explore import panel as machine
from course_lib.explore.panel import NotYet, Panel, View, checked, choice, number, slider


def shown(values):
    return View(values["x"], show.table([values["x"]]), f"x is {values['x']}")


def make(view=shown, **options):
    controls = {"x": slider("x", 0, 5, 0.5, 1), "kind": choice("kind", ["a", "b"])}
    return Panel("A panel", controls, view, **options)


def test_a_move_changes_one_widget_once():
    panel, changes = make(), []
    for widget in live._family(panel):
        widget.observe(lambda change: changes.append((type(change.owner).__name__, change.name)))
    panel.controls["x"].value = 2
    assert sorted(changes) == [("FloatSlider", "value"), ("HTML", "value")]
    assert panel.state == 2 and panel.status == "x is 2.0" and ">2.00</td>" in panel._html.value


def test_controls_have_their_older_name_too():
    panel = make()
    assert panel.sliders is panel.controls


def test_setting_several_redraws_once_and_what_is_refused_changes_nothing():
    panel = make()
    panel.set({"x": 3, "kind": "b"})
    assert panel.redraws == 2 and panel.values() == {"x": 3, "kind": "b"}
    for wrong in ({"x": 4, "kind": "c"}, {"x": 4, "y": 1}, {"x": "four"}):
        with pytest.raises(Exception):
            panel.set(wrong)
        assert panel.values() == {"x": 3, "kind": "b"} and panel.state == 3
    panel.controls["x"].value = 5
    assert panel.state == 5


def test_what_follows_from_a_change_follows_from_set_and_from_a_move():
    def follow(now, changes):
        return {"kind": "b"} if "x" in changes else {}

    for change in (lambda p: p.set({"x": 2}), lambda p: setattr(p.controls["x"], "value", 2)):
        panel = make(follow=follow)
        change(panel)
        assert panel.values() == {"x": 2, "kind": "b"} and panel.redraws == 2


def test_a_value_that_a_browser_only_rounds_is_no_change():
    panel = make()
    panel.controls["x"].value = 1.0000000000000002
    assert panel.redraws == 1


class Markup(Exception):
    """Its name is markup, as a learner may make one."""


Markup.__name__ = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize(
    "error, words",
    [
        (SystemExit(3), "SystemExit: 3"),
        (Markup("<b>"), "<img"),
        (KeyboardInterrupt(), "Keyboard"),
        (ZeroDivisionError("no"), "no"),
    ],
)
def test_whatever_a_function_raises_stands_escaped_beside_the_last_good_picture(error, words):
    def view(values):
        if values["x"] > 2:
            raise error
        return shown(values)

    panel = make(view)
    body = panel._body
    panel.controls["x"].value = 3
    assert words in panel.status and panel._body == body and body in panel._html.value
    assert "<img" not in panel._html.value and "<b>" not in panel._html.value
    panel.controls["x"].value = 2
    assert panel.status == "x is 2.0"


def test_what_a_function_prints_is_shown_and_escaped():
    def view(values):
        print("<i>here", values["x"])
        return shown(values)

    panel = make(view)
    panel.controls["x"].value = 4
    assert "<pre>&lt;i&gt;here 4.0\n</pre>" in panel._html.value


def test_what_a_function_prints_before_it_stops_is_shown_too():
    def view(values):
        print("so far")
        raise ValueError("stop")

    assert "<pre>so far" in make(view, standard=shown)._html.value


def test_a_stub_shows_the_standard_and_says_so():
    def view(values):
        return View(*[checked("answer", None, (1,))] * 3)

    panel = make(view, standard=shown)
    panel.controls["x"].value = 2
    assert panel.state == 2 and "None" in panel.status and "library's" in panel.status


def test_reset_gives_the_same_text():
    panel = make()
    before = panel._html.value
    panel.set({"x": 4, "kind": "b"})
    panel.reset()
    assert panel._html.value == before and panel.values() == {"x": 1, "kind": "a"}


def displayed(thing, monkeypatch):
    found = []
    monkeypatch.setattr(live, "display", lambda what, raw=False: found.append(what))
    thing._ipython_display_()
    return found


def test_a_still_holds_picture_numbers_and_status(monkeypatch):
    panel = make()
    view, still = displayed(panel, monkeypatch)
    assert view[live.VIEW]["model_id"] == panel.model_id
    assert (
        ">1.00</td>" in still.html and "x is 1.0" in still.html and "live when this cell is run" in still.html
    )
    assert repr(still).startswith("A panel\n") and "1.00" in repr(still) and "x is 1.0" in repr(still)
    assert " at 0x" not in repr(still) + view["text/plain"]


class Shell:
    """The kernel, as far as a panel asks it: which window ran which cell."""

    def __init__(self, cell="cell", window="one", run="first"):
        self.parent = {"metadata": {"cellId": cell}, "header": {"session": window, "msg_id": run}}

    def get_parent(self):
        return self.parent


def run_cell(monkeypatch, **where):
    monkeypatch.setattr(live, "get_ipython", lambda: Shell(**where))
    return make()


def test_a_cell_run_again_closes_its_last_panel_and_keeps_nothing_of_it(monkeypatch):
    old = run_cell(monkeypatch, run="0")
    gone, html = old._html, weakref.ref(old._html)
    once = len(widgets.widget._instances)
    for run in range(1, 11):
        panel = run_cell(monkeypatch, run=str(run))
    assert len(widgets.widget._instances) == once and gone.comm is None
    del gone
    gc.collect()
    assert html() is None  # though `old`, as Out does, still holds the panel
    panel.controls["x"].value = 2
    assert panel.state == 2


@pytest.mark.parametrize(
    "where",
    [dict(run="1"), dict(window="two", run="2"), dict(cell="other", run="2")],
    ids=["two panels in one run", "two windows, or notebooks on one kernel", "two cells"],
)
def test_panels_of_other_places_live_on(monkeypatch, where):
    first, second = run_cell(monkeypatch, run="1"), run_cell(monkeypatch, **where)
    for panel in (first, second):
        panel.controls["x"].value = 3
        assert panel.state == 3 and panel._html.comm is not None


@pytest.mark.parametrize(
    "result, words",
    [(np.ones(3), r"\(3,\).*\(2,\)"), (["a", "b"], "finite"), ([1, np.inf], "finite"), ([1j, 0], "finite")],
)
def test_what_a_learner_returns_is_checked(result, words):
    with pytest.raises(ValueError, match=words):
        checked("answer", result, (2,))


def test_what_a_learner_may_return():
    assert checked("answer", [1, 2], (2,)).dtype == float
    assert np.isnan(checked("answer", [np.nan, 2], (2,), nan=True)[0])
    with pytest.raises(NotYet):
        checked("answer", None, (2,))


def test_makers_give_every_control_a_name_and_a_fitting_form():
    whole, tenth = slider("n", 1, 9, 1, 2), slider("t", 0, 1, 0.25, 0.5)
    assert (whole.readout_format, tenth.readout_format) == ("d", ".2f")
    assert isinstance(whole.value, int)
    for control in (whole, tenth, choice("c", ["a"]), number("seed"), machine.switch("on")):
        assert control.tooltip and control.description == control.tooltip
    assert slider("W_q, deed, column 1", -3, 3, 0.1, 0, "").description == ""


def test_long_tokens_are_cut_and_numbered():
    assert machine.labels(["I", "extraordinarily"]) == ["1 I", "2 extraordi…"]


def test_the_panels_are_those_of_the_notebooks():
    assert sorted(explore.__all__) == [
        "heads",
        "hull",
        "normalizers",
        "order",
        "qkv",
        "race",
        "reach",
        "scale",
        "sentence",
    ]
    assert not re.search("course_lib.explore", live.__doc__)
