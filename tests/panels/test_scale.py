"""The panel of notebook 03: d_k and what the scores are divided by."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import explore, show
from course_lib.attention import scores

RULES = {"none": 0, "√d_k": 0.5, "d_k": 1}


@pytest.fixture
def panel():
    return explore.scale()


def bars(panel, color):
    """How far the bars of one color reach, in pixels, in their order."""
    path = re.search(rf'<path d="([^"]*)" fill="{show.COLORS[color]}"', panel._html.value)[1]
    boxes = re.findall(r"M[\d.]+,([\d.]+)H[\d.]+V([\d.]+)", path)
    return np.array([float(start) - float(end) for start, end in boxes])


def limit(panel):
    """Where the axis of the scores ends: what its topmost tick says."""
    first = panel._html.value.partition("</svg>")[0]
    return max(map(float, re.findall(r'text-anchor="end">([^<]+)</text>', first)))


def test_it_begins_with_d_k_64_and_nothing_divided(panel):
    assert panel.controls["d_k"].value == 64 and panel.controls["rule"].value == "none"
    assert panel.state["scores"].shape == (64,)
    assert (np.diff(panel.state["scores"]) <= 0).all()
    powers = np.exp(panel.state["scores"])
    assert np.allclose(panel.state["weights"], powers / powers.sum())


@given(st.sampled_from([2**i for i in range(9)]), st.integers(0, 999))
def test_the_rules_divide_the_same_products(d_k, draw):
    panel = explore.scale()
    rng = np.random.default_rng(draw)
    q, K = rng.normal(size=256)[:d_k], rng.normal(size=(64, 256))[:, :d_k]
    products = np.sort([float(np.sum(q * k)) for k in K])[::-1]
    for rule, power in RULES.items():
        panel.set({"d_k": d_k, "draw": draw, "rule": rule})
        assert np.allclose(panel.state["scores"], products / d_k**power)


def test_numbers_in_table_and_status_are_those_of_the_state(panel):
    for rule in RULES:
        panel.set({"rule": rule, "d_k": 64})
        weights = panel.state["weights"]
        std, largest, effective = panel.state["numbers"][rule]
        assert np.isclose(std, panel.state["scores"].std()) and np.isclose(largest, weights.max())
        assert np.isclose(effective, np.exp(-np.sum(weights * np.log(weights))))
        row = re.search(rf'class="picked"><th scope="row">{rule} ◀</th>(.*?)</tr>', panel._html.value)[1]
        assert re.findall(r">([\d.]+)<", row) == [f"{number:.2f}" for number in (std, largest, effective)]
        assert f"{effective:.2f} of 64 keys" in panel.status


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("d_k", [1, 4, 16, 64, 256])
def test_the_axis_follows_the_scores(panel, d_k, rule):
    panel.set({"d_k": d_k, "rule": rule})
    found, room = panel.state["scores"], limit(panel)
    assert room / 4 < np.abs(found).max() <= room
    pixels = bars(panel, "score")
    assert len(pixels) == 64 and np.allclose(pixels, found * np.ptp(pixels) / np.ptp(found), atol=0.15)
    assert np.abs(pixels).max() > 15
    assert f"scores for d_k = {d_k}" in panel._html.value


def test_weights_are_drawn_in_their_own_color_from_0_to_1(panel):
    pixels, weights = bars(panel, "weight"), panel.state["weights"]
    assert np.allclose(pixels, weights * pixels[0] / weights[0], atol=0.15)
    assert show.COLORS["query"] not in panel._html.value and show.COLORS["key"] not in panel._html.value


def test_the_thin_curve_is_that_of_the_root_whatever_the_rule(panel):
    def curve(color):
        path = re.search(
            rf'<path d="M([^"]*)"[^>]*stroke="{show.COLORS[color]}" stroke-width="[12.5]+"', right()
        )
        return path[1].removesuffix("Z")

    def right():
        return panel._html.value.partition("the first m keys")[2]

    thin, thick = curve("ghost"), curve("weight")
    panel.controls["rule"].value = "√d_k"
    assert curve("ghost") == thin == curve("weight") != thick


def test_pictures_say_what_is_seen(panel):
    found, weights = panel.state["scores"], panel.state["weights"]
    said = re.findall('aria-label="(.*?)"', panel._html.value)
    assert said[0] == f"scores for d_k = 64; 64 keys, from {found.max():.2f} down to {found.min():.2f}"
    assert said[1].endswith(f"from {weights.max():.2f} down to 0.00")
    assert said[2].endswith("half of the attention: the first 1") and weights[0] > 0.5
    panel.controls["rule"].value = "√d_k"
    half = np.searchsorted(np.cumsum(panel.state["weights"]), 0.5) + 1
    assert f"half of the attention: the first {half}" in panel._html.value


def test_every_control_changes_what_is_seen_and_reset_brings_it_back(panel):
    before = panel._html.value
    for name, value in (("d_k", 4), ("rule", "d_k"), ("draw", 7)):
        last = panel._html.value
        panel.controls[name].value = value
        assert panel._html.value != last
    panel.reset()
    assert panel._html.value == before


def test_the_learners_function_is_one_more_rule():
    panel = explore.scale(scores)
    assert panel.controls["rule"].value == "yours" and panel.controls["d_k"].value == 16
    yours = panel.state["scores"]
    panel.controls["rule"].value = "√d_k"
    assert np.allclose(panel.state["scores"], yours)


def stop(Q, K):
    raise SystemExit("enough")


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda Q, K: K @ Q.T, "(64, 1)"),
        (lambda Q, K: Q @ K.T * np.nan, "finite"),
        (lambda Q, K: Q @ K, "ValueError"),
        (lambda Q, K: "0.5", "shape"),
        (lambda Q, K: Q @ K.T + 1j, "finite"),
        (lambda Q, K: int("<img src=x>"), "&lt;img"),
        (stop, "SystemExit: enough"),
    ],
)
def test_what_is_wrong_with_it_is_said_beside_the_last_good_picture(wrong, words):
    panel = explore.scale(wrong)
    assert words in panel._html.value and "last good" in panel.status and "<img" not in panel._html.value
    panel.controls["rule"].value = "d_k"
    good = panel._body
    assert "last good" not in panel.status
    panel.controls["rule"].value = "yours"
    assert words in panel._html.value and panel._body == good


def test_a_stub_shows_the_rule_of_the_library_and_says_so():
    panel = explore.scale(lambda Q, K: ...)
    assert "stub" in panel.status and "library's" in panel.status
    library = explore.scale()
    library.set({"d_k": 16, "rule": "√d_k"})
    assert np.array_equal(panel.state["scores"], library.state["scores"])
    panel.controls["d_k"].value = 64
    assert "stub" in panel.status and "scores for d_k = 64" in panel._html.value


def test_what_it_prints_is_shown_and_its_inputs_are_its_own():
    def loud(Q, K):
        print("<i>", Q.shape)
        found = Q @ K.T
        Q[:], K[:] = 0, 0
        return found

    panel = explore.scale(loud)
    assert "&lt;i&gt; (1, 16)" in panel._html.value
    assert np.allclose(panel.state["numbers"]["yours"], panel.state["numbers"]["none"])


@pytest.mark.parametrize("factor", [1e3, 1e20, 1e300, 0])
def test_scores_of_any_size_give_no_nan_and_short_numbers(factor):
    panel = explore.scale(lambda Q, K: factor * Q @ K.T)
    assert np.isfinite(panel.state["weights"]).all()
    assert np.isclose(panel.state["numbers"]["yours"][2], 1 if factor else 64)
    assert not re.search(r"nan|\d{8}", panel._html.value)
    assert np.abs(panel.state["scores"]).max() <= limit(panel)


def test_every_control_has_a_spoken_name_and_d_k_takes_no_typing(panel):
    assert all(control.tooltip == control.description for control in panel.controls.values())
    d_k = panel.controls["d_k"]
    assert not d_k.readout and d_k.label == "64"  # the label is what is spoken
