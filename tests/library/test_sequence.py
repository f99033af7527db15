"""Positions: pairs of sine and cosine, a shift is a rotation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.sequence import positions


@given(st.integers(0, 40), st.integers(1, 8))
def test_every_entry_is_the_formula(n, half):
    P = positions(n, 2 * half)
    assert P.shape == (n, 2 * half)
    for p in range(n):
        for i in range(half):
            angle = p / 10000 ** (2 * i / (2 * half))
            assert math.isclose(P[p, 2 * i], math.sin(angle), abs_tol=1e-12)
            assert math.isclose(P[p, 2 * i + 1], math.cos(angle), abs_tol=1e-12)


@given(st.integers(0, 20))
def test_a_shift_is_one_rotation_for_every_place(k):
    P = positions(60, 6)
    angles = k / 10000 ** (np.arange(0, 6, 2) / 6)
    turn = np.zeros((6, 6))
    for i, angle in enumerate(angles):
        turn[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [
            [np.cos(angle), -np.sin(angle)],
            [np.sin(angle), np.cos(angle)],
        ]
    np.testing.assert_allclose(P[: 60 - k] @ turn, P[k:], atol=1e-12)
    products = (P[: 60 - k] * P[k:]).sum(axis=1)
    np.testing.assert_allclose(products, products[0], atol=1e-12)


def test_no_two_of_a_thousand_places_are_equal():
    P = positions(1000, 4)
    assert len(np.unique(P.round(9), axis=0)) == 1000


@pytest.mark.parametrize(
    "n, d, words", [(3, 5, "not d = 5"), (-1, 4, "not -1"), (2.5, 4, "2.5"), (3, -2, "-2")]
)
def test_wrong_sizes_are_answered(n, d, words):
    with pytest.raises(ValueError, match=words):
        positions(n, d)
