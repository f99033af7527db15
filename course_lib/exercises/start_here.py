"""The exercises of notebook 00: the warm-up."""

import numpy as np

from course_lib.exercises.exercise import Exercise, arrays, fixed, slips

EXERCISES = {}


def _draw(rng):
    length = rng.choice([1, 2, 3, 4, 5, 12])
    return arrays(rng, length, length)


EXERCISES["00-warm-up"] = Exercise(
    reference=lambda q, k: np.sum(q * k),
    probes=[(np.array([1.0, 2.0, 0.5]), np.array([0.5, -1.0, 2.0])), fixed(0, 4, 4)],
    draw=_draw,
    slips=slips(
        "products not added up: These are {count} products, the first {first:.2f}; a score is one number.",
        lambda q, k: q * k,
        "sums multiplied: Off by {off:.2f}: yours is the sum of q times the sum of k. Which entries meet?",
        lambda q, k: np.sum(q) * np.sum(k),
        "only k added up: You return {count} numbers: k is added up before it meets q, and q never is.",
        lambda q, k: q * np.sum(k),
        "only q added up: You return {count} numbers: q is added up before it meets k, and k never is.",
        lambda q, k: np.sum(q) * k,
        "mean instead of sum: Right products, but their mean: {ratio:.2f} times what it should be.",
        lambda q, k: np.mean(q * k),
        "divided by √2 already: Yours is {ratio:.2f} times the sum, as in the tables above.",
        lambda q, k: q @ k / np.sqrt(2),
        "divided by the root of the length: Yours is {ratio:.2f} times the sum of products.",
        lambda q, k: q @ k / np.sqrt(len(q)),
        "added instead of multiplied: You add q and k: off by {off:.2f}. A score adds up products.",
        lambda q, k: np.sum(q + k),
        "only the last product: Off by {off:.2f}: does each product replace the one before, or is it added?",
        lambda q, k: q[-1] * k[-1],
        "only the first product: Off by {off:.2f}: one product is all there is. Is there a return too early?",
        lambda q, k: q[0] * k[0],
        "every entry with every entry: You have a table with {axes} axes: each entry of q met all of k.",
        np.outer,
    ),
)
