"""Positions: pairs of sine and cosine, a shift is a rotation."""

import math

import numpy as np
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


def test_the_base_says_how_much_slower_the_later_pairs_turn():
    P = positions(50, 6, base=8.0)
    for i, pair in enumerate(np.split(P, 3, axis=1)):
        angles = np.arange(50) / 8 ** (i / 3)  # 1, 2 and 4 times slower
        np.testing.assert_allclose(pair, np.stack([np.sin(angles), np.cos(angles)], axis=1), atol=1e-12)
    alike = positions(5, 4, base=1)
    np.testing.assert_array_equal(alike[:, :2], alike[:, 2:])
    assert np.isfinite(positions(50, 600, base=1e308)).all()


def test_no_places_and_no_features():
    assert positions(0, 4).shape == (0, 4) and positions(3, 0).shape == (3, 0)
