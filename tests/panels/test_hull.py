"""The panel of notebook 05: the hull of the values."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import data, explore
from course_lib.attention import self_attention, softmax

TOKENS, _, X, W_q, W_k, W_v = data.saw()
HEAD = self_attention(X, W_q, W_k, W_v)
SCORES = [f"score {i}" for i in range(1, 5)]


@pytest.fixture
def panel():
    return explore.hull(TOKENS, HEAD.V, HEAD.scores[0])


def look(panel):
    return panel._html.value


def said(panel):
    return re.search('aria-label="(.*?)"', look(panel))[1]


def frame(panel):
    """The limit written at the right end of the plane's first axis."""
    return float(re.search(r'text-anchor="end"[^>]*>([\d.]+)<', look(panel))[1])


def test_begins_with_the_scores_to_a_tenth_and_so_near_that_two_decimals_agree(panel):
    weights = softmax(np.round(HEAD.scores[0], 1))
    assert [panel.controls[name].value for name in SCORES] == pytest.approx([0, 1.4, 0.7, 1.4])
    assert np.allclose(panel.state["output"], weights @ HEAD.V)
    assert np.array_equal(panel.state["output"].round(2), HEAD.output[0].round(2))
    assert np.allclose(panel.state["contributions"], weights * [2, 2**0.5, 2**0.5, 2**0.5])


def test_the_sliders_reach_as_far_as_the_scores():
    panel = explore.hull(TOKENS, HEAD.V, [0, 5.2, -7.1, 1])
    assert np.allclose(panel.state["weights"], softmax([0, 5.2, -7.1, 1]))
    assert {(panel.controls[name].min, panel.controls[name].max) for name in SCORES} == {(-8, 8)}


@given(st.lists(st.floats(-3, 3).map(lambda x: round(x, 1)), min_size=4, max_size=4))
def test_softmax_never_leaves_the_hull_nor_the_frame(scores):
    panel = explore.hull(TOKENS, HEAD.V, HEAD.scores[0])
    first = frame(panel)
    panel.set(dict(zip(SCORES, scores)))
    assert panel.state["inside"] and "is inside" in panel.status
    shares = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(panel.state["output"], shares @ HEAD.V)
    assert frame(panel) == first  # nothing jumps


@given(
    st.lists(st.floats(-3, 3).map(lambda x: round(x, 1)), min_size=4, max_size=4),
    st.sampled_from(["softmax", "sigmoid", "none"]),
)
def test_the_whole_walk_lies_in_the_frame_and_is_said(scores, normalizer):
    panel = explore.hull(TOKENS, HEAD.V, HEAD.scores[0])
    panel.set({**dict(zip(SCORES, scores)), "normalizer": normalizer})
    walk = np.cumsum(panel.state["weights"][:, None] * HEAD.V, axis=0)
    assert np.abs(walk).max() <= frame(panel)
    x, y = (f"{number + 0.0:.2f}" for number in np.round(walk[-1], 2) + 0.0)
    assert said(panel).endswith(f"({x}, {y})") and np.allclose(walk[-1], panel.state["output"])


def test_the_walk_is_drawn_over_b_with_a_dot_at_every_stop(panel):
    assert look(panel).count("<circle") == 5  # 0 and an end for each of four values
    assert look(panel).index("<circle") > look(panel).rindex('stroke-linecap="round"')


@pytest.mark.parametrize("name, corner", [("score 1", (0, 2)), ("score 3", (-1, -1))])
def test_a_large_score_pulls_b_towards_its_value(panel, name, corner):
    far = np.linalg.norm(panel.state["output"] - corner)
    panel.controls[name].value = 3.0
    assert 0 < np.linalg.norm(panel.state["output"] - corner) < far


@pytest.mark.parametrize("normalizer, inside", [("softmax", True), ("sigmoid", False), ("none", False)])
def test_only_softmax_keeps_b1_inside(panel, normalizer, inside):
    panel.controls["normalizer"].value = normalizer
    assert panel.state["inside"] is inside
    assert ("OUTSIDE" in panel.status) is not inside
    total = f"{panel.state['weights'].sum():.2f}"
    assert f"sum to {total};" in panel.status
    assert re.search(
        f"sum</th><td[^>]*>{total}<", look(panel)
    )  # weights that sum to more say so in the table


def test_softmax_sees_differences_only_raw_scores_more(panel):
    same = [panel.set(dict.fromkeys(SCORES, value)) or panel.state["output"] for value in (0.5, 2.0)]
    assert np.allclose(*same)
    panel.controls["normalizer"].value = "none"
    assert not np.allclose(panel.state["output"], same[0])


@pytest.mark.parametrize("name", SCORES)
def test_every_slider_moves_picture_and_tables(panel, name):
    picture, tables = look(panel).split("</svg>")
    panel.controls[name].value -= 1
    now = look(panel).split("</svg>")
    assert now[0] != picture and now[1] != tables


def test_reset_gives_identical_text_in_one_redraw(panel):
    begin = look(panel)
    panel.set({"score 1": -2.0, "score 4": 3.0, "normalizer": "none"})
    assert look(panel) != begin
    redraws = panel.redraws
    panel.reset()
    assert look(panel) == begin and panel.redraws == redraws + 1


def test_a_stub_shows_the_librarys_and_follows_the_sliders(panel):
    stub = explore.hull(TOKENS, HEAD.V, HEAD.scores[0], lambda weights, V: None)
    for each in (stub, panel):
        each.controls["score 1"].value = 2.0
    assert "returned None" in stub.status and "the library's" in stub.status
    np.testing.assert_array_equal(stub.state["output"], panel.state["output"])


def test_a_b_that_is_not_the_sum_of_the_shares_is_told(panel):
    mean = explore.hull(TOKENS, HEAD.V, HEAD.scores[0], lambda weights, V: V.mean(axis=0, keepdims=True))
    assert "b is not their sum" in mean.status and "b is not their sum" not in panel.status


def stop(weights, V):
    raise SystemExit("<img src=x>")


WRONG = {
    "shape": (lambda weights, V: V, "is (4, 2), it should be (1, 2)"),
    "text": (lambda weights, V: [["a", "b"]], "not finite numbers"),
    "nan": (lambda weights, V: [[np.nan, 0]], "not finite numbers"),
    "raises": (lambda weights, V: 1 / 0, "ZeroDivisionError"),
    "ends Python": (stop, "SystemExit"),
}


@pytest.mark.parametrize("wrong, says", WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_learners_function_is_said_beside_the_last_good_picture(panel, wrong, says):
    theirs = explore.hull(TOKENS, HEAD.V, HEAD.scores[0], wrong)
    for value in (0.0, 2.0):
        theirs.controls["score 1"].value = value
        assert says in theirs.status and "<img" not in look(theirs)
        assert theirs.state["output"].tolist() == panel.state["output"].tolist()


def test_the_learners_function_is_what_is_shown_and_what_it_prints():
    def doubled(weights, V):
        print("<b>", weights.shape)
        return 2 * weights @ V

    panel = explore.hull(TOKENS, HEAD.V, HEAD.scores[0], doubled)
    assert np.allclose(panel.state["output"], 2 * softmax(np.round(HEAD.scores[0], 1)) @ HEAD.V)
    assert "<pre>&lt;b&gt; (1, 4)" in look(panel)


def test_a_learners_function_cannot_change_the_values(panel):
    def rude(weights, V):
        mixed = weights @ V
        V[:], weights[:] = 7, 7
        return mixed

    theirs = explore.hull(TOKENS, HEAD.V, HEAD.scores[0], rude)
    theirs.controls["score 2"].value = panel.controls["score 2"].value = -1.0
    assert look(theirs) == look(panel)


@given(st.tuples(st.floats(-2, 2), st.floats(-2, 2)))
def test_inside_agrees_with_the_edges_of_a_square_with_points_on_and_in_it(b):
    values = [[1.0, 1], [1, -1], [0, 0.5], [-1, -1], [-1, 1], [1, 0]]
    panel = explore.hull("abcdef", values, np.zeros(6), lambda weights, V: [b])
    if abs(max(map(abs, b)) - 1) > 1e-6:  # at the edge itself rounding decides
        assert panel.state["inside"] == (max(map(abs, b)) < 1)


def test_all_corners_of_the_hull_are_drawn_once_and_no_more():
    values = [[2.0, 2], [2, -2], [0, 1], [-2, -2], [-2, 2], [2, 0]]
    panel = explore.hull("abcdef", values, np.zeros(6))
    area = re.search(r'd="M([^"]*)Z" fill="#a8559f"', look(panel))[1]
    assert len(area.split()) == 4


def test_words_are_text_and_controls_have_names():
    panel = explore.hull(["<b>", "a", "unfortunately"], [[0, 1], [1, 0], [0, 0]], [0, 5, -5])
    assert "<b>" not in look(panel) and "1 &lt;b&gt;" in look(panel)
    assert [panel.controls[f"score {i}"].value for i in (1, 2, 3)] == [0, 5, -5]
    assert panel.controls["score 3"].tooltip == "score of 3 unfortuna…"
    assert all(control.tooltip for control in panel.controls.values())


@pytest.mark.parametrize(
    "tokens, V, scores, says",
    [
        (["a", "b"], np.eye(2), [0, 0], "3 to 6 tokens"),
        (list("abcdefg"), np.ones((7, 2)), np.zeros(7), "not 7 tokens"),
        (list("abc"), np.eye(3), [0, 0, 0], "(3, 3)"),
        (list("abc"), np.eye(3)[:, :2], [0, 0], "(2,)"),
        (list("abc"), [[0, 0], [1, 1], [2, 2]], [0, 0, 0], "one line"),
        (list("abc"), [[0.1, 0.3], [0.2, 0.6], [0.3, 0.9]], [0, 0, 0], "one line"),
        (list("abc"), np.ones((3, 2)), [0, 0, 0], "one line"),
    ],
)
def test_says_what_it_has_no_room_for(tokens, V, scores, says):
    with pytest.raises(ValueError) as error:
        explore.hull(tokens, V, scores)
    assert says in str(error.value)
