"""The article's claims A14 to A17: why several heads, how they are split, what merging scores gives up."""

import numpy as np
import pytest

from course_lib.attention import project, scores, self_attention, softmax, weighted_sum
from course_lib.heads import add_scores, merge_heads, mix_scores, multi_head_attention, split_heads


@pytest.fixture
def weights():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 5)), *rng.normal(size=(3, 5, 6)), rng.normal(size=(6, 7))


def two_looks(n=6):
    """Contents c of 500 sentences and the task: the content before and the content after, in two slots."""
    c = np.random.default_rng(0).normal(size=(500, n))
    X = np.concatenate([c[..., None], np.broadcast_to(np.eye(n), (500, n, n))], axis=-1)
    return X, np.stack([c[:, :-2], c[:, 2:]], axis=-1)


def test_a14_two_heads_solve_a_task_with_two_questions():
    X, target = two_looks()
    looks = [np.vstack([np.zeros(6), 75 * np.eye(6, k=k)]) for k in (-1, 1)]
    place, content = np.eye(7)[:, 1:], np.eye(7)[:, :1]
    found = multi_head_attention(
        X, np.hstack(looks), np.hstack([place, place]), np.hstack([content, content]), np.eye(2), 2
    )
    np.testing.assert_allclose(found.output[:, 1:-1], target, atol=1e-6)
    assert found.weights[0, :, 2].argmax(axis=-1).tolist() == [1, 3]


def test_a14_one_row_of_weights_explains_half_of_it():
    X, target = two_looks()
    target = target.reshape(-1, 2)
    best = 0
    for share in np.linspace(0, 1, 21):
        mix = weighted_sum([[share, 1 - share]], target[..., None])[..., 0]
        fitted = mix @ np.linalg.lstsq(mix, target, rcond=None)[0]
        assert np.linalg.matrix_rank(fitted) == 1
        best = max(best, 1 - ((fitted - target) ** 2).sum() / (target**2).sum())
    assert 0.45 < best < 0.55
    singular = np.linalg.svd(target, compute_uv=False) ** 2  # no output on a line can do better
    assert best <= singular[0] / singular.sum() + 1e-12


def test_a14_no_weights_beat_one_line_while_values_are_contents():
    X, target = two_looks()
    target = target.reshape(-1, 2)
    singular = np.linalg.svd(target, compute_uv=False) ** 2
    neighbours = np.where(abs(np.subtract.outer(range(6), range(6))) == 1, 0, -75)
    found = []
    for bend in (0, 0.1, 0.5, 2, -1):  # scores that change with c
        W_q = np.vstack([np.zeros(7), np.column_stack([np.full(6, bend), neighbours])])
        mix = self_attention(X, W_q, np.eye(7), np.eye(7)[:, :1], scaled=False).output[:, 1:-1].reshape(-1, 1)
        fitted = mix @ np.linalg.lstsq(mix, target, rcond=None)[0]
        assert np.linalg.matrix_rank(fitted) == 1  # the outputs lie on a line
        found.append(1 - ((fitted - target) ** 2).sum() / (target**2).sum())
    assert 0.45 < found[0] < 0.55  # half and half: about half
    assert max(found) <= singular[0] / singular.sum() + 1e-12


def test_a14_values_that_tell_their_places_are_outside_the_proof():
    X, target = two_looks(3)
    bend = 0.1  # the weights change a little with c
    W_q = np.zeros((4, 4))
    W_q[2] = [bend, 0, -75, 0]
    W_v = np.array([[1, 1], [1 / bend, -1 / bend], [0, 0], [-1 / bend, 1 / bend]])
    output = self_attention(X, W_q, np.eye(4), W_v, scaled=False).output[:, 1:-1]
    assert 1 - ((output - target) ** 2).sum() / (target**2).sum() > 0.98


def test_a15_a_slice_of_a_projection_is_a_projection_and_a_slice_of_x_is_not(weights):
    X, W_q, *_ = weights
    assert np.abs(split_heads(X @ W_q, 2)[1] - X @ W_q[:, 3:]).max() == 0
    assert np.abs(split_heads(X @ W_q, 2)[1] - X[:, 2:] @ W_q[2:, 3:]).max() > 0.1


def test_a15_a_matrix_for_each_head_is_a_projection_too(weights):
    X, W_q, W_k, W_v, W_o = weights
    M = np.random.default_rng(1).normal(size=(2, 6, 3))
    Q, K, _ = project(X, W_q, W_k, W_v)
    as_slices = multi_head_attention(X, np.hstack(W_q @ M), np.hstack(W_k @ M), W_v, W_o, 2)
    np.testing.assert_allclose(as_slices.scores, scores(Q @ M, K @ M), rtol=1e-10)


def test_a16_each_head_has_its_own_scores_of_its_own_queries_and_keys(weights):
    X, W_q, W_k, W_v, W_o = weights
    found = multi_head_attention(*weights, 2)
    assert found.scores.shape == (2, 4, 4)
    other = W_k.copy()
    other[:, 3:] += 1  # only the second head's keys
    moved = multi_head_attention(X, W_q, other, W_v, W_o, 2).scores - found.scores
    assert (moved[0] == 0).all() and (moved[1] != 0).all()


def test_a17_equal_slices_with_added_scores_are_one_head(weights):
    X, W_q, W_k, W_v, _ = weights
    Q, K, V = project(X, W_q, W_k, W_v)
    alphas = scores(split_heads(Q, 3), split_heads(K, 3), scaled=False)
    one = self_attention(X, W_q, W_k, W_v, scaled=False)
    np.testing.assert_allclose(add_scores(alphas), one.scores, atol=1e-14)
    np.testing.assert_allclose(softmax(add_scores(alphas)) @ V, one.output, atol=1e-13)


@pytest.mark.parametrize("split", ["slices", "matrices"])
@pytest.mark.parametrize("merge", ["added", "mixed"])
def test_a17_scores_merged_before_the_softmax_leave_one_map(weights, split, merge):
    X, W_q, W_k, W_v, _ = weights
    Q, K, V = project(X, W_q, W_k, W_v)
    M = np.random.default_rng(1).normal(size=(2, 6, 3))
    Q_h, K_h = (split_heads(Q, 2), split_heads(K, 2)) if split == "slices" else (Q @ M, K @ M[::-1])
    alphas = scores(Q_h, K_h)
    merged = add_scores(alphas) if merge == "added" else mix_scores(alphas, [1, -0.5])
    assert merged.shape == (4, 4)
    both = np.stack([softmax(merged) @ part for part in split_heads(V, 2)])
    np.testing.assert_allclose(
        merge_heads(both), softmax(merged) @ V, rtol=1e-12
    )  # no head mixes otherwise than the other


def test_a17_outputs_merged_by_w_o_are_a_sum_of_one_term_a_head(weights):
    found, W_o = multi_head_attention(*weights, 2), weights[-1]
    terms = [found.weights[h] @ found.V[h] @ W_o[3 * h : 3 * h + 3] for h in range(2)]
    np.testing.assert_allclose(found.output, sum(terms), atol=1e-13)
    assert np.abs(found.weights[0] - found.weights[1]).max() > 0.1
