"""The panel of notebook 01: how far the cue lies, how far a model sees."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import explore


@pytest.fixture
def panel():
    return explore.reach()


def look(panel):
    return panel._html.value


@given(st.integers(-3, 3), st.integers(0, 3))
def test_the_ceilings_are_1_where_the_cue_is_seen_and_the_formula_elsewhere(distance, radius):
    panel = explore.reach()
    panel.set({"distance": distance, "radius": radius})
    blind = (7 + abs(distance)) / 14
    found = panel.state["ceilings"]
    assert [found[f"radius {r}"] for r in range(4)] == pytest.approx(
        [1 if r >= abs(distance) else blind for r in range(4)]
    )
    assert found["all"] == 1 and found["all before"] == pytest.approx(1 if distance <= 0 else blind)
    assert panel.state["sees"] == (abs(distance) <= radius)
    assert ("does NOT hold" in panel.status) is not panel.state["sees"]
    assert f"{found[f'radius {radius}']:.3f} of the labels" in panel.status


def test_the_table_shows_the_cue_and_what_is_seen(panel):
    panel.set({"distance": 2, "radius": 1})
    lines = [line.split() for line in panel._text.splitlines()[2:6]]
    numbers = [[int(word) for word in line[-7:]] for line in lines]
    assert numbers == [[0, 0, 0, 0, 0, 1, 0], [0, 0, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0, 0], 7 * [1]]


@pytest.mark.parametrize("name", ["distance", "radius"])
def test_every_slider_moves_what_is_seen_and_reset_gives_identical_text(panel, name):
    begin = look(panel)
    panel.controls[name].value += 1
    assert look(panel) != begin
    redraws = panel.redraws
    panel.reset()
    assert look(panel) == begin and panel.redraws == redraws + 1


def test_a_stub_shows_the_librarys(panel):
    stub = explore.reach(lambda seen, labels: None)
    stub.controls["distance"].value = panel.controls["distance"].value = 3
    assert "the library's" in stub.status and stub.state == panel.state


def test_a_learners_function_gets_arrays_of_whole_numbers_and_cannot_change_them(panel):
    def rude(seen, labels):
        assert seen.dtype.kind == labels.dtype.kind == "i" and seen.shape == labels.shape == (7 * 2**7,)
        table = np.zeros((seen.max() + 1, 2))
        np.add.at(table, (seen, labels), 1)
        seen[:], labels[:] = 0, 0
        return table.max(axis=1).sum() / len(seen)

    theirs = explore.reach(rude)
    for each in (theirs, panel):
        each.controls["distance"].value = -3
    assert look(theirs) == look(panel)


@pytest.mark.parametrize(
    "wrong, says",
    [
        (lambda seen, labels: [1.0, 1.0], "is (2,)"),
        (lambda seen, labels: 2.5, "your ceiling is 2.5, a share lies from 0 to 1"),
        (lambda seen, labels: np.nan, "not finite"),
        (lambda seen, labels: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_what_is_wrong_is_said_beside_the_last_good_picture(panel, wrong, says):
    theirs = explore.reach(wrong)
    assert says in theirs.status and theirs.state == panel.state


def test_the_chosen_bar_is_filled_and_said(panel):
    assert len(re.findall('fill="#a37b00"', look(panel))) == 1
    assert "radius 1 0.64" in re.search('aria-label="(.*?)"', look(panel))[1]
