"""The article's claim A5, on the running example and at random."""

import numpy as np

from course_lib import data
from course_lib.attention import self_attention
from course_lib.exercises.queries_keys_values import STAGES_MOVED


def test_a5_three_matrices_do_three_jobs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X, *W = (rng.normal(size=shape) for shape in ((4, 3), (3, 2), (3, 2), (3, 5)))
        before = self_attention(X, *W)
        for which, name in enumerate(("W_q", "W_k", "W_v")):
            nudged = [matrix + 0.1 * (i == which) for i, matrix in enumerate(W)]
            after = self_attention(X, *nudged)
            moved = {
                stage
                for stage, now, then in zip(before._fields, after, before)
                if not np.array_equal(now, then)
            }
            assert moved == STAGES_MOVED[name]


def test_a5_the_verb_of_the_example_finds_its_subject():
    tokens, _, X, *W = data.saw()
    weights = self_attention(X, *W).weights
    assert tokens[weights[1].argmax()] == "I" and weights[1].max() > 0.5


def test_a5_only_the_product_of_w_q_and_w_k_counts():
    rng = np.random.default_rng(0)
    X, W_q, W_k, W_v = (rng.normal(size=shape) for shape in ((4, 3), (3, 2), (3, 2), (3, 5)))
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    np.testing.assert_allclose(
        self_attention(X, W_q @ turn, W_k @ turn, W_v).output,
        self_attention(X, W_q, W_k, W_v).output,
        rtol=1e-12,
    )
