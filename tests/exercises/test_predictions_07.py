"""The predictions of notebook 07: each answer's claim is computed, and only the right one is true."""

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import project, scores, self_attention, softmax
from course_lib.exercises.predictions import PREDICTIONS
from course_lib.heads import add_scores, multi_head_attention, split_heads


@pytest.fixture
def matrices():
    """X (4, 6), W_q, W_k, W_v and W_o (6, 6)."""
    return np.random.default_rng(0).normal(size=(5, 6, 6))


def only_true(name, **claims):
    """The answer that begins with each claim's words is right if the claim is true, and wrong if not.

    claims: by their order in the file, so that each has to be computed.
    """
    answers = PREDICTIONS[name].answers
    assert len(claims) == len(answers)
    for answer, (words, true) in zip(answers, claims.items()):
        assert words.replace("_", " ") in answer.text.lower()
        assert answer.right == bool(true), answer.text


def looks(sentence, asks):
    tokens, words = data.vectors(sentence)
    X = np.column_stack([words, np.arange(len(tokens)) + 1])
    W_q, W_k = np.array([asks, [0, 0], [0, 0], [0, 0]]), np.array([[0, 0], [1, 0], [0, 0], [0, 1]])
    found = self_attention(X, W_q, W_k, np.eye(4)[:, :3])
    return dict(zip(tokens, found.weights[tokens.index("bites")])), found.output[tokens.index("bites")]


def test_the_head_that_asks_for_an_early_being_follows_the_order():
    weights, mix = looks("the man bites the dog", [8, -4])
    only_true(
        "07-turned",
        dog=weights["dog"] > 0.9,
        man=weights["man"] > 0.9,
        both=abs(weights["man"] - weights["dog"]) < 0.3,
    )
    np.testing.assert_allclose(mix, data.vectors("man")[1][0], atol=0.05)


def test_the_two_heads_and_the_one_are_as_the_text_says():
    for sentence, early, late in (
        ("the dog bites the man", "dog", "man"),
        ("the man bites the dog", "man", "dog"),
    ):
        assert looks(sentence, [8, -4])[0][early] > 0.95 and looks(sentence, [8, 4])[0][late] > 0.95
        one = looks(sentence, [8, 0])[0]
        assert (round(one["dog"], 2), round(one["man"], 2)) == (0.62, 0.37)
    assert "0.62 and 0.37" in PREDICTIONS["07-turned"].answers[2].says
    assert looks("the dog bites the man and the cat", [8, 4])[0]["cat"] > 0.95  # a third being at the end


def test_one_line_keeps_half_of_a_round_cloud():
    c = np.random.default_rng(0).normal(size=(1000, 6))
    target = np.stack([c[:, :-2].ravel(), c[:, 2:].ravel()], axis=1)
    turns = np.linspace(0, np.pi, 181)
    lines = np.stack([np.cos(turns), np.sin(turns)])
    along = ((target @ lines) ** 2).sum(axis=0) / (target**2).sum()
    best, worst = along.max(), along.min()
    only_true("07-slots", all=best > 0.9, nothing=best < 0.1, about_half=abs(best - 0.5) < 0.03)
    assert abs(worst - 0.5) < 0.03  # for every line, as the text says
    share = softmax(np.random.default_rng(1).normal(size=(len(target), 2)))  # weights that differ by token
    m, u = (share * target).sum(axis=1), np.array([0.6, 0.8])
    assert ((np.outer(m, u) - target) ** 2).sum() >= (1 - best) * (target**2).sum()


def test_a_slice_of_a_projection_is_a_projection(matrices):
    X, W_q, *_ = matrices
    second = split_heads(X @ W_q, 2)[1]
    columns = np.allclose(second, X @ W_q[:, 3:])
    corner = np.allclose(second, X[:, 3:] @ W_q[3:, 3:])
    only_true(
        "07-slice",
        only_the_columns=columns and not corner,
        only_the_slice=corner and not columns,
        both=columns and corner,
        neither=not columns and not corner,
    )


def test_added_scores_of_equal_slices_are_one_head(matrices):
    X, W_q, W_k, W_v, _ = matrices / 2
    Q, K, _ = project(X, W_q, W_k, W_v)
    alphas = scores(split_heads(Q, 2), split_heads(K, 2), scaled=False)
    added = softmax(add_scores(alphas))
    average = np.allclose(added, softmax(alphas).mean(axis=0))
    one = np.allclose(added, self_attention(X, W_q, W_k, W_v, scaled=False).weights)
    only_true("07-added", average=average, one_head=one, neither=not average and not one)
    with_roots = add_scores(scores(split_heads(Q, 2), split_heads(K, 2)))
    np.testing.assert_allclose(with_roots, np.sqrt(2) * scores(Q, K))


def test_side_by_side_and_w_o_is_a_sum_with_a_block_for_each(matrices):
    *X_and_W, W_o = matrices
    found = multi_head_attention(*X_and_W, W_o, n_heads=2)
    first, second = found.weights @ found.V
    own = np.allclose(found.output, first @ W_o[:3] + second @ W_o[3:])
    shared = np.allclose(found.output, (first + second) @ W_o[:3])
    only_true(
        "07-side",
        a_sum_would_blur=not own,
        add_the_heads=shared,
        cannot_be_taken_apart=not own,
        its_own_rows=own,
    )
