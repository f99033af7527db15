"""The panel of notebook 05: the hull of the values."""

import numpy as np
import pytest

from course_lib import data, explore
from course_lib.attention import self_attention, softmax

TOKENS, _, X, W_q, W_k, W_v = data.saw()
HEAD = self_attention(X, W_q, W_k, W_v)


@pytest.fixture
def panel():
    return explore.hull(TOKENS, HEAD.V, HEAD.scores[0])


def test_begins_with_the_scores_rounded_to_the_slider(panel):
    weights = softmax(np.round(HEAD.scores[0], 1))
    assert [panel.sliders[f"score {i}"].value for i in range(1, 5)] == pytest.approx([0, 1.4, 0.7, 1.4])
    assert np.allclose(panel.state["output"], weights @ HEAD.V)
    assert np.allclose(panel.state["contributions"], weights * [2, 2**0.5, 2**0.5, 2**0.5])


@pytest.mark.parametrize("name, corner", [("score 1", (0, 2)), ("score 3", (-1, -1))])
def test_a_large_score_pulls_b_towards_its_value_and_never_out(panel, name, corner):
    far = np.linalg.norm(panel.state["output"] - corner)
    panel.sliders[name].value = 3.0
    assert 0 < np.linalg.norm(panel.state["output"] - corner) < far
    assert panel.state["inside"]
    assert "is inside" in panel.status.value


@pytest.mark.parametrize("normalizer, inside", [("softmax", True), ("sigmoid", False), ("none", False)])
def test_only_softmax_keeps_b1_inside(panel, normalizer, inside):
    panel.sliders["normalizer"].value = normalizer
    assert panel.state["inside"] is inside
    assert ("OUTSIDE" in panel.status.value) is not inside


def test_softmax_sees_differences_only_raw_scores_more(panel):
    same = [
        panel.set({f"score {i}": value for i in range(1, 5)}) or panel.state["output"] for value in (0.5, 2.0)
    ]
    assert np.allclose(*same)
    panel.sliders["normalizer"].value = "none"
    assert not np.allclose(panel.state["output"], same[0])


def test_every_slider_moves_picture_and_tables(panel):
    for i in range(1, 5):
        before = panel.picture.value, panel.tables.value
        panel.sliders[f"score {i}"].value -= 1
        assert panel.picture.value != before[0] and panel.tables.value != before[1]


def test_reset_gives_identical_bytes_in_one_redraw(panel):
    begin = panel.picture.value, panel.tables.value, panel.status.value
    panel.set({"score 1": -2.0, "score 4": 3.0, "normalizer": "none"})
    assert panel.picture.value != begin[0]
    redraws = panel.redraws
    panel.reset()
    assert (panel.picture.value, panel.tables.value, panel.status.value) == begin
    assert panel.redraws == redraws + 1


@pytest.mark.parametrize(
    "wrong, says",
    [
        (lambda weights, V: None, "still a stub"),
        (lambda weights, V: V, "shape (4, 2), not (1, 2)"),
        (lambda weights, V: [["a", "b"]], "not finite numbers"),
        (lambda weights, V: [[np.nan, 0]], "not finite numbers"),
        (lambda weights, V: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_an_error_of_the_learners_function_is_shown_beside_the_last_good_picture(panel, wrong, says):
    theirs = explore.hull(TOKENS, HEAD.V, HEAD.scores[0], wrong)
    assert says in theirs.status.value
    assert theirs.picture.value == panel.picture.value
    theirs.sliders["score 1"].value = 2.0
    assert says in theirs.status.value
    assert theirs.picture.value == panel.picture.value


def test_the_learners_function_is_what_is_shown():
    doubled = explore.hull(TOKENS, HEAD.V, HEAD.scores[0], lambda weights, V: 2 * weights @ V)
    assert np.allclose(doubled.state["output"], 2 * softmax(np.round(HEAD.scores[0], 1)) @ HEAD.V)


def test_inside_agrees_with_the_edges_of_a_square():
    corners = np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1]])
    for b in np.random.default_rng(0).uniform(-2, 2, (40, 2)):
        panel = explore.hull("abcd", corners, np.zeros(4), lambda weights, V: b[None])
        assert panel.state["inside"] == (np.abs(b).max() <= 1)


def test_fits_into_a_slide_and_every_control_has_a_label(panel):
    assert int(panel.layout.height[:-2]) <= 560
    assert all(control.description for control in panel.sliders.values())
    assert "image/png" in panel._repr_mimebundle_()


@pytest.mark.parametrize(
    "tokens, V, scores, says",
    [
        (["a", "b"], np.eye(2), [0, 0], "3 to 6 tokens"),
        (list("abc"), np.eye(3), [0, 0, 0], "(3, 3)"),
        (list("abc"), np.eye(3)[:, :2], [0, 0], "(2,)"),
        (list("abc"), [[0, 0], [1, 1], [2, 2]], [0, 0, 0], "one line"),
    ],
)
def test_says_what_it_has_no_room_for(tokens, V, scores, says):
    with pytest.raises(ValueError) as error:
        explore.hull(tokens, V, scores)
    assert says in str(error.value)
