"""The predictions of notebook 06: what each answer claims is computed, and the right one alone is true."""

import numpy as np

from course_lib import data
from course_lib.attention import self_attention
from course_lib.exercises.predictions import PREDICTIONS
from course_lib.sequence import positions

TOKENS, _, X, *W = data.saw()


def check_answers(name, claims):
    """claims: {text of an answer: whether what it claims is so}, for all answers."""
    assert claims == {answer.text: answer.right for answer in PREDICTIONS[name].answers}


def output(X):
    return self_attention(X, *W).output


def test_reading_the_shares_of_a_token_stand_in_a_column():
    head = self_attention(X, *W, scaled=False)
    V = head.V.T  # a value in each column
    due = np.stack([sum(head.weights[i, j] * V[:, j] for j in range(4)) for i in range(4)], axis=1)
    by_row, by_column = np.zeros((4, 4)), np.zeros((4, 4))
    for i in range(4):
        by_row[i, :] = by_column[:, i] = head.weights[i]
    rows, columns = np.allclose(V @ by_row, due), np.allclose(V @ by_column, due)
    claims = {
        "As row i": rows and not columns,
        "As column i": columns and not rows,
        "Either way: A′ is square, so both run": rows and columns,
    }
    check_answers("06-reading", claims)


def test_runs_two_slips_fit_though_all_sizes_differ():
    n, d, d_k, d_v = 4, 3, 2, 5
    assert "Four tokens, d = 3, d_k = 2, d_v = 5" in PREDICTIONS["06-runs"].question
    X, W_q, Q, V, weights = map(np.ones, ((n, d), (d, d_k), (n, d_k), (n, d_v), (n, n)))
    slips = {
        "X W_qᵀ": (X, W_q.T),
        "Qᵀ K": (Q.T, Q),
        "Q K": (Q, Q),
        "α′ᵀ V": (weights.T, V),
        "V α′": (V, weights),
    }
    assert all(name in PREDICTIONS["06-runs"].question for name in slips)
    runs = set()
    for name, (left, right) in slips.items():
        try:
            left @ right
            runs.add(name)
        except ValueError:
            pass
    claims = {
        "None: no two sizes are equal": runs == set(),
        "α′ᵀ V alone, since α′ is square": runs == {"α′ᵀ V"},
        "Qᵀ K and α′ᵀ V": runs == {"Qᵀ K", "α′ᵀ V"},
        "All five": runs == set(slips),
    }
    check_answers("06-runs", claims)


def test_order_the_rows_move_with_their_tokens():
    new = [1, 0, 3, 2]
    assert [TOKENS[i] for i in new] == "saw I saw a".split()
    before, after = output(X), output(X[new])

    def in_some_order(rows):
        return sorted(map(tuple, rows.round(9)))

    claims = {
        "The same rows, in the new order": np.allclose(after, before[new]) and not np.allclose(after, before),
        "Nothing": np.allclose(after, before),
        "New numbers: the words have new neighbors": in_some_order(after) != in_some_order(before),
    }
    check_answers("06-order", claims)


def test_count_the_place_drowns_the_word():
    def cosine(p):
        one, other = X[0] + p, X[1] + p
        return one @ other / np.linalg.norm(one) / np.linalg.norm(other)

    new, counted = [1, 0, 3, 2], np.arange(4)[:, None]
    only_shuffled = np.allclose(output(X[new] + counted), output(X + counted)[new])
    alike = cosine(0) < 0.01 and cosine(99) > 0.999
    claims = {
        "Order still does not count, as all features get the same number": only_shuffled,
        "Far out all words look alike": alike,
        "Nothing: each place has a number of its own": not alike and not only_shuffled,
    }
    check_answers("06-count", claims)
    sines = positions(100, 4)  # with the paper's positions words stay apart
    padded = np.hstack([X, np.zeros((4, 1))])
    one, other = padded[0] + sines[99], padded[1] + sines[99]
    assert one @ other / np.linalg.norm(one) / np.linalg.norm(other) < 0.9


def test_turn_each_hand_has_one_speed():
    hands = positions(50, 6).reshape(50, 3, 2)  # sine and cosine of three hands
    angles = np.unwrap(np.arctan2(hands[:, :, 0], hands[:, :, 1]), axis=0)
    turns = angles[3:] - angles[:-3]  # (47, 3)
    assert (turns > 0).all()
    claims = {
        "Yes: far out the hands turn more slowly": bool((turns[-1] < turns[0] - 1e-6).all()),
        "Yes: angles grow with p": bool((turns[-1] > turns[0] + 1e-6).all()),
        "No: for each hand it is the same, whatever p is": np.allclose(turns, turns[0]),
    }
    check_answers("06-turn", claims)
