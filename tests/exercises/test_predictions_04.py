"""The predictions of notebook 04: what each answer claims is computed, and the right one alone is true."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, explore
from course_lib.attention import causal_mask, project, scores, self_attention, softmax
from course_lib.exercises.predictions import PREDICTIONS

X, W_q, W_k, W_v = data.saw()[2:]
Q, K, _ = project(X, W_q, W_k, W_v)
ALPHA = scores(Q, K, scaled=False)
ROW = ALPHA[1]
HIGH, LOW = np.array([1000.0, 999, 998]), np.array([2.0, 1, 0])
SOURCE = json.loads((Path(__file__).parents[2] / "notebooks/04_softmax.ipynb").read_text(encoding="utf-8"))


def check_answers(name, claims):
    """claims: {text of an answer: whether what it claims is so}, for all answers."""
    assert claims == {answer.text: answer.right for answer in PREDICTIONS[name].answers}


@np.errstate(all="ignore")
def by_hand(scores):
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


def near(numbers, wanted):
    return np.allclose(numbers, wanted, atol=0.006)


def test_shift_adding_changes_nothing():
    assert ROW.tolist() == [2, 0, -1, 0] and len(f"{np.exp(102):.0f}") == 45
    for weights in (by_hand(ROW + 100), softmax(ROW + 100)):
        claims = {
            "They become nearly equal": np.ptp(weights) < 0.05,
            "The largest takes nearly all": weights.max() > 0.95,
            "None can be computed: exp(102) is too large": not np.isfinite(weights).all(),
            "They stay as they are": np.allclose(weights, softmax(ROW)),
        }
        check_answers("04-shift", claims)
    divided = (ROW + 100) / (ROW + 100).sum()  # "nearly equal": as if the scores themselves were divided
    assert np.ptp(divided) < 0.05


def test_shift_is_wanted_the_zero_of_the_keys_means_nothing():
    others = scores(Q, K + [50, -20], scaled=False)
    assert np.ptp(others - ALPHA, axis=1).max() < 1e-9 and (others[1] - ALPHA[1] == 80).all()
    assert np.allclose(softmax(others), softmax(ALPHA))
    kept, kept_then = (np.maximum(each[1], 0) for each in (ALPHA, others))
    assert not np.allclose(kept / kept.sum(), kept_then / kept_then.sum())  # ReLU / sum does care


def test_large_powers_beyond_float64_are_no_number():
    weights = by_hand(HIGH)
    claims = {
        "0.67, 0.24 and 0.09, as of (2, 1, 0)": near(weights, by_hand(LOW)),
        "Three times nan (not a number)": np.isnan(weights).all(),
        "1, 0 and 0": near(weights, [1, 0, 0]),
    }
    check_answers("04-large", claims)
    assert near(by_hand(LOW), [0.67, 0.24, 0.09]) and int(1000 / np.log(10)) + 1 == 435


def test_maximum_one_for_all_loses_the_low_row():
    right = [np.allclose(by_hand(row - 1000), softmax(row)) for row in (HIGH, LOW)]
    claims = {
        "Both": right == [True, True],
        "The second only": right == [False, True],
        "The first only": right == [True, False],
    }
    check_answers("04-maximum", claims)
    assert np.exp(-746.0) == 0 < np.exp(-745.0)
    assert all(np.allclose(by_hand(row - row.max()), softmax(row)) for row in (HIGH, LOW))


def test_others_dividing_by_a_small_sum_explodes():
    three = np.array([0.5, -0.5, 0.01])
    weights, kept = three / three.sum(), np.maximum(three, 0)
    claims = {
        "50, −50 and 1": near(weights, [50, -50, 1]),
        "0.5, −0.5 and 0.01": near(weights, three),
        "0.98, 0 and 0.02": near(weights, [0.98, 0, 0.02]),
    }
    check_answers("04-others", claims)
    assert near(kept / kept.sum(), [0.98, 0, 0.02])


def test_causal_fewer_keys_larger_shares():
    assert np.array_equal(ALPHA[1], ALPHA[3]) and ALPHA[1, 0] == 2
    first, second = softmax(ALPHA, mask=causal_mask(4))[[1, 3], 0]
    claims = {
        "Yes, the same": np.isclose(first, second),
        "No, the first “saw” gives more": first > second + 0.1,
        "No, the second “saw” gives more": second > first + 0.1,
    }
    check_answers("04-causal", claims)
    assert near([first, second], [0.88, 0.76])


def test_padding_a_score_of_0_is_a_score_like_others():
    filled = self_attention(np.concatenate([X[:2], np.zeros((2, 3))]), W_q, W_k, W_v, scaled=False)
    assert filled.scores[1].tolist() == [2, 0, 0, 0]
    word, own, filler, other = filled.weights[1]
    claims = {
        "None": filler == 0,
        "Less than any real word": filler < min(word, own),
        "As much as “saw” itself": filler == own == other,
    }
    check_answers("04-padding", claims)


def test_masks_only_a_new_sum_makes_up_for_what_is_hidden():
    mask = causal_mask(4)[1]
    assert mask.tolist() == [True, True, False, False]
    late, right = softmax(ROW) * mask, softmax(ROW, mask=mask)
    ways = {
        "softmax(scores × mask)": softmax(ROW * mask),
        "softmax(scores + mask)": softmax(ROW + mask),
        "softmax(scores) × mask": late,
        "softmax(scores) × mask, then divided by its sum": late / late.sum(),
    }
    check_answers("04-masks", {text: np.allclose(weights, right) for text, weights in ways.items()})


def test_nothing_1e9_subtracted_everywhere_hides_nothing():
    for weights in (softmax(ROW - 1e9), by_hand(ROW - 1e9 - (ROW - 1e9).max())):
        claims = {
            "Those of no mask at all": np.allclose(weights, softmax(ROW), atol=1e-6),
            "0 for every key": (weights == 0).all(),
            "0.25 for every key": np.allclose(weights, 0.25),
        }
        check_answers("04-nothing", claims)
    drowned = softmax(ROW.astype("float32") - np.float32(1e9))
    assert np.allclose(drowned, 0.25)


@pytest.fixture
def panel():
    return explore.normalizers(data.saw().tokens, ALPHA)


def text(id):
    return "".join(next(cell["source"] for cell in SOURCE["cells"] if cell["id"] == id))


def test_the_table_names_what_the_panel_says(panel):
    kept = [part.split(":")[0] for part in panel.status.split(" · ")]
    assert kept == ["none below 0", "rows sum to 1", "larger score, larger weight"]
    assert all(f'"{name}"' in text("kept") for name in kept)


def test_what_the_text_says_of_the_panel(panel):
    panel.set({"normalizer": "ReLU / sum", "shift": -2.0})
    assert "nan" in panel.status and np.isnan(panel.state.weights).all()
    panel.set({"normalizer": "divide by sum", "shift": -0.25})
    assert np.flatnonzero(panel.state.scores.sum(axis=1) == 0).tolist() == [1, 3]
    panel.set({"shift": 0.0})
    still = panel.state.weights
    panel.set({"temperature": 3.0})
    assert np.allclose(panel.state.weights, still)
    moved = {}
    for name in ("softmax", "ReLU / sum", "sigmoid"):
        panel.set({"normalizer": name, "temperature": 1.0})
        before = panel.state.weights
        panel.set({"temperature": 3.0})
        moved[name] = not np.allclose(panel.state.weights, before)
    assert moved == {"softmax": True, "ReLU / sum": False, "sigmoid": True}
    shares = {T: softmax(ROW, temperature=T / 10)[0].round(2) for T in range(1, 51)}
    assert [T for T, share in shares.items() if share == 0.60] == [15]
    for temperature in (0.1, 5.0):
        panel.set({"normalizer": "softmax", "temperature": temperature})
        assert "larger score, larger weight: yes" in panel.status
    panel.set({"temperature": 1.0, "mask": "causal"})
    grown = panel.state.weights - softmax(ALPHA)
    assert (grown[1, :2] > 0.01).all() and np.allclose(grown[3], 0)
