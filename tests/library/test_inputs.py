"""What every function asks of its input: a ValueError that names both shapes, or the cause."""

import ast
import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from planting import defined, noticed, plant

from course_lib import inputs
from course_lib.attention import (
    causal_mask,
    padding_mask,
    project,
    scores,
    self_attention,
    self_attention_columns,
    softmax,
    weighted_sum,
)
from course_lib.heads import add_scores, merge_heads, mix_scores, multi_head_attention, split_heads
from course_lib.sequence import bidirectional_rnn, convolution, fully_connected, positions, rnn, windows

X0, WQ0, WK0, WV0 = np.ones((5, 3)), np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 4))
HEADS = [np.ones(shape) for shape in ((5, 4), (4, 4), (4, 4), (4, 6), (6, 6))]  # for 2 heads
WRONG = {
    "features": (
        lambda: project(np.ones((5, 4)), WQ0, WK0, WV0),
        r"X has 4 features but W_q takes 3: \(5, 4\) @ \(3, 2\)",
    ),
    "features of the values": (
        lambda: project(X0, WQ0, WK0, np.ones((2, 4))),
        r"W_v takes 2: \(5, 3\) @ \(2, 4\)",
    ),
    "d_k": (lambda: project(X0, WQ0, np.ones((3, 7)), WV0), r"\(3, 2\) and \(3, 7\)"),
    "a stack of matrices": (
        lambda: project(X0, np.ones((1, 3, 2)), WK0, WV0),
        r"W_q must be one matrix.*\(1, 3, 2\)",
    ),
    "d_k of the scores": (lambda: scores(np.ones((5, 2)), np.ones((5, 3))), r"\(5, 2\) and \(5, 3\)"),
    "no features": (lambda: scores(np.ones((5, 0)), np.ones((5, 0))), r"d_k >= 1"),
    "batches": (lambda: scores(np.ones((2, 5, 2)), np.ones((3, 5, 2))), r"\(2, 5, 2\) and \(3, 5, 2\)"),
    "number of values": (
        lambda: weighted_sum(np.ones((5, 4)), np.ones((5, 4))),
        r"4 weights but V has 5.*\(5, 4\) @",
    ),
    "batches of values": (
        lambda: weighted_sum(np.ones((2, 5, 4)), np.ones((3, 4, 4))),
        r"\(2, 5, 4\) and \(3, 4, 4\)",
    ),
    "mask shape": (
        lambda: softmax(np.ones((5, 4)), mask=np.ones((4, 5), dtype=bool)),
        r"\(4, 5\) and \(5, 4\)",
    ),
    "mask of more axes": (
        lambda: softmax(np.ones((5, 4)), mask=np.ones((2, 5, 4), dtype=bool)),
        r"\(2, 5, 4\) and",
    ),
    "mask of numbers": (lambda: softmax(np.ones((5, 4)), mask=np.ones((5, 4))), "boolean.*float64"),
    "temperature 0": (lambda: softmax(np.ones(3), temperature=0), "above 0"),
    "temperature nan": (lambda: softmax(np.ones(3), temperature=math.nan), "above 0"),
    "temperatures": (lambda: softmax(np.ones(3), temperature=np.ones(3)), "one number above 0"),
    "one token as a vector": (lambda: project(np.ones(3), WQ0, WK0, WV0), r"X needs 2 axes.*\(3,\)"),
    "a number": (lambda: softmax(3.0), r"scores needs 1 axes"),
    "complex": (lambda: project(X0 + 1j, WQ0, WK0, WV0), r"real numbers, not complex128: shape \(5, 3\)"),
    "object": (lambda: project(X0.astype(object), WQ0, WK0, WV0), "real numbers, not object"),
    "text": (lambda: project([["I", "saw", "a"]], WQ0, WK0, WV0), "real numbers, not <U3"),
    "nan": (lambda: project(np.where(np.eye(5, 3) > 0, np.nan, 1), WQ0, WK0, WV0), r"X\[0, 0\] is nan"),
    "infinite": (lambda: weighted_sum(np.eye(2), [[1, 2], [np.inf, 4]]), r"V\[1, 0\] is inf"),
    "infinite score": (lambda: softmax([0.0, np.inf]), r"scores\[1\] is inf"),
    "nan score": (lambda: softmax([np.nan, 0.0]), r"scores\[0\] is nan"),
    "columns": (lambda: self_attention_columns(X0, WQ0.T, WK0.T, WV0.T), r"W_q.*\(2, 3\) @ \(5, 3\)"),
    "columns d_k": (
        lambda: self_attention_columns(X0.T, WQ0.T, np.ones((7, 3)), WV0.T),
        r"\(2, 3\).*\(7, 3\)",
    ),
    "n": (lambda: causal_mask(-1), "whole number from 0 up, not -1"),
    "half a token": (lambda: causal_mask(2.5), "not 2.5"),
    "true tokens": (lambda: causal_mask(True), "not True"),
    "length": (lambda: padding_mask([2, 6], 5), r"0 to n = 5, not \[2, 6\]"),
    "negative length": (lambda: padding_mask(-1, 5), "not -1"),
    "half a length": (lambda: padding_mask([1.5], 5), "whole numbers"),
    "columns of one axis": (
        lambda: self_attention_columns(X0[0], WQ0.T, WK0.T, WV0.T),
        r"I needs 2 axes.*\(3,\)",
    ),
    "a stack of columns": (
        lambda: self_attention_columns(np.ones((3, 3, 5)), WQ0.T, WK0.T, WV0.T),
        r"\(2, 3\) @ \(3, 3, 5\)",
    ),
    "a stack of matrices for columns": (
        lambda: self_attention_columns(X0.T, np.ones((3, 3, 3)), WK0.T, WV0.T),
        r"W_q.*\(3, 3, 3\) @ \(3, 5\)",
    ),
    "columns without features": (
        lambda: self_attention_columns(X0.T, np.ones((0, 3)), np.ones((0, 3)), WV0.T),
        "d_k >= 1",
    ),
    "temperature as text": (lambda: softmax(np.ones(3), temperature="1"), "above 0.*not '1'"),
    "temperature none": (lambda: softmax(np.ones(3), temperature=None), "above 0.*not None"),
    "temperature true": (lambda: softmax(np.ones(3), temperature=True), "above 0.*not True"),
    "temperature infinite": (lambda: softmax(np.ones(3), temperature=math.inf), "above 0.*not inf"),
    "temperature as a fraction": (lambda: softmax(np.ones(3), temperature=Fraction(1, 2)), "Fraction"),
    "a temperature that is 0 in float32": (
        lambda: softmax(np.ones(3, np.float32), temperature=1e-300),
        "above 0 that float32 can hold, not 1e-300",
    ),
    "whole numbers beyond 64 bits": (lambda: scores([[10**30]], [[1]]), "beyond 64 bits.*\\(1, 1\\)"),
    "a hole": (lambda: weighted_sum([[1, None]], [[1], [2]]), "weights must hold real.*None"),
    "uneven rows": (lambda: scores([[1, 2], [3]], [[1, 2]]), "Q must be a full rectangle"),
    "uneven mask": (lambda: softmax([1, 2], mask=[[True], [True, False]]), "mask must be a full rectangle"),
    "uneven lengths": (lambda: padding_mask([[1], [2, 3]], 4), "lengths must be a full rectangle"),
    "masked array": (lambda: softmax(np.ma.array([1.0, 2], mask=[True, False])), "mask of a masked array"),
    "minus infinity where nothing is hidden": (lambda: scores([[-np.inf]], [[1]]), r"Q\[0, 0\] is -inf"),
    "normalize that returns nothing": (
        lambda: self_attention(X0, WQ0, WK0, WV0, normalize=lambda alpha: None),
        "weights must hold real numbers, not object",
    ),
    "features do not divide": (lambda: split_heads(np.ones((5, 7)), 2), r"7 features.*2 heads: \(5, 7\)"),
    "no heads": (lambda: split_heads(np.ones((5, 6)), 0), "0 heads"),
    "half a head": (lambda: split_heads(np.ones((5, 6)), 1.5), "not 1.5"),
    "heads without an axis": (lambda: merge_heads(np.ones((5, 6))), r"3 axes.*\(5, 6\)"),
    "W_o": (
        lambda: multi_head_attention(*HEADS[:4], np.ones((5, 6)), 2),
        r"6 features but W_o takes 5: \(5, 6\) @ \(5, 6\)",
    ),
    "values do not divide": (
        lambda: multi_head_attention(*HEADS[:3], np.ones((4, 5)), HEADS[4], 2),
        "5 features",
    ),
    "mask of heads": (
        lambda: multi_head_attention(*HEADS, 2, mask=np.ones((4, 4), dtype=bool)),
        r"\(4, 4\) and \(5, 5\)",
    ),
    "mask of numbers for heads": (lambda: multi_head_attention(*HEADS, 2, mask=np.ones((5, 5))), "boolean"),
    "mix": (lambda: mix_scores(np.ones((2, 4, 4)), [1, 2, 3]), r"\(3,\) and \(2, 4, 4\)"),
    "nan in a head": (lambda: merge_heads(np.full((2, 3, 4), np.nan)), "is nan"),
    "one axis of features for W_o": (
        lambda: multi_head_attention(*HEADS[:4], np.ones((6, 6, 6)), 2),
        r"\(6, 6, 6\)",
    ),
    "tokens divide, features do not": (
        lambda: split_heads(np.ones((2, 6, 5)), 2),
        r"5 features.*\(2, 6, 5\)",
    ),
    "heads to add without an axis": (lambda: add_scores(np.ones((4, 4))), "alphas needs 3 axes"),
    "an odd d": (lambda: positions(3, 5), "not d = 5"),
    "a negative n": (lambda: positions(-1, 4), "n must be.*not -1"),
    "half a place": (lambda: positions(2.5, 4), "2.5"),
    "a negative d": (lambda: positions(3, -2), "-2"),
    "base 0": (lambda: positions(3, 4, base=0), "base must be one number above 0.*not 0"),
    "base of text": (lambda: positions(3, 4, base="10"), "base must be one number"),
    "a base below 1": (lambda: positions(3, 4, base=0.5), "1 or more.*not 0.5"),
    "a layer of other features": (
        lambda: fully_connected(X0, np.ones((2, 4))),
        r"3 features of a token: \(5, 3\) and \(2, 4\)",
    ),
    "a window for a layer": (lambda: fully_connected(X0, np.ones((5, 3, 2))), r"2 axes.*\(5, 3, 2\)"),
    "a matrix for a convolution": (lambda: convolution(X0, np.ones((3, 3))), r"3 axes.*\(3, 3\)"),
    "features of a window": (
        lambda: convolution(X0, np.ones((3, 2, 4))),
        r"3 features of a token: \(5, 3\) and \(3, 2, 4\)",
    ),
    "an even window": (lambda: convolution(X0, np.ones((2, 3, 4))), r"odd number.*\(2, 3, 4\)"),
    "nan in a window": (lambda: convolution(X0, np.full((1, 3, 4), np.nan)), "is nan"),
    "a negative radius": (lambda: windows(X0, -1), "radius must be a whole number"),
    "features of a step": (lambda: rnn(X0, np.ones((2, 4)), np.eye(4)), r"3 features.*\(5, 3\) @ \(2, 4\)"),
    "a stack of W_x": (lambda: rnn(X0, np.ones((3, 3, 4)), np.eye(3)), r"take the 3 features.*\(3, 3, 4\)"),
    "features of a state": (
        lambda: rnn(X0, np.ones((3, 4)), np.ones((4, 3))),
        r"from the 4 features.*\(3, 4\).*\(4, 3\)",
    ),
    "nan in a step": (lambda: rnn(X0, np.ones((3, 1)), [[np.nan]]), r"W_h\[0, 0\] is nan"),
    "a token for both ways": (
        lambda: bidirectional_rnn(X0[0], *2 * [(np.ones((3, 1)), [[1]])]),
        r"X needs 2 axes.*\(3,\)",
    ),
    "the way back": (
        lambda: bidirectional_rnn(X0, (np.ones((3, 1)), [[1]]), (np.ones((2, 1)), [[1]])),
        r"3 features.*\(5, 3\) @ \(2, 1\)",
    ),
}


@pytest.mark.parametrize("call, words", WRONG.values(), ids=WRONG)
def test_wrong_input_is_answered(call, words):
    with pytest.raises(ValueError, match=words), np.errstate(all="raise"):
        call()


def test_right_input_passes():
    np.testing.assert_array_equal(inputs.numbers("X", [[1, 2]]), np.array([[1.0, 2.0]]))
    assert inputs.numbers("X", [[True]]).dtype == float
    for kind in (np.float16, np.float32, np.float64):
        assert inputs.numbers("X", np.ones((2, 2), kind)).dtype == kind
        temperature = inputs.scores_and_mask(np.ones(3, kind), None, 2)[2]
        assert temperature == 2 and temperature.dtype == kind
    assert inputs.scores_and_mask([0, -np.inf], None, 1)[0].tolist() == [0, -np.inf]
    assert inputs.numbers("X", np.full((2, 2), 1e308)).max() == 1e308  # their sum would be inf
    assert inputs.whole("n", np.int64(3)) == 3 and inputs.whole("n", 0) == 0
    assert inputs.checked_mask([True, False], (2, 2)).tolist() == [[True, False], [True, False]]
    assert np.shares_memory(inputs.numbers("X", X0), X0)  # nothing is copied without need


# Every guard is needed: with a part of its condition taken away, what stands above turns red


def look_hard():
    for call, words in WRONG.values():
        test_wrong_input_is_answered(call, words)
    test_right_input_passes()


def conditions(tree):
    """Every part of every condition that leads to `raise`: the `if`, and the number of the part."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise):
            yield from ((node, i) for i in range(len(getattr(node.test, "values", [node.test]))))


SOURCE = inspect.getsource(inputs)
GUARDS = [
    ast.unparse(getattr(node.test, "values", [node.test])[i]) for node, i in conditions(ast.parse(SOURCE))
]


@pytest.mark.parametrize("number", range(len(GUARDS)), ids=GUARDS)
def test_a_guard_taken_away_is_noticed(number, monkeypatch):
    tree = ast.parse(SOURCE)
    node, i = list(conditions(tree))[number]
    if isinstance(node.test, ast.BoolOp):
        node.test.values[i] = ast.Constant(False)
    else:
        node.test = ast.Constant(False)
    for name, function in defined(ast.fix_missing_locations(tree)).items():
        monkeypatch.setattr(inputs, name, function)
    with noticed():
        look_hard()


SLIPS = {
    "queries and keys of other batches": [('same_batch("Q", Q, "K", K)', "pass")],
    "weights and values of other batches": [('same_batch("weights", weights, "V", V)', "pass")],
    "minus infinity everywhere": [("else np.isfinite(array)", "else array < np.inf")],
    "minus infinity nowhere": [("minus_inf=True)", "minus_inf=False)")],
    "nan as a score": [("array < np.inf if", "~(array == np.inf) if")],
    "everything in float64": [('if array.dtype.kind != "f":', "if True:")],
    "whole numbers as they are": [('if array.dtype.kind != "f":', "if False:")],
    "text is as good as numbers": [('not in "biuf"', 'not in "biufU"')],
    "complex is as good as real": [('not in "biuf"', 'not in "biufc"')],
    "a mask larger than the scores": [("return np.broadcast_to(mask, shape)", "return mask")],
    "temperature 0": [("0 < number < np.inf", "0 <= number < np.inf")],
    "temperature without an end": [("0 < number < np.inf", "0 < number")],
    "temperature in another float": [("temperature, alpha.dtype)", "temperature)")],
    "true is a temperature": [('dtype.kind in "iuf"', 'dtype.kind in "biuf"')],
}


@pytest.mark.parametrize("pairs", SLIPS.values(), ids=SLIPS)
def test_a_planted_slip_is_noticed(pairs, monkeypatch):
    for name, function in plant(inputs, pairs).items():
        monkeypatch.setattr(inputs, name, function)
    with noticed():
        look_hard()


def test_without_a_slip_nothing_is_noticed():
    look_hard()
