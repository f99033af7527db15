"""The panel of notebook 08: attention and an RNN in a race."""

import re

import numpy as np
import pytest

from course_lib import explore
from course_lib.explore.attention_and_rnn import LENGTHS


@pytest.fixture
def panel():
    return explore.race()


def look(panel):
    return panel._html.value


def times(n, d, at_once):
    """Both times by hand, from the products that are made."""
    serial = n + (n * d * d + n * d * d) / at_once
    parallel = 4 + (3 * n * d * d + n * d * n + n * n * d) / at_once
    return {"RNN": serial, "attention": parallel}


@pytest.mark.parametrize("n", [1, 64, 65536])
@pytest.mark.parametrize("d", [8, 1024])
@pytest.mark.parametrize("at_once", [1, 10**5, 10**7])
def test_times_and_memory_are_those_counted(panel, n, d, at_once):
    panel.set({"n": n, "d": d, "r": at_once})
    want = times(n, d, at_once)
    assert panel.state["times"] == pytest.approx(want)
    assert panel.state["kept"] == {"RNN": (d, n * d), "attention": (2 * n * d, 3 * n * d + n * n)}
    first = min(want, key=want.get)
    assert panel.status.startswith("attention is" if first == "attention" else "the RNN is")


@pytest.mark.parametrize(
    "d, at_once, lead",
    [(64, 10**5, (5, 745)), (64, 10**6, (5, 7776)), (64, 10**4, (9, 37)), (64, 5000, None)],
)
def test_where_attention_leads(panel, d, at_once, lead):
    panel.set({"d": d, "r": at_once})
    assert panel.state["lead"] == lead
    for n, out in zip(lead or (), (-1, 1)):
        found, beyond = times(n, d, at_once), times(n + out, d, at_once)
        assert found["attention"] < found["RNN"] and beyond["attention"] >= beyond["RNN"]
    words = f"leads from {lead[0]:,} to {lead[1]:,} tokens" if lead else "the RNN leads at every length"
    assert words in panel.status


@pytest.mark.parametrize("d", [8, 64, 1024])
def test_the_lead_is_that_of_every_length_tried(panel, d):
    n = np.arange(1.0, 1_000_000)
    for at_once in panel.controls["r"].options:
        panel.set({"d": d, "r": at_once})
        found = times(n, d, at_once)
        ahead = n[found["attention"] < found["RNN"] - 1e-9]
        assert panel.state["lead"] == ((ahead[0], ahead[-1]) if len(ahead) else None)


def test_attention_never_leads_where_a_step_buys_fewer_multiplications_than_d_squared(panel):
    for d in panel.controls["d"].options:
        for at_once in panel.controls["r"].options:
            panel.set({"d": d, "r": at_once})
            assert at_once > d * d or panel.state["lead"] is None


@pytest.mark.parametrize("name, value", [("n", 1024), ("d", 8), ("r", 10)])
def test_every_slider_moves_picture_and_table(panel, name, value):
    picture, table = look(panel).split("<table")
    panel.controls[name].value = value
    now = look(panel).split("<table")
    assert now[0] != picture and now[1] != table


def test_lines_and_dots_lie_in_the_frame_for_every_choice(panel):
    for d in (8, 64, 1024):
        for at_once in panel.controls["r"].options:
            panel.set({"d": d, "r": at_once})
            for path in re.findall(r'<path d="M([^"HV]*)" fill="none"', look(panel)):
                points = np.array([point.split(",") for point in path.split()], float)
                assert (points > 0).all() and (points[:, 1] < 190).all()


def test_what_is_drawn_is_said(panel):
    said = re.findall('aria-label="(.*?)"', look(panel))
    assert "RNN: 69 for 64 tokens; attention: 17 for 64 tokens" in said[0]
    assert "RNN: 4096 for 64 tokens; attention: 16384 for 64 tokens" in said[1]
    assert len(LENGTHS) == len(panel.controls["n"].options)


def test_reset_gives_identical_text(panel):
    begin = look(panel)
    panel.set({"n": 16, "d": 128, "r": 100})
    assert look(panel) != begin
    panel.reset()
    assert look(panel) == begin
