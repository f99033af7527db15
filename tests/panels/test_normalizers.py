"""The panel of notebook 04: temperature, normaliser and mask on one table of scores."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import data, explore, show
from course_lib.attention import causal_mask, padding_mask, scores, self_attention, softmax

tokens, _, X, W_q, W_k, W_v = data.saw()
alpha = scores(X @ W_q, X @ W_k, scaled=False)


@pytest.fixture
def panel():
    return explore.normalizers(tokens, alpha)


def picture(panel, title):
    """The SVG text of the picture whose title begins so."""
    return re.search(rf"<figcaption>{title}.*?</svg>", panel._html.value)[0]


def bars(svg, color):
    """How far each bar of one color reaches upwards, in pixels; 0 where it has no height."""
    path = re.search(rf'<path d="([^"]*)" fill="{show.COLORS[color]}"', svg)[1]
    boxes = re.findall(r"M[\d.]+,([\d.]+)H[\d.]+V([\d.]+)", path)
    return np.array([float(start) - float(end) for start, end in boxes])


def ticks(svg):
    return [float(word) for word in re.findall(r'text-anchor="end">([^<]+)</text>', svg)]


def test_it_begins_with_plain_softmax(panel):
    powers = np.exp(alpha)
    assert np.array_equal(panel.state.scores, alpha)
    assert np.allclose(panel.state.weights, powers / powers.sum(axis=1, keepdims=True))
    assert panel.status == "none below 0: yes · rows sum to 1: yes · larger score, larger weight: yes"


def test_temperature_and_shift(panel):
    panel.controls["temperature"].value = 2.0
    assert np.allclose(panel.state.weights, softmax(alpha / 2))
    panel.controls["shift"].value = 3.0
    assert np.array_equal(panel.state.scores, alpha + 3)
    assert np.allclose(panel.state.weights, softmax(alpha / 2))


@pytest.mark.parametrize(
    "name, mask", [("causal", causal_mask(4)), ("padding: last token", padding_mask(3, 4))]
)
def test_masks(panel, name, mask):
    panel.controls["mask"].value = name
    assert np.array_equal(panel.state.scores, np.where(mask, alpha, -np.inf))
    assert np.array_equal(panel.state.weights, softmax(alpha, mask=mask))
    assert "-inf" in panel._html.value


@pytest.mark.parametrize("mask", ["none", "causal", "padding: last token"])
@pytest.mark.parametrize("name", ["ReLU / sum", "sigmoid", "divide by sum"])
def test_hidden_keys_have_no_weight_in_any_normalizer(panel, name, mask):
    panel.set({"normalizer": name, "mask": mask})
    weights = panel.state.weights
    hidden = ~np.isfinite(panel.state.scores) & ~np.isnan(weights)
    assert (weights[hidden] == 0).all()
    assert "NO" in panel.status


def test_the_other_normalizers_by_hand(panel):
    panel.set({"normalizer": "divide by sum", "temperature": 3.0})
    assert np.allclose(panel.state.weights[1], [2, 0, -1, 0])
    assert "none below 0: NO · rows sum to 1: yes" in panel.status
    panel.set({"normalizer": "ReLU / sum", "temperature": 1.0})
    assert np.allclose(panel.state.weights[0], [0, 0.4, 0.2, 0.4])
    assert panel.status.startswith("none below 0: yes")
    panel.set({"normalizer": "sigmoid"})
    assert np.allclose(panel.state.weights[1], 1 / (1 + np.exp([-2, 0, 1, 0])))


def test_nan_is_named_and_never_called_negative(panel):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel.set({"normalizer": "ReLU / sum", "shift": -2.0})
    assert np.isnan(panel.state.weights).all(axis=1).tolist() == [True] * 4
    assert panel.status == "nan, not a number, in every row"
    panel.controls["shift"].value = -1.0
    undefined = np.isnan(panel.state.weights).any(axis=1)
    rows = ", ".join(f"row {i + 1}" for i in np.flatnonzero(undefined))
    assert 0 < undefined.sum() < 4
    assert panel.status.startswith(f"nan, not a number, in {rows}; in the others: none below 0: yes · ")
    panel.controls["query"].value = int(np.flatnonzero(undefined)[0])
    svg = picture(panel, "its weights")
    assert svg.count(" nan</text>") == 4 and not bars(svg, "weight").any()


def test_infinite_weights_leave_the_frame_on_their_own_side(panel):
    panel.set({"normalizer": "divide by sum", "shift": -0.25})
    assert panel.state.weights[1].tolist() == [np.inf, -np.inf, -np.inf, -np.inf]
    svg = picture(panel, "its weights")
    assert svg.count("▲") == 1 and svg.count("▼") == 3
    low, zero, high = ticks(svg)
    assert (low, zero, high) == (-1, 0, 1) and np.sign(bars(svg, "weight")).tolist() == [1, -1, -1, -1]
    assert "1 I inf, 2 saw -inf" in svg


@given(st.data())
def test_bars_are_as_long_as_the_numbers(drawn):
    panel = explore.normalizers(tokens, alpha)
    panel.set(
        {
            "normalizer": drawn.draw(st.sampled_from(["softmax", "ReLU / sum", "sigmoid", "divide by sum"])),
            "mask": drawn.draw(st.sampled_from(["none", "causal", "padding: last token"])),
            "query": drawn.draw(st.integers(0, 3)),
            "temperature": drawn.draw(st.integers(1, 50)) / 10,
            "shift": drawn.draw(st.integers(-12, 12)) / 4,
        }
    )
    query = panel.controls["query"].value
    for title, color, numbers in zip(("scores of", "its weights"), ("score", "weight"), panel.state):
        svg, row = picture(panel, title), numbers[query]
        top, low = max(ticks(svg)), min(ticks(svg))
        inside = np.nan_to_num(row, nan=0, posinf=top, neginf=low if color == "weight" else 0)
        assert low - 1e-9 <= inside.min() and inside.max() <= top + 1e-9
        height = 142 / (top - low)  # 170 pixels, of which 8 above and 20 below
        assert np.allclose(bars(svg, color), inside * height, atol=0.11)


def test_frames_are_those_of_plain_softmax_whatever_the_controls_say(panel):
    def frames():
        ghost = rf'<path d="([^"]*)" fill="none" stroke="{show.COLORS["ghost"]}"'
        return re.findall(ghost, panel._html.value)

    begun = frames()
    panel.set({"normalizer": "sigmoid", "temperature": 2.0, "mask": "causal"})
    assert len(begun) == 2 and frames() == begun
    tops = [142 - float(top) + 8 for top in re.findall(r"V([\d.]+)", begun[1])]
    assert np.allclose(tops, 142 * softmax(alpha)[1], atol=0.11)
    panel.controls["query"].value = 0
    assert frames() != begun


def test_hidden_keys_are_not_asked_for_their_order():
    panel = explore.normalizers(list("abc"), [[1.0, 0, 0], [-1, 2, 0], [0, 1, 2]])
    panel.set({"normalizer": "ReLU / sum", "mask": "causal"})
    assert panel.status.endswith("larger score, larger weight: yes")  # -1 and what is hidden both get 0


def test_pictures_say_what_is_seen(panel):
    said = re.findall('aria-label="(.*?)"', panel._html.value)
    assert said == [
        "scores of 2 saw; 1 I 2.00, 2 saw 0.00, 3 a -1.00, 4 saw 0.00",
        "its weights; 1 I 0.76, 2 saw 0.10, 3 a 0.04, 4 saw 0.10",
    ]


def test_every_control_changes_what_is_seen_and_reset_brings_the_same_text_back(panel):
    began = panel._html.value, panel.status
    for name, value in dict(normalizer="sigmoid", mask="causal", query=2, temperature=0.5, shift=1.0).items():
        panel.controls[name].value = value
        assert panel._html.value != began[0], name
        panel.reset()
        assert (panel._html.value, panel.status) == began


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
    panel.controls["temperature"].value = 2.0
    panel.controls["mask"].value = "causal"
    assert calls == [set(), {"temperature"}, {"temperature", "mask"}]
    assert np.array_equal(panel.state.scores, np.where(causal_mask(4), alpha, -np.inf))
    panel.controls["shift"].value = 1.0
    assert np.array_equal(panel.state.scores, np.where(causal_mask(4), alpha + 1, -np.inf))


def stop(scores):
    raise SystemExit("enough")


@pytest.mark.parametrize(
    "mine, said",
    [
        (lambda scores: ..., "stub"),
        (lambda scores: None, "library&#x27;s"),
        (lambda scores: 1 / 0, "ZeroDivisionError"),
        (lambda scores: scores[0], "is (4,)"),
        (lambda scores: scores.astype(str), "not finite numbers"),
        (lambda scores: int("<img src=x>"), "&lt;img"),
        (lambda: None, "TypeError"),
        (stop, "SystemExit: enough"),
    ],
)
def test_a_wrong_function_is_told_beside_the_picture(mine, said):
    panel = explore.normalizers(tokens, alpha, mine)
    assert said in panel._html.value and "<img" not in panel._html.value
    assert panel._body == explore.normalizers(tokens, alpha)._body
    panel.controls["normalizer"].value = "sigmoid"  # which needs no softmax
    assert said not in panel._html.value


def test_an_error_keeps_the_last_good_picture():
    panel = explore.normalizers(tokens, alpha, lambda scores: softmax(scores))
    good = panel._body
    panel.controls["temperature"].value = 2.0
    assert "TypeError" in panel.status and "last good one" in panel.status
    assert panel._body == good


def test_what_a_function_prints_is_shown(capsys):
    panel = explore.normalizers(tokens, alpha, lambda scores: print("<b>", scores.shape) or softmax(scores))
    assert "<pre>&lt;b&gt; (4, 4)" in panel._html.value and capsys.readouterr().out == ""


def test_a_softmax_that_overflows_is_shown_not_hidden():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel = explore.normalizers(
            tokens, 1000 * alpha, lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True)
        )
    assert panel.status == "nan, not a number, in every row" and ">nan<" in panel._html.value


def test_very_large_numbers_are_short():
    panel = explore.normalizers(tokens, alpha, lambda scores, temperature=1: np.exp(scores / temperature))
    panel.set({"temperature": 0.1, "shift": 3.0})
    assert np.isclose(panel.state.weights[1, 0], np.exp(50))
    assert not re.search(r"\d{8}", panel._html.value) and "5.2e21" in panel._html.value
    assert max(ticks(picture(panel, "its weights"))) == 1e22
    assert panel.status == "none below 0: yes · rows sum to 1: NO · larger score, larger weight: yes"


@pytest.mark.parametrize("n", [2, 6])
def test_other_sentences(n):
    X = np.random.default_rng(n).normal(size=(n, 3))
    attention = self_attention(X, W_q, W_k, W_v)
    panel = explore.normalizers(["<b>a long word</b>"] * n, attention.scores)
    assert np.allclose(panel.state.weights, attention.weights)
    assert "<b>" not in panel._html.value


def test_long_words_are_whole_and_stand_as_numbers_where_they_do_not_fit():
    words = "unfortunately neighbours disappointed photographers extraordinary circumstances".split()
    text = explore.normalizers(words, np.eye(6))._html.value
    assert "…" not in text and text.count('scope="row">4 photographers<') == 2
    assert 'scope="col">4<' in text and 'text-anchor="middle">4<' in text


def test_score_and_weight_have_the_colors_of_the_course(panel):
    assert bars(picture(panel, "scores of"), "score").any()
    assert bars(picture(panel, "its weights"), "weight").any()
    assert not any(show.COLORS[name] in panel._html.value for name in ("query", "key", "value", "output"))


@pytest.mark.parametrize("n, shape", [(1, (1, 1)), (7, (7, 7)), (4, (4, 3)), (4, (4,))])
def test_what_does_not_fit_is_refused(n, shape):
    with pytest.raises(ValueError, match="2 to 6 tokens.*" + re.escape(str(shape))):
        explore.normalizers(["a"] * n, np.zeros(shape))


def test_every_control_has_a_spoken_name(panel):
    assert all(control.tooltip == control.description for control in panel.controls.values())
