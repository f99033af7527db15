"""The predictions of notebook 08: each answer's claim is computed, and only the right one is true."""

import numpy as np
import pytest

from course_lib.exercises.predictions import PREDICTIONS
from course_lib.sequence import bidirectional_rnn, rnn


def only_true(name, *claims):
    """claims: for each answer, in order, whether what it claims is so."""
    assert list(claims) == [answer.right for answer in PREDICTIONS[name].answers]


@pytest.mark.parametrize("seed", range(5))
def test_reach_all_outputs_move_the_far_ones_little(seed):
    rng = np.random.default_rng(seed)
    X, (there, back) = rng.normal(size=(24, 4)), rng.normal(size=(2, 2, 4, 4)) / 2
    changed = X.copy()
    changed[0, 0] += 0.01
    moved = np.abs(bidirectional_rnn(changed, there, back) - bidirectional_rnn(X, there, back)).max(axis=1)
    reached = set(np.flatnonzero(moved))
    near, far = np.median(moved[:6]), np.median(moved[18:])
    every = reached == set(range(24))
    only_true(
        "08-reach",
        not every and max(reached) < 12,
        every and far > near / 3,
        every and far < near / 10,
        reached == {0},
    )


def ready(needs):
    """The tick after which the last of some operations is done; needs: for each, those that it needs."""
    ticks = {}
    for name, needed in needs.items():
        ticks[name] = 1 + max((ticks[each] for each in needed), default=0)
    return max(ticks.values())


def plans(n):
    chain = {i: [i - 1] * (i > 0) for i in range(n)}
    heads = {("qkv"[part], i): [] for part in range(3) for i in range(n)}
    heads |= {("score", i): [("q", i), *(("k", j) for j in range(n))] for i in range(n)}
    heads |= {("weight", i): [("score", i)] for i in range(n)}
    heads |= {("output", i): [("weight", i), *(("v", j) for j in range(n))] for i in range(n)}
    return ready(chain), ready(heads)


@pytest.mark.parametrize("n", [1, 5, 12, 40])
def test_ticks_only_the_rnn_takes_longer_for_a_longer_sentence(n):
    (chain, heads), (chain_2, heads_2) = plans(n), plans(2 * n)
    growth = chain_2 / chain, heads_2 / heads
    only_true("08-ticks", growth == (2, 2), growth == (2, 1), growth == (2, 4), growth == (1, 1))


def multiplications(n, d):
    return n * (d * d + d * d), n * d * (2 * d + d) + n * n * (d + d)


def test_work_the_rnn_makes_fewer_multiplications():
    serial, parallel = multiplications(16, 64)
    only_true("08-work", serial < parallel, parallel == serial / 4, serial == parallel)
    assert all(np.less(*multiplications(n, d)) for n in (1, 7, 5000) for d in (1, 8, 512))


@pytest.mark.parametrize("d, at_once", [(64, 10**5), (64, 10**6), (16, 10**5), (512, 10**8)])
def test_long_the_rnn_is_done_first_in_the_end_on_every_machine(d, at_once):
    def attention_is_first(n):
        serial, parallel = multiplications(n, d)
        return 4 + parallel / at_once < n + serial / at_once

    assert attention_is_first(100)
    ends = [attention_is_first(n) for n in (10**8, 10**9, 10**12)]
    only_true("08-long", all(ends), len(set(ends)) > 1, not any(ends))


def test_memory_the_last_state_needs_the_one_before_only():
    rng = np.random.default_rng(0)
    X, W_x, W_h = rng.normal(size=(1000, 4)), rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    h = np.zeros(3)
    for x in X:  # one state and no other is held
        h = np.tanh(x @ W_x + h @ W_h)
    np.testing.assert_allclose(h, rnn(X, W_x, W_h)[-1], atol=1e-12)
    middle = rnn(X[:500], W_x, W_h)[-1]  # whoever has this one state can read on without the 499 before
    for x in X[500:]:
        middle = np.tanh(x @ W_x + middle @ W_h)
    one_is_enough = np.allclose(middle, h, atol=1e-12)
    only_true("08-memory", not one_is_enough, one_is_enough, not one_is_enough)
