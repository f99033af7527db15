"""The W_q/W_k/W_v panel, without a browser: values in, numbers and pictures out."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import data, explore
from course_lib.attention import Attention, causal_mask, self_attention
from course_lib.explore.queries_keys_values import PRESETS

TOKENS, _, X, *MATRICES = data.saw()
ENTRIES = [f"{name}[{i},{j}]" for name in ("W_q", "W_k", "W_v") for i in range(3) for j in range(2)]


@pytest.fixture
def panel():
    return explore.qkv(TOKENS, X)


def look(panel):
    return panel._html.value, panel.status


def test_it_starts_as_the_example(panel):
    for shown, right in zip(panel.state, self_attention(X, *MATRICES)):
        np.testing.assert_array_equal(shown, right)
    assert panel._html.value.count("<svg") == 3 and ">0.62</td>" in panel._html.value
    assert panel.status == "moved from the gray ghost: nothing"


@pytest.mark.parametrize(
    "name, moved",
    {"W_q": "Q, scores, weights, output", "W_k": "K, scores, weights, output", "W_v": "V, output"}.items(),
)
def test_every_entry_is_a_slider_and_moves_what_it_should(panel, name, moved):
    for i, j in np.ndindex(3, 2):
        panel.sliders[f"{name}[{i},{j}]"].value += 0.5
        matrices = {**dict(zip(("W_q", "W_k", "W_v"), MATRICES))}
        matrices[name] = matrices[name].copy()
        matrices[name][i, j] += 0.5
        np.testing.assert_allclose(panel.state.output, self_attention(X, **matrices).output)
        assert panel.status == f"moved from the gray ghost: {moved}"
        panel.reset()


def test_reset_gives_the_same_bytes(panel):
    before = look(panel)
    panel.sliders["W_q[0,0]"].value = -2
    panel.sliders["query"].value = 0
    panel.sliders["causal"].value = True
    assert all(now != then for now, then in zip(look(panel), before))
    panel.reset()
    assert look(panel) == before


def test_setting_many_sliders_redraws_once(panel):
    before = panel.redraws
    panel.sliders["preset"].value = "identity: all three equal"
    assert panel.redraws == before + 1
    panel.reset()
    assert panel.redraws == before + 2
    panel.set({"W_q[0,0]": 2, "W_k[0,0]": 2})
    assert panel.redraws == before + 3


def test_a_value_that_a_browser_only_rounds_is_no_change(panel):
    before = panel.redraws
    panel.sliders["W_v[0,0]"].value = 2.000000000000001
    assert panel.redraws == before and panel.sliders["preset"].value == "the course's"


def test_presets_do_what_they_say(panel):
    scores = panel.state.scores
    panel.sliders["preset"].value = "swap W_q and W_k"
    np.testing.assert_allclose(panel.state.scores, scores.T)
    panel.sliders["preset"].value = "rotate W_q and W_k"
    np.testing.assert_allclose(panel.state.scores, scores)
    assert not np.allclose(panel.state.Q, self_attention(X, *MATRICES).Q)
    panel.sliders["preset"].value = "zero W_q"
    np.testing.assert_allclose(panel.state.weights, 0.25)
    panel.sliders["preset"].value = "identity: all three equal"
    np.testing.assert_array_equal(panel.state.Q, panel.state.V)
    panel.sliders["preset"].value = "sharpen: W_q times 3"
    np.testing.assert_allclose(panel.state.scores, 3 * scores)
    panel.sliders["seed"].value = 7
    seventh = panel.state.output
    assert panel.sliders["preset"].value == "random"
    panel.sliders["seed"].value = 8
    assert not np.allclose(panel.state.output, seventh)
    panel.sliders["seed"].value = 7
    np.testing.assert_array_equal(panel.state.output, seventh)
    panel.sliders["W_q[0,0]"].value = 3
    assert panel.sliders["preset"].value == "your own"
    panel.sliders["preset"].value = "the course's"
    np.testing.assert_array_equal(panel.state.scores, scores)


def test_the_switches_reach_the_attention(panel):
    panel.sliders["scaled"].value = False
    np.testing.assert_allclose(panel.state.scores, self_attention(X, *MATRICES, scaled=False).scores)
    panel.sliders["causal"].value = True
    right = self_attention(X, *MATRICES, scaled=False, mask=causal_mask(4))
    np.testing.assert_allclose(panel.state.weights, right.weights)


def test_the_query_is_picked_out(panel):
    panel.sliders["query"].value = 3
    assert panel._html.value.count("◀") == 3 and "4 saw ◀" in panel._html.value


STUBS = {
    "an array": (lambda *a: np.ones((4, 2)), "returned ndarray"),
    "wrong shape": (
        lambda *a: self_attention(*a)._replace(weights=np.ones((4, 3))),
        r"shape of your weights is \(4, 3\).*\(4, 4\)",
    ),
    "nan": (lambda *a: self_attention(*a)._replace(output=np.full((4, 2), np.nan)), "output.*finite"),
    "text": (lambda *a: self_attention(*a)._replace(output=np.full((4, 2), "x")), "output.*finite"),
    "raises": (lambda *a: 1 / 0, "ZeroDivisionError"),
    "angle brackets": (lambda *a: int("<img src=x>"), "<img"),
}


def picture(panel):
    return panel._html.value.split('<p role="status">')[0]


@pytest.mark.parametrize("attend, words", STUBS.values(), ids=STUBS)
def test_what_is_wrong_with_a_learners_function_is_said_beside_the_last_good_picture(attend, words):
    panel = explore.qkv(TOKENS, X, attend=attend)
    assert re.search(words, panel.status) and "<img" not in panel._html.value
    assert picture(panel) == picture(explore.qkv(TOKENS, X))


def test_a_stub_is_driven_by_the_librarys_function_which_is_said():
    panel = explore.qkv(TOKENS, X, attend=lambda *a: None)
    assert "None" in panel.status and "library's" in panel.status
    panel.sliders["W_q[0,0]"].value = 2
    right = self_attention(X, MATRICES[0] + [[1, 0], [0, 0], [0, 0]], *MATRICES[1:])
    np.testing.assert_allclose(panel.state.output, right.output)


def test_a_function_that_breaks_later_keeps_the_picture_and_comes_back():
    def fragile(X, W_q, W_k, W_v, **options):
        assert W_q[0, 0] < 2, "too much"
        return self_attention(X, W_q, W_k, W_v, **options)

    panel = explore.qkv(TOKENS, X, attend=fragile)
    panel.sliders["W_q[0,0]"].value = 1.5
    kept = picture(panel)
    panel.sliders["W_q[0,0]"].value = 2.5
    assert "AssertionError" in panel.status and "too much" in panel.status and picture(panel) == kept
    panel.sliders["W_q[0,0]"].value = 1
    assert "AssertionError" not in panel.status


def test_a_learners_own_function_is_what_is_shown():
    def mean(X, W_q, W_k, W_v):
        found = self_attention(X, W_q, W_k, W_v)
        weights = np.full_like(found.weights, 0.25)
        return Attention(*found[:4], weights, weights @ found.V)

    panel = explore.qkv(TOKENS, X, attend=mean)
    np.testing.assert_allclose(panel.state.weights, 0.25)
    panel.sliders["causal"].value = True
    assert "TypeError" in panel.status and "mask" in panel.status


def test_the_learners_vectors_are_not_changed_or_shared():
    def rude(X, *matrices):
        found = self_attention(X, *matrices)
        X[:] = 0
        return found

    mine = X.copy()
    panel = explore.qkv(TOKENS, mine, attend=rude)
    mine[:] = 5
    panel.sliders["W_q[0,0]"].value = 0.5
    assert panel.state.Q.any() and not np.allclose(panel.state.Q, 5)


def test_every_control_has_a_name_of_its_own(panel):
    names = [control.tooltip for control in panel.controls.values()]
    assert len(set(names)) == len(names) and all(names)
    assert panel.controls["W_q[0,1]"].tooltip == "W_q, deed, column 2"


def test_what_is_drawn_is_said_in_words(panel):
    panel.sliders["query"].value = 3
    said = re.findall(r'aria-label="([^"]*)"', panel._html.value)
    tips = "; ".join(f"q{i} to ({x:.1f}, {y:.1f})" for i, (x, y) in enumerate(panel.state.Q, 1))
    assert said[0] == f"q: looks for; {tips}"
    assert said[2].endswith("b4 to (0.2, 0.9)")


@pytest.mark.parametrize("name", [*PRESETS, "random"])
def test_arrows_of_every_preset_lie_in_the_frame(panel, name):
    panel.sliders["preset"].value = name
    for x, y in re.findall(r"L([-\d.]+),([-\d.]+)", panel._html.value):
        assert 0 <= float(x) <= 200 and 0 <= float(y) <= 200


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.sampled_from(ENTRIES), st.integers(-30, 30).map(lambda tenths: tenths / 10), max_size=5
    )
)
def test_any_setting_shows_its_own_numbers(changes):
    panel = explore.qkv(TOKENS, X)
    panel.set(changes)
    matrices = {name: matrix.copy() for name, matrix in zip(("W_q", "W_k", "W_v"), MATRICES)}
    for entry, value in changes.items():
        matrices[entry[:3]][int(entry[4]), int(entry[6])] = value
    np.testing.assert_allclose(panel.state.output, self_attention(X, **matrices).output)
    for number in panel.state.weights.ravel():
        assert f">{number * (1 + 1e-12):.2f}</td>" in panel._html.value


@pytest.mark.parametrize(
    "tokens, X",
    [
        (["a"], np.ones((1, 3))),
        (list("abcdefg"), np.ones((7, 3))),
        (["a", "b"], np.ones((3, 3))),
        (["a", "b"], np.ones((2, 5))),
        (["a", "b"], np.ones(2)),
    ],
)
def test_what_does_not_fit_is_said_with_its_shape(tokens, X):
    with pytest.raises(ValueError, match=re.escape(str(X.shape))):
        explore.qkv(tokens, X)


@pytest.mark.parametrize("n, d", [(2, 1), (6, 4), (5, 3)])
def test_other_sentences_fit(n, d):
    panel = explore.qkv([f"<w{i}>" for i in range(n)], np.random.default_rng(0).normal(size=(n, d)))
    panel.sliders["W_k[0,1]"].value = 1.7
    assert panel.state.output.shape == (n, 2) and "<w1>" not in panel._html.value
