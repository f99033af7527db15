"""The exercises, as data: what is right, what it is tried on, and the slips that are known.

A slip is a wrong way that learners really take. Its hint says what shows it and where to look, never the answer.
`{number}` in a hint becomes the number that gives the slip away, measured on the learner's own function.
Probes have unequal dimensions and scores near 1: square shapes and one-hot weights hide slips.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


def largest_difference(got, want, *inputs):
    """How far off the farthest entry is: the number in a hint that asks for no other."""
    return max(np.abs(g - w).max(initial=0) for g, w in zip(_parts(got), _parts(want)))


def _parts(result):
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


class Slip(NamedTuple):
    """A known wrong implementation and what to say to it."""

    name: str
    wrong: Callable
    hint: str
    number: Callable = largest_difference  # (got, want, *inputs) -> the number in the hint


class Exercise(NamedTuple):
    """What a learner's function is compared with."""

    reference: Callable
    probes: list  # of tuples: the arguments of one call
    slips: list
