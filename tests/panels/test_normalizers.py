"""The panel of notebook 04: temperature, normaliser and mask on one table of scores."""

import warnings

import numpy as np
import pytest

from course_lib import data, explore
from course_lib.attention import causal_mask, padding_mask, scores, self_attention, softmax

tokens, _, X, W_q, W_k, W_v = data.saw()
alpha = scores(X @ W_q, X @ W_k, scaled=False)


@pytest.fixture
def panel():
    return explore.normalizers(tokens, alpha)


def test_it_begins_with_plain_softmax(panel):
    assert np.array_equal(panel.state.scores, alpha)
    assert np.array_equal(panel.state.weights, softmax(alpha))
    assert "NO" not in panel.status.value


def test_temperature_and_shift(panel):
    panel.sliders["temperature"].value = 2.0
    assert np.allclose(panel.state.weights, softmax(alpha / 2))
    panel.sliders["shift"].value = 3.0
    assert np.array_equal(panel.state.scores, alpha + 3)
    assert np.allclose(panel.state.weights, softmax(alpha / 2))


@pytest.mark.parametrize(
    "name, mask", [("causal", causal_mask(4)), ("padding: last token", padding_mask(3, 4))]
)
def test_masks(panel, name, mask):
    panel.sliders["mask"].value = name
    assert np.array_equal(panel.state.scores, np.where(mask, alpha, -np.inf))
    assert np.array_equal(panel.state.weights, softmax(alpha, mask=mask))
    assert "-inf" in panel.tables.value


@pytest.mark.parametrize("mask", ["none", "causal", "padding: last token"])
@pytest.mark.parametrize("name", ["ReLU / sum", "sigmoid", "divide by sum"])
def test_hidden_keys_have_no_weight_in_any_normalizer(panel, name, mask):
    panel.set({"normalizer": name, "mask": mask})
    weights = panel.state.weights
    hidden = ~np.isfinite(panel.state.scores) & ~np.isnan(weights)
    assert (weights[hidden] == 0).all()
    assert "NO" in panel.status.value


def test_the_other_normalizers_by_hand(panel):
    panel.set({"normalizer": "divide by sum", "temperature": 3.0})
    assert np.allclose(panel.state.weights[1], [2, 0, -1, 0])
    assert "nothing below 0: NO · rows sum to 1: yes" in panel.status.value
    panel.set({"normalizer": "ReLU / sum", "temperature": 1.0})
    assert np.allclose(panel.state.weights[0], [0, 0.4, 0.2, 0.4])
    panel.set({"normalizer": "sigmoid"})
    assert np.allclose(panel.state.weights[1], 1 / (1 + np.exp([-2, 0, 1, 0])))


def test_nothing_to_divide_by_is_shown_and_said(panel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel.set({"normalizer": "ReLU / sum", "shift": -2.0})
        assert np.isnan(panel.state.weights[1]).all()
        assert "nan" in panel.tables.value and "rows with nan" in panel.status.value
        panel.set({"normalizer": "divide by sum", "shift": -0.25})
        assert np.isinf(panel.state.weights[1]).all()


def test_every_control_changes_the_picture_and_reset_brings_the_same_bytes_back(panel):
    began = panel._png, panel.tables.value, panel.status.value
    for name, value in dict(normalizer="sigmoid", mask="causal", query=2, temperature=0.5, shift=1.0).items():
        panel.sliders[name].value = value
        assert panel._png != began[0], name
        panel.reset()
        assert (panel._png, panel.tables.value, panel.status.value) == began


def test_several_controls_at_once_redraw_once(panel):
    before = panel.redraws
    panel.set({"normalizer": "sigmoid", "mask": "causal", "temperature": 2.0})
    assert panel.redraws == before + 1


def test_a_softmax_of_your_own_is_what_is_shown_and_its_options_come_only_when_asked_for():
    calls = []

    def mine(scores, **options):
        calls.append(set(options))
        scores[:] = 0  # even if it writes into its input
        options.get("mask", np.zeros(1))[:] = False
        return softmax(scores)

    panel = explore.normalizers(tokens, alpha, mine)
    assert np.allclose(panel.state.weights, 0.25)
    assert np.array_equal(panel.state.scores, alpha)
    panel.sliders["temperature"].value = 2.0
    panel.sliders["mask"].value = "causal"
    assert calls == [set(), {"temperature"}, {"temperature", "mask"}]
    assert np.array_equal(panel.state.scores, np.where(causal_mask(4), alpha, -np.inf))
    panel.sliders["shift"].value = 1.0
    assert np.array_equal(panel.state.scores, np.where(causal_mask(4), alpha + 1, -np.inf))


@pytest.mark.parametrize(
    "mine, said",
    [
        (lambda scores: ..., "they should have (4, 4)"),
        (lambda scores: None, "still a stub"),
        (lambda scores: 1 / 0, "ZeroDivisionError"),
        (lambda scores: scores[0], "shape (4,)"),
        (lambda scores: scores.astype(str), "they should have (4, 4) of numbers"),
        (lambda: None, "TypeError"),
    ],
)
def test_a_wrong_function_is_told_beside_the_picture(mine, said):
    panel = explore.normalizers(tokens, alpha, mine)
    assert said in panel.status.value
    assert panel._png == explore.normalizers(tokens, alpha)._png
    panel.sliders["normalizer"].value = "sigmoid"  # which needs no softmax
    assert said not in panel.status.value


def test_an_error_keeps_the_last_good_picture():
    panel = explore.normalizers(tokens, alpha, lambda scores: softmax(scores))
    good = panel._png, panel.tables.value
    panel.sliders["temperature"].value = 2.0
    assert "TypeError" in panel.status.value and "last good one" in panel.status.value
    assert (panel._png, panel.tables.value) == good


def test_a_softmax_that_overflows_is_shown_not_hidden():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel = explore.normalizers(
            tokens, 1000 * alpha, lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True)
        )
    assert "rows with nan: 4" in panel.status.value and "nan" in panel.tables.value


@pytest.mark.parametrize("n", [2, 6])
def test_other_sentences(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    attention = self_attention(X, W_q, W_k, W_v)
    panel = explore.normalizers(["<b>a long word</b>"] * n, attention.scores)
    assert np.allclose(panel.state.weights, attention.weights)
    assert "<b>" not in panel.tables.value
    assert panel.layout.height == f"{360 + 22 * n}px"


@pytest.mark.parametrize("n, shape", [(1, (1, 1)), (7, (7, 7)), (4, (4, 3)), (4, (4,))])
def test_what_does_not_fit_is_refused(n, shape):
    with pytest.raises(ValueError, match="2 to 6 tokens"):
        explore.normalizers(["a"] * n, np.zeros(shape))


def test_without_a_kernel_there_is_a_picture_and_a_fixed_text(panel):
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"].startswith("From scores to weights (a live panel")
    assert bundle["image/png"]


def test_every_control_has_a_label(panel):
    assert all(control.description for control in panel.sliders.values())
