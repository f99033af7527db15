"""The panel of notebook 03: d_k and what the scores are divided by."""

import numpy as np
import pytest

from course_lib import explore
from course_lib.attention import scores, softmax

RULES = ["none", "√d_k", "d_k"]


@pytest.fixture
def panel():
    return explore.scale()


def test_it_begins_with_d_k_64_and_nothing_divided(panel):
    assert panel.sliders["d_k"].value == 64 and panel.sliders["rule"].value == "none"
    assert panel.state["scores"].shape == (64,)
    assert (np.diff(panel.state["scores"]) <= 0).all()
    assert np.array_equal(panel.state["weights"], softmax(panel.state["scores"]))


@pytest.mark.parametrize("d_k", [1, 16, 256])
def test_the_rules_divide_the_same_products(panel, d_k):
    panel.sliders["d_k"].value = d_k
    shown = {}
    for rule in RULES:
        panel.sliders["rule"].value = rule
        shown[rule] = panel.state["scores"]
    assert np.allclose(shown["none"], shown["√d_k"] * np.sqrt(d_k))
    assert np.allclose(shown["none"], shown["d_k"] * d_k)


def test_numbers_in_table_and_status_are_those_of_the_state(panel):
    for rule in RULES:
        panel.set({"rule": rule, "d_k": 64})
        weights = panel.state["weights"]
        std, largest, effective = panel.state["numbers"][rule]
        assert np.isclose(std, panel.state["scores"].std()) and np.isclose(largest, weights.max())
        assert np.isclose(effective, np.exp(-np.sum(weights * np.log(weights))))
        assert (
            f"{effective:.2f}" in panel.tables.value and f"{effective:.2f} of 64 keys" in panel.status.value
        )


def test_every_control_changes_the_picture_and_reset_brings_it_back(panel):
    before, table = panel.picture.value, panel.tables.value
    for name, value in (("d_k", 4), ("rule", "d_k"), ("draw", 7)):
        last = panel.picture.value
        panel.sliders[name].value = value
        assert panel.picture.value != last
    panel.reset()
    assert panel.picture.value == before and panel.tables.value == table


def test_the_learners_function_is_one_more_rule():
    panel = explore.scale(scores)
    assert panel.sliders["rule"].value == "yours"
    yours = panel.state["scores"]
    panel.sliders["rule"].value = "√d_k"
    assert np.allclose(panel.state["scores"], yours)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda Q, K: None, "stub"),
        (lambda Q, K: K @ Q.T, "(64, 1)"),
        (lambda Q, K: Q @ K.T * np.nan, "finite"),
        (lambda Q, K: Q @ K, "ValueError"),
        (lambda Q, K: "0.5", "shape"),
    ],
)
def test_what_is_wrong_with_it_is_said_beside_the_last_good_picture(wrong, words):
    panel = explore.scale(wrong)
    assert words in panel.status.value and "last good" in panel.status.value
    assert bytes(panel.picture.value).startswith(b"\x89PNG")
    panel.sliders["rule"].value = "none"
    good = panel.picture.value
    assert "last good" not in panel.status.value
    panel.sliders["rule"].value = "yours"
    assert words in panel.status.value and panel.picture.value == good


def test_scores_so_large_that_weights_are_zero_give_no_nan():
    panel = explore.scale(lambda Q, K: 1e3 * Q @ K.T)
    assert np.array_equal(panel.state["weights"].round(12)[:2], [1, 0])
    assert np.isclose(panel.state["numbers"]["yours"][2], 1)


def test_controls_have_labels_and_the_height_is_fixed(panel):
    assert all(control.description for control in panel.sliders.values())
    assert int(panel.layout.height.removesuffix("px")) <= 560
