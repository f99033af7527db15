"""The panel of notebook 06: orders and positions."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import data, explore
from course_lib.attention import self_attention
from course_lib.sequence import positions

TOKENS, _, X, *W = data.saw()
X, W = np.hstack([X, np.zeros((4, 1))]), [np.vstack([matrix, [1, -1]]) for matrix in W]


@pytest.fixture
def panel():
    return explore.order(TOKENS, X, *W)


def look(panel):
    return panel._html.value


def pictures(panel):
    return re.findall("<figure.*?</figure>", look(panel))


def marks(picture):
    """{word: (x, y)} of the labels of arrows."""
    found = re.findall(r'class="tip" x="(.*?)" y="(.*?)" text-anchor="middle">(.*?)<', picture)
    return {word: (float(x), float(y)) for x, y, word in found}


def test_without_positions_every_order_only_reorders(panel):
    orders = panel.controls["order"].options
    assert sorted(orders) == [" ".join(each) for each in itertools.permutations("1234")]
    for order in orders:
        panel.controls["order"].value = order
        assert panel.state["only_reordered"] and "only reordered" in panel.status
        before, now = (
            {name: tip for names, tip in marks(picture).items() for name in names.split()}
            for picture in pictures(panel)
        )
        assert now == before  # each arrow keeps its name and covers its ghost
        assert panel.state["order"] == [int(i) - 1 for i in order.split()]


@given(st.permutations(range(4)), st.sampled_from([0.1, 0.5, 1.0]))
def test_with_positions_only_the_first_order_does(places, strength):
    panel = explore.order(TOKENS, X, *W)
    panel.set({"order": " ".join(str(i + 1) for i in places), "positions": strength})
    assert panel.state["only_reordered"] == (places == [0, 1, 2, 3])
    right = self_attention(X[places] + strength * positions(4, 4), *W).output
    np.testing.assert_allclose(panel.state["attention"].output, right)
    before = self_attention(X + strength * positions(4, 4), *W).output[places]
    off = np.abs(right - before).max()
    assert panel.status == (
        "the outputs are only reordered" if off < 1e-9 else f"the outputs differ by up to {off:.2f}"
    )


@given(st.permutations(range(4)), st.integers(0, 10))
def test_no_label_lies_on_another(places, tenths):
    panel = explore.order(TOKENS, X, *W)
    panel.set({"order": " ".join(str(i + 1) for i in places), "positions": tenths / 10})
    for picture in pictures(panel):
        found = marks(picture)
        assert sorted(" ".join(found).split()) == ["b1", "b2", "b3", "b4"]
        for (one, a), (other, b) in itertools.combinations(found.items(), 2):
            wide = 3.6 * (len(one) + len(other)) / 1.2
            assert abs(a[0] - b[0]) >= wide or abs(a[1] - b[1]) >= 9, (one, other)


def test_the_arrows_that_exchange_two_equal_words_keep_their_places(panel):
    panel.set({"order": "1 4 3 2", "positions": 0.5})
    straight, moved = (marks(picture) for picture in pictures(panel))
    assert not panel.state["only_reordered"]
    before = self_attention(X + 0.5 * positions(4, 4), *W).output
    np.testing.assert_allclose(panel.state["attention"].output, before)  # place by place the same
    assert straight.keys() == moved.keys() and straight != moved
    assert panel.status == "the outputs differ by up to 0.08"  # token by token, as the notebook says


def test_both_pictures_are_described_with_the_tips_they_show(panel):
    panel.controls["order"].value = "2 1 3 4"
    one, two = (re.search('aria-label="(.*?)"', picture)[1] for picture in pictures(panel))
    x, y = panel.state["attention"].output[0]
    assert "as written" in one and one.count("b") == 4
    assert two.startswith(f"outputs, in your order; b2 to ({x:.1f}, {y:.1f})")


def test_the_tables_hold_the_outputs_in_the_new_order_and_before(panel):
    panel.set({"order": "4 3 2 1", "positions": 1.0})
    rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', look(panel))[4:]
    numbers = [[float(x) for x in re.findall("<td[^>]*>(.*?)</td>", cells)] for _, cells in rows]
    before = self_attention(X + positions(4, 4), *W).output[::-1]
    assert [name for name, _ in rows] == ["4 saw", "3 a", "2 saw", "1 I"]
    np.testing.assert_allclose(
        numbers, np.hstack([panel.state["attention"].output, before]), atol=0.005 + 1e-9
    )


def test_reset_gives_the_same_text(panel):
    begun = look(panel)
    panel.controls["order"].value = "4 3 2 1"
    panel.controls["positions"].value = 1
    assert look(panel) != begun
    panel.reset()
    assert look(panel) == begun


def stop(*arguments):
    raise SystemExit("<img src=x>")


WRONG = {
    "an array": (lambda *a: np.ones((4, 2)), "returned ndarray"),
    "wrong shape": (lambda *a: self_attention(*a)._replace(weights=np.ones((4, 3))), r"\(4, 3\).*\(4, 4\)"),
    "nan": (lambda *a: self_attention(*a)._replace(output=np.full((4, 2), np.nan)), "output.*finite"),
    "raises": (lambda *a: 1 / 0, "ZeroDivisionError"),
    "ends Python": (stop, "SystemExit"),
}


@pytest.mark.parametrize("attend, words", WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_learners_function_is_said_beside_the_last_good_picture(panel, attend, words):
    theirs = explore.order(TOKENS, X, *W, attend=attend)
    assert re.search(words, theirs.status) and "<img" not in look(theirs)
    assert pictures(theirs) == pictures(panel)
    theirs.controls["order"].value = "2 1 3 4"
    assert re.search(words, theirs.status) and pictures(theirs) == pictures(panel)


def test_a_stub_shows_the_librarys_and_follows_the_controls(panel):
    stub = explore.order(TOKENS, X, *W, attend=lambda *a: None)
    for each in (stub, panel):
        each.controls["order"].value = "2 1 4 3"
    assert "returned None" in stub.status and "the library's" in stub.status
    assert pictures(stub) == pictures(panel)


def test_a_learners_own_function_is_what_is_shown_and_cannot_change_the_matrices(panel):
    def first_only(X, *matrices):
        found = self_attention(X, *matrices)
        X[:] = matrices[0][:] = 5
        print("called")
        return found._replace(output=np.repeat(found.output[:1], 4, axis=0))

    theirs = explore.order(TOKENS, X, *W, attend=first_only)
    theirs.controls["order"].value = panel.controls["order"].value = "2 1 3 4"
    right = panel.state["attention"].output[[0, 0, 0, 0]]
    np.testing.assert_array_equal(theirs.state["attention"].output, right)
    assert not theirs.state["only_reordered"] and "<pre>called" in look(theirs)


@pytest.mark.parametrize(
    "tokens, shape, wide",
    [
        ("a", (1, 4), 2),
        ("abcde", (5, 4), 2),
        ("abc", (3, 3), 2),
        ("abc", (4, 4), 2),
        ("abc", (3, 4), 3),
        ("abc", (4,), 2),
    ],
)
def test_what_does_not_fit_is_said_with_its_shapes(tokens, shape, wide):
    matrices = np.ones((shape[-1], 2)), np.ones((shape[-1], 2)), np.ones((shape[-1], wide))
    with pytest.raises(ValueError) as error:
        explore.order(list(tokens), np.ones(shape), *matrices)
    assert f"X of shape {shape} and W_v of shape {(shape[-1], wide)}" in str(error.value)


def test_matrices_that_do_not_fit_the_tokens_are_said_with_their_shapes():
    with pytest.raises(ValueError, match=r"W_q.*\(4, 4\) @ \(3, 2\)"):
        explore.order(TOKENS, X, np.ones((3, 2)), np.ones((3, 2)), W[2])


@pytest.mark.parametrize("n", [2, 3, 4])
def test_other_sentences_fit_and_words_are_text(n):
    panel = explore.order(["<b>", "unfortunately", "a", "b"][:n], X[:n], *W)
    panel.controls["order"].value = panel.controls["order"].options[-1]
    assert panel.state["order"] == [*range(n)][::-1]
    assert "<b>" not in look(panel) and "1 &lt;b&gt;" in look(panel)
    assert all(control.tooltip for control in panel.controls.values())
