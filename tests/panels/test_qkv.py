"""The W_q/W_k/W_v panel, without a browser: values in, numbers and pictures out."""

import re

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import pytest

from course_lib import data, explore
from course_lib.attention import Attention, causal_mask, self_attention

TOKENS, _, X, *MATRICES = data.saw()


@pytest.fixture
def panel():
    return explore.qkv(TOKENS, X)


def look(panel):
    return bytes(panel.picture.value), panel.tables.value, panel.status.value


def test_it_starts_as_the_example(panel):
    for shown, right in zip(panel.state, self_attention(X, *MATRICES)):
        np.testing.assert_array_equal(shown, right)
    assert bytes(panel.picture.value).startswith(b"\x89PNG") and "0.62" in panel.tables.value
    assert "nothing" in panel.status.value


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
        assert panel.status.value.count(f": {moved}<") == 1
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
    assert panel.tables.value.count("&#9664;") == 3 and "4 saw &#9664;" in panel.tables.value


STUBS = {
    "None": (lambda *a: None, "returned None"),
    "an array": (lambda *a: np.ones((4, 2)), "returned ndarray"),
    "wrong shape": (
        lambda *a: self_attention(*a)._replace(weights=np.ones((4, 3))),
        r"weights has shape \(4, 3\).*\(4, 4\)",
    ),
    "nan": (lambda *a: self_attention(*a)._replace(output=np.full((4, 2), np.nan)), "output.*finite"),
    "text": (lambda *a: self_attention(*a)._replace(output=np.full((4, 2), "x")), "output.*finite"),
    "raises": (lambda *a: 1 / 0, "ZeroDivisionError"),
    "angle brackets": (lambda *a: int("<img src=x>"), "&lt;img"),
}


@pytest.mark.parametrize("attend, words", STUBS.values(), ids=STUBS)
def test_what_is_wrong_with_a_learners_function_is_said_beside_the_last_good_picture(attend, words):
    good = explore.qkv(TOKENS, X)
    panel = explore.qkv(TOKENS, X, attend=attend)
    assert re.search(words, panel.status.value)
    assert look(panel)[:2] == look(good)[:2]


def test_a_function_that_breaks_later_keeps_the_picture_and_comes_back():
    def fragile(X, W_q, W_k, W_v, **options):
        assert W_q[0, 0] < 2, "too much"
        return self_attention(X, W_q, W_k, W_v, **options)

    panel = explore.qkv(TOKENS, X, attend=fragile)
    panel.sliders["W_q[0,0]"].value = 1.5
    kept = look(panel)[:2]
    panel.sliders["W_q[0,0]"].value = 2.5
    assert (
        "AssertionError" in panel.status.value
        and "too much" in panel.status.value
        and look(panel)[:2] == kept
    )
    panel.sliders["W_q[0,0]"].value = 1
    assert "AssertionError" not in panel.status.value


def test_a_learners_own_function_is_what_is_shown():
    def mean(X, W_q, W_k, W_v):
        found = self_attention(X, W_q, W_k, W_v)
        weights = np.full_like(found.weights, 0.25)
        return Attention(*found[:4], weights, weights @ found.V)

    panel = explore.qkv(TOKENS, X, attend=mean)
    np.testing.assert_allclose(panel.state.weights, 0.25)
    panel.sliders["causal"].value = True
    assert "TypeError" in panel.status.value and "mask" in panel.status.value


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


def test_ten_panels_leave_no_figure_and_observers_do_not_pile_up():
    plt.close("all")
    panels = [explore.qkv(TOKENS, X) for _ in range(10)]
    assert plt.get_fignums() == []
    panel = panels[-1]
    observers = len(panel.sliders["W_q[0,0]"]._trait_notifiers["value"]["change"])
    artists = sum(len(axes.get_children()) for axes in panel.canvas.axes)
    for _ in range(10):
        panel.sliders["W_q[0,0]"].value += 0.1
        panel.reset()
    assert len(panel.sliders["W_q[0,0]"]._trait_notifiers["value"]["change"]) == observers
    assert sum(len(axes.get_children()) for axes in panel.canvas.axes) == artists


def test_a_cell_run_again_closes_its_last_panel(monkeypatch):
    class Shell:
        def get_parent(self):
            return {"metadata": {"cellId": "the-cell"}}

    monkeypatch.setattr(explore.panel, "get_ipython", Shell)
    explore.qkv(TOKENS, X)
    once = len(widgets.widget._instances)
    for _ in range(10):
        panel = explore.qkv(TOKENS, X)
    assert len(widgets.widget._instances) == once
    panel.sliders["W_q[0,0]"].value = 2
    assert panel.state.Q[1, 0] == 3


def test_it_can_be_read_without_a_kernel(panel):
    bundle = panel._repr_mimebundle_()
    again = explore.qkv(TOKENS, X)._repr_mimebundle_()
    assert bundle["text/plain"] == again["text/plain"] and " at 0x" not in bundle["text/plain"]
    assert bundle["image/png"] == again["image/png"] and len(bundle["image/png"]) > 1000
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_size_and_labels(panel):
    assert int(panel.layout.height.removesuffix("px")) <= 560
    assert all(control.description for control in panel.sliders.values())


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
    assert panel.state.output.shape == (n, 2) and "<w1>" not in panel.tables.value
