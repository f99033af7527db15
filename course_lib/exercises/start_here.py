"""The exercises of notebook 00: the warm-up."""

import numpy as np

from course_lib.exercises.exercise import Exercise, Slip

EXERCISES = {}

_rng = np.random.default_rng(0)

EXERCISES["00-warm-up"] = Exercise(
    reference=lambda q, k: np.sum(np.asarray(q) * k),
    probes=[
        (np.array([1.0, 2.0, 0.5]), np.array([0.5, -1.0, 2.0])),
        (_rng.normal(size=4), _rng.normal(size=4)),
    ],
    slips=[
        Slip(
            "products not added up",
            lambda q, k: q * k,
            "These are the products of the entries, one a feature; a score is a single number. "
            "The largest of yours is {number:.2f}.",
            lambda got, want, q, k: np.max(got),
        ),
        Slip(
            "added before multiplying",
            lambda q, k: np.sum(q) * np.sum(k),
            "You add up q and k first and multiply then, which is off by {number:.2f}. Multiply entry by entry first.",
        ),
        Slip(
            "mean instead of sum",
            lambda q, k: np.mean(q * k),
            "Right products, but their mean: your number is {number:.2f} times what it should be.",
            lambda got, want, q, k: got / want,
        ),
    ],
)
