"""The predictions of notebook 05: what each answer claims is computed, and the right one alone is true."""

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import self_attention, softmax
from course_lib.exercises.predictions import PREDICTIONS

TOKENS, _, X, *W = data.saw()
HEAD = self_attention(X, *W)
CORNERS = np.vstack([HEAD.V[:3].T, np.ones(3)])  # v1, v2 = v4 and v3
W_1, W_2 = np.array([[1, -1, 0, 0], [0, 0, 1, -1]]), np.array([[1, 0], [0, 1], [1, 1], [-1, 1]])


def check_answers(name, claims):
    """claims: {text of an answer: whether what it claims is so}, for all answers."""
    assert claims == {answer.text: answer.right for answer in PREDICTIONS[name].answers}


def inside(b):
    """Whether b is a mix of the corners with shares that are not negative."""
    return (np.linalg.solve(CORNERS, [*b, 1]) >= -1e-12).all()


def nudged(token):
    """The outputs when one number of a token has grown by 0.1."""
    changed = X.copy()
    changed[token, 0] += 0.1
    return self_attention(changed, *W).output


def rows_that_move(now, then):
    return {i + 1 for i in range(4) if np.abs(now[i] - then[i]).max() > 1e-3}


def test_reach_a_mix_stays_among_the_values():
    points = {"near": (0.2, 1), "right": (2, 0), "up": (0, 2.2)}
    for value in ("(0, 2)", "(1, −1)", "(−1, −1)"):
        assert value in PREDICTIONS["05-reach"].question
    assert HEAD.V.tolist() == [[0, 2], [1, -1], [-1, -1], [1, -1]]
    scores = np.random.default_rng(0).uniform(-12, 12, size=(200_000, 4))  # large ones, too
    outputs = softmax(scores) @ HEAD.V
    reached = {name for name, point in points.items() if np.hypot(*(outputs - point).T).min() < 0.02}
    assert reached == {name for name, point in points.items() if inside(point)}
    claims = {
        "To all three, if the scores are large enough": reached == {"near", "right", "up"},
        "To (0.2, 1) and (0, 2.2), which lies in the direction of v₁": reached == {"near", "up"},
        "To (0.2, 1) only": reached == {"near"},
        "To none of them: b is always one of the values": reached == set(),
    }
    check_answers("05-reach", claims)


def test_needs_neither_property_alone_is_enough():
    scores = np.vstack([HEAD.scores, np.random.default_rng(1).normal(0, 2, (200, 4))])
    weights = {
        "both": softmax(scores),
        "positive": 1 / (1 + np.exp(-scores)),
        "sum": scores / scores.sum(axis=1, keepdims=True),
        "any": scores,
    }
    assert (weights["positive"] > 0).all() and np.allclose(weights["sum"].sum(axis=1), 1)
    keeps = {name: all(map(inside, rows @ HEAD.V)) for name, rows in weights.items()}
    claims = {
        "Weights that are positive": keeps["positive"],
        "Weights that are positive and sum to 1; neither alone": keeps["both"]
        and not keeps["positive"]
        and not keeps["sum"],
        "Weights that sum to 1": keeps["sum"],
        "Any weights: a weighted sum of values lies among them": keeps["any"],
    }
    check_answers("05-needs", claims)


def test_share_the_longest_values_count():
    tokens, X_own = data.vectors("the dog bites the man")
    words = self_attention(X_own, *W)
    weights, lengths = words.weights[0], np.linalg.norm(words.V, axis=1)
    assert weights.round(3).tolist() == [0.211, 0.193, 0.194, 0.211, 0.191]  # as the question says
    most = {tokens[i] for i in np.argsort(weights * lengths)[-2:]}
    claims = {
        "“dog” and “man”, the two beings": most == {"dog", "man"},
        "The two “the”: they have the largest weights": most == {"the"},
        "No two of them: all five about alike": np.ptp(weights * lengths) < 0.1,
    }
    check_answers("05-share", claims)
    assert set(np.argsort(lengths)[-2:]) == {1, 4}  # the longest values


def test_nudge_all_outputs_move():
    moved = rows_that_move(nudged(3), HEAD.output)
    claims = {
        "b₄ only": moved == {4},
        "b₂ and b₄, which have been equal so far": moved == {2, 4},
        "b₁ and b₃: they give token 4 more than the others do": moved == {1, 3},
        "All four": moved == {1, 2, 3, 4},
    }
    check_answers("05-nudge", claims)
    most = set(np.argsort(HEAD.weights[:, 3])[-2:] + 1)
    assert most == {1, 3}  # as the third answer says, for another conclusion


def test_after_a_layer_that_works_on_each_row_passes_on_what_has_moved():
    def feed_forward(B):
        return np.maximum(B @ W_1, 0) @ W_2

    changed = X.copy()
    changed[3, 0] += 0.1
    counts = (
        len(rows_that_move(feed_forward(changed @ W[2]), feed_forward(X @ W[2]))),
        len(rows_that_move(feed_forward(nudged(3)), feed_forward(HEAD.output))),
    )
    claims = {
        "1 and 1: it works on each row alone": counts == (1, 1),
        "4 and 4: its matrices read all numbers": counts == (4, 4),
        "1 and 4: what it gets decides": counts == (1, 4),
        "1 and 2: the ReLU sets the negative numbers of b₁ and b₃ to 0": counts == (1, 2),
    }
    check_answers("05-after", claims)
    longer = feed_forward(np.vstack([HEAD.output, [[1, 1]]]))
    assert np.array_equal(longer[:4], feed_forward(HEAD.output))  # each row alone
    assert set(np.flatnonzero((HEAD.output < 0).any(axis=1)) + 1) == {1, 3}  # as the last answer says
    assert np.array_equal([[2, 3]] @ W_1, [[2, -2, 3, -3]])  # x, −x, y, −y


@pytest.mark.parametrize("signs", np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]))
def test_the_layer_loses_no_move(signs):
    inside = np.eye(2) * signs @ W_1 > 0  # what passes, for x and for y
    slopes = np.stack([W_1[i] * inside[i] @ W_2 for i in range(2)])  # of the output, by x and by y
    assert abs(np.linalg.det(slopes)) > 0.5
