"""What the article says and notebook 05 shows: A11 and A12, and with them A4 and A7."""

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import project, self_attention, softmax, weighted_sum
from course_lib.explore.weighted_sum import NORMALIZERS

TOKENS, _, X, W_q, W_k, W_v = data.saw()
HEAD = self_attention(X, W_q, W_k, W_v)
W_1, W_2 = np.array([[1, -1, 0, 0], [0, 0, 1, -1]]), np.array([[1, 0], [0, 1], [1, 1], [-1, 1]])


def feed_forward(B):
    return np.maximum(B @ W_1, 0) @ W_2


def attend(tokens):
    return self_attention(tokens, W_q, W_k, W_v).output


def corner_shares(b):
    """b as a mix of v1, v2 and v3, the corners of the running example, with shares that sum to 1."""
    return np.linalg.solve(np.vstack([HEAD.V[:3].T, np.ones(3)]), [*b, 1])


def moves(function, nudge):
    """How far each output moves (column) when a token (row) is nudged."""
    return np.array(
        [np.linalg.norm(function(X + np.outer(np.eye(4)[j], nudge)) - function(X), axis=1) for j in range(4)]
    )


@pytest.mark.parametrize("n", [1, 4, 7])
def test_a4_as_many_outputs_as_inputs(n):
    tokens = np.random.default_rng(n).normal(size=(n, 3))
    assert attend(tokens).shape == (n, 2)


def test_a7_weights_are_one_share_a_token_and_another_thing_than_scores():
    assert HEAD.scores[0].shape == HEAD.weights[0].shape == (len(TOKENS),)
    assert np.allclose(HEAD.weights.sum(axis=-1), 1) and (HEAD.weights > 0).all()
    assert not np.allclose(HEAD.scores.sum(axis=-1), 1)


def test_a11_an_output_is_the_weighted_sum_of_the_values():
    for i in range(4):
        by_hand = sum(HEAD.weights[i, j] * HEAD.V[j] for j in range(4))
        assert np.allclose(by_hand, HEAD.output[i])
    assert np.allclose(HEAD.output, weighted_sum(HEAD.weights, HEAD.V))


def test_a11_softmax_keeps_b_in_the_hull_and_b_records_its_weights():
    saw_twice = [0, 1, 2, 1]  # the corner of each token: v2 = v4
    for scores in [*HEAD.scores, *np.random.default_rng(0).normal(0, 2, (50, 4))]:
        weights = softmax(scores)
        shares = corner_shares(weights @ HEAD.V)
        assert (shares > -1e-9).all()
        assert np.allclose(shares, np.bincount(saw_twice, weights))


@pytest.mark.parametrize("name, total, smallest", [("sigmoid", 2.78, -0.09), ("none", 3.54, -0.85)])
def test_a11_other_weights_take_b_out_of_the_hull(name, total, smallest):
    found = self_attention(X, W_q, W_k, W_v, normalize=NORMALIZERS[name])
    assert found.weights[0].sum() == pytest.approx(total, abs=0.005)
    assert corner_shares(found.output[0]).min() == pytest.approx(smallest, abs=0.005)


def test_a11_the_hull_in_more_dimensions_in_every_direction():
    rng = np.random.default_rng(1)
    V, scores, directions = rng.normal(size=(6, 5)), rng.normal(size=(6, 6)), rng.normal(size=(5, 200))
    limits = (V @ directions).max(axis=0)  # a point of the hull reaches no further than its corners
    assert (weighted_sum(softmax(scores), V) @ directions <= limits + 1e-12).all()
    assert not (weighted_sum(scores, V) @ directions <= limits + 1e-12).all()


def test_a11_a_weight_is_not_a_contribution():
    weights, V = softmax(np.array([np.log(9), 0])), np.array([[0.006, 0.008], [1.8, -2.4]])
    assert np.allclose(weights * np.linalg.norm(V, axis=1), [0.009, 0.3])
    words = self_attention(data.vectors("the dog bites the man")[1], W_q, W_k, W_v)
    contributions = words.weights[0] * np.linalg.norm(words.V, axis=1)
    assert set(np.argsort(words.weights[0])[-2:]) == set(np.argsort(contributions)[:2]) == {0, 3}


@pytest.mark.parametrize("nudge", [(0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
def test_a12_every_output_of_attention_knows_of_every_token(nudge):
    assert (moves(attend, nudge) > 1e-3).all()
    assert (moves(lambda tokens: feed_forward(attend(tokens)), nudge) > 1e-3).all()


@pytest.mark.parametrize("nudge", [(0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
def test_a12_a_feed_forward_layer_knows_of_one_token_only(nudge):
    alone = moves(lambda tokens: feed_forward(project(tokens, W_q, W_k, W_v)[2]), nudge)
    assert (np.diag(alone) > 1e-3).all()
    assert (alone[~np.eye(4, dtype=bool)] == 0).all()
