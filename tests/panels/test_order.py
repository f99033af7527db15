"""The panel of notebook 06: orders and positions."""

import numpy as np
import pytest

from course_lib import data, explore
from course_lib.attention import self_attention
from course_lib.sequence import positions

TOKENS, _, X, *W = data.saw()
X, W = np.hstack([X, np.zeros((4, 1))]), [np.vstack([matrix, [1, -1]]) for matrix in W]


@pytest.fixture
def panel():
    return explore.order(TOKENS, X, *W)


def look(panel):
    return bytes(panel.picture.value), panel.tables.value, panel.status.value


def test_without_positions_every_order_only_reorders(panel):
    orders = panel.sliders["order"].options
    assert len(orders) == len(set(orders)) == 24
    for order in orders:
        panel.sliders["order"].value = order
        assert panel.state["only_reordered"] and "only reordered" in panel.status.value
        assert panel.state["order"] == [int(i) - 1 for i in order.split()]


def test_with_positions_only_the_first_order_does(panel):
    panel.sliders["positions"].value = 0.5
    for order in panel.sliders["order"].options:
        panel.sliders["order"].value = order
        assert panel.state["only_reordered"] == (order == "1 2 3 4")
        places = panel.state["order"]
        right = self_attention(X[places] + 0.5 * positions(4, 4), *W)
        np.testing.assert_allclose(panel.state["attention"].output, right.output)


def test_reset_gives_the_same_bytes(panel):
    begun = look(panel)
    panel.sliders["order"].value = "4 3 2 1"
    panel.sliders["positions"].value = 1
    assert all(now != then for now, then in zip(look(panel), begun))
    panel.reset()
    assert look(panel) == begun


def test_what_is_wrong_with_a_learners_function_is_said_beside_the_last_good_picture(panel):
    stub = explore.order(TOKENS, X, *W, attend=lambda *a: None)
    assert "returned None" in stub.status.value and look(stub)[:2] == look(panel)[:2]


def test_size_and_labels(panel):
    assert int(panel.layout.height.removesuffix("px")) <= 560
    assert all(control.description for control in panel.sliders.values())
