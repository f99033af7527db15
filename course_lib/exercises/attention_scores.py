"""The exercises of notebook 03: attention scores."""

import numpy as np

from course_lib.attention import scores
from course_lib.exercises.exercise import Exercise, arrays, fixed, scales, shares, sizes, slips

EXERCISES = {}

_PROBES = [
    fixed(0, (2, 3), (4, 3)),  # 2 queries, 4 keys, d_k = 3
    fixed(1, (2, 3), (4, 3)),
    fixed(2, (2, 3), (3, 3)),  # as many keys as features: here K fits unturned
    fixed(3, (2, 3), (2, 3)),  # as many queries as keys: here features can meet features
]


def _draw(rng):
    n_q, n_k, d_k = sizes(rng, 3)
    if rng.random() < 0.05:
        n_q, n_k = 1, 64  # as the panel calls it
    return arrays(rng, (n_q, d_k), (n_k, d_k))


def _reach(Q, K):
    return Q @ K.T / np.linalg.norm(Q, axis=1, keepdims=True)


def _cosines(Q, K):
    return _reach(Q, K) / np.linalg.norm(K, axis=1)


EXERCISES["03-scores"] = Exercise(
    reference=lambda Q, K: scores(Q, K, scaled=False),
    probes=_PROBES,
    draw=_draw,
    slips=slips(
        "queries and keys exchanged: You have {count} rows for {due} queries. Which index counts the rows?",
        lambda Q, K: K @ Q.T,
        "queries with queries: Your rows have {columns} entries; the keys are never read. Who answers?",
        lambda Q, K: Q @ Q.T,
        "keys with keys: You have {count} rows for {due} queries, which are never read. Who asks?",
        lambda Q, K: K @ K.T,
        "K not turned over: With as many keys as features that runs, off by {off:.2f}. Where is a key in K?",
        lambda Q, K: Q @ K,
        "features with features: You have {count} rows for {due} queries: your sums run over the tokens.",
        lambda Q, K: Q.T @ K,
        "products not summed: You have {axes} axes: the products stand side by side. A score is one number.",
        lambda Q, K: Q[:, None] * K,
        "only the last product: Off by {off:.2f}: does each product replace the one before, or is it added?",
        lambda Q, K: Q[:, -1:] * K[:, -1],
        "mean instead of sum: Yours are {ratio:.2f} times what they should be: you take the products' mean.",
        lambda Q, K: Q @ K.T / Q.shape[1],
        "lengths divided out: None is above {largest:.2f}: these are cosines. A score keeps the lengths.",
        _cosines,
        "query's length divided out: Yours are {ratio:.2f} times what is due: the reach alone.",
        _reach,
        "key's length divided out: Yours are {ratio:.2f} times what is due. A longer key reaches farther.",
        lambda Q, K: Q @ K.T / np.linalg.norm(K, axis=1),
        "scaled already: Yours are {ratio:.2f} times what they should be. Plain dot products are due.",
        scores,
    ),
)

EXERCISES["03-scaled"] = Exercise(
    reference=scores,
    probes=_PROBES,
    draw=_draw,
    slips=scales(
        lambda Q, K, divide: Q @ K.T / divide(Q.shape[1]),
        seen="yours are {ratio:.3f} times what they should be",
    )
    + slips(
        "root of the number of queries: Yours are {ratio:.2f} times what is due. How many terms has a score?",
        lambda Q, K: Q @ K.T / np.sqrt(len(Q)),
        "root of the number of keys: Yours are {ratio:.2f} times what is due. How many terms has a score?",
        lambda Q, K: Q @ K.T / np.sqrt(len(K)),
        "queries and keys exchanged: Scaled rightly, but you have {count} rows for {due} queries.",
        lambda Q, K: K @ Q.T / np.sqrt(Q.shape[1]),
        "K not turned over: With as many keys as features that runs, off by {off:.2f}. Where is a key in K?",
        lambda Q, K: Q @ K / np.sqrt(Q.shape[1]),
        "lengths divided out: None is above {largest:.2f}: these are cosines. A score keeps the lengths.",
        _cosines,
        "root of 2: Yours are {ratio:.2f} times what is due. Four tokens had d_k = 2: has this call?",
        lambda Q, K: Q @ K.T / np.sqrt(2),
        "root of 64: Yours are {ratio:.2f} times what is due. The random ones had d_k = 64: has this call?",
        lambda Q, K: Q @ K.T / np.sqrt(64),
        "root of 512: Yours are {ratio:.2f} times what is due. A token of the paper has 512, a key not.",
        lambda Q, K: Q @ K.T / np.sqrt(512),
        "divided by its own spread: Yours are {ratio:.2f} times what is due. What does d_k alone say?",
        lambda Q, K: Q @ K.T / np.std(Q @ K.T),
        "each row divided by its own spread: Off by {off:.2f}: one divisor is due, from d_k alone.",
        lambda Q, K: Q @ K.T / np.std(Q @ K.T, axis=1, keepdims=True),
        "shares already: The smallest is {smallest:.2f}: these are weights. Scores come before the softmax.",
        lambda Q, K: shares(scores(Q, K)),
    ),
)
