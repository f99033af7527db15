"""The exercises of notebook 03: attention scores."""

import numpy as np

from course_lib.attention import scores
from course_lib.exercises.exercise import Exercise, Slip

EXERCISES = {}
_rng = np.random.default_rng(0)

_Q, _K = _rng.normal(size=(4, 3)), _rng.normal(size=(5, 3))  # 4 queries, 5 keys, d_k = 3
_Q2, _K2 = _rng.normal(size=(6, 2)), _rng.normal(size=(3, 2))


def _cosines(Q, K):
    return Q @ K.T / np.linalg.norm(Q, axis=1, keepdims=True) / np.linalg.norm(K, axis=1)


EXERCISES["03-scores"] = Exercise(
    reference=lambda Q, K: scores(Q, K, scaled=False),
    probes=[(_Q, _K), (_Q2, _K2)],
    slips=[
        Slip(
            "queries and keys exchanged",
            lambda Q, K: K @ Q.T,
            "Your array has {number} rows for 4 queries: it is turned over. Which of the two indices counts the rows?",
            lambda got, want, *inputs: len(got),
        ),
        Slip(
            "queries with queries",
            lambda Q, K: Q @ Q.T,
            "Your row has {number} entries for 5 keys, and the keys are never read. Who answers a query?",
            lambda got, want, *inputs: got.shape[1],
        ),
        Slip(
            "keys with keys",
            lambda Q, K: K @ K.T,
            "You have {number} rows for 4 queries, and the queries are never read. Who asks?",
            lambda got, want, *inputs: len(got),
        ),
        Slip(
            "products not summed",
            lambda Q, K: Q[:, None] * K,
            "Your array has {number} axes: the products of the features stand side by side. A score is one number a pair.",
            lambda got, want, *inputs: got.ndim,
        ),
        Slip(
            "lengths divided out",
            _cosines,
            "No entry of yours is beyond {number:.2f}: these are cosines, the angle alone. A dot product keeps the lengths.",
            lambda got, want, *inputs: np.abs(got).max(),
        ),
        Slip(
            "scaled already",
            scores,
            "The largest score is {number:.2f} times yours. This exercise asks for the plain dot products; scaling comes next.",
            lambda got, want, *inputs: want.max() / got.max(),
        ),
    ],
)

EXERCISES["03-scaled"] = Exercise(
    reference=scores,
    probes=[(_Q, _K), (_Q2, _K2)],
    slips=[
        Slip(
            "not scaled",
            lambda Q, K: Q @ K.T,
            "Every score is {number:.3f} times too large: these are the plain dot products.",
            lambda got, want, *inputs: got[0, 0] / want[0, 0],
        ),
        Slip(
            "divided by d_k",
            lambda Q, K: Q @ K.T / Q.shape[1],
            "You divide by {number:.2f}, which is d_k itself. Look at the spread in the sweep: how does it grow with d_k?",
            lambda got, want, Q, K: (Q @ K.T)[0, 0] / got[0, 0],
        ),
        Slip(
            "multiplied by the root",
            lambda Q, K: Q @ K.T * np.sqrt(Q.shape[1]),
            "Every score is {number:.2f} times too large. The spread grows with d_k; what brings it back?",
            lambda got, want, *inputs: got[0, 0] / want[0, 0],
        ),
        Slip(
            "root of the number of queries",
            lambda Q, K: Q @ K.T / np.sqrt(len(Q)),
            "You divide by the root of {number:.0f}, the number of queries. Which axis of Q does a dot product sum over?",
            lambda got, want, Q, K: ((Q @ K.T)[0, 0] / got[0, 0]) ** 2,
        ),
        Slip(
            "root of the number of keys",
            lambda Q, K: Q @ K.T / np.sqrt(len(K)),
            "You divide by the root of {number:.0f}, the number of keys. Which axis of K does a dot product sum over?",
            lambda got, want, Q, K: ((Q @ K.T)[0, 0] / got[0, 0]) ** 2,
        ),
        Slip(
            "queries and keys exchanged",
            lambda Q, K: K @ Q.T / np.sqrt(Q.shape[1]),
            "Scaled rightly, but turned over: you have {number} rows for 4 queries.",
            lambda got, want, *inputs: len(got),
        ),
    ],
)
