"""The exercises of notebook 08: attention and RNN."""

from functools import partial

import numpy as np

from course_lib.exercises.exercise import Exercise, arrays, fixed, sizes, slips
from course_lib.sequence import rnn

EXERCISES = {}


def _draw_rnn(rng):
    n, d, d_h = sizes(rng, 3)
    n = 12 if rng.random() < 0.1 else n
    return arrays(rng, (n, d), (d, d_h), (d_h, d_h))


def _steps(X, W_x, W_h, *, start=0, step=lambda read, h, W_h: np.tanh(read + h @ W_h), keep=None):
    """All states, with one part of a step taken for another; keep(new state, old state) is handed on."""
    states, h = [], np.full(len(W_h), float(start))
    for read in X @ W_x:
        new = step(read, h, W_h)
        states.append(new)
        h = keep(new, h) if keep else new
    return np.array(states)


def _one_before(X, W_x, W_h):
    """Each token with the one before it, and no more."""
    alone = np.tanh(X @ W_x)
    return np.tanh(X @ W_x + np.vstack([np.zeros(len(W_h)), alone[:-1]]) @ W_h)


EXERCISES["08-rnn"] = Exercise(
    reference=rnn,
    probes=[fixed(seed, (n, d), (d, d_h), (d_h, d_h)) for seed, n, d, d_h in ((0, 3, 2, 4), (1, 4, 3, 2))],
    draw=_draw_rnn,
    slips=slips(
        "state forgotten: Off by {off:.2f}: your first row is right, the others know their own token only.",
        lambda X, W_x, W_h: np.tanh(X @ W_x),
        "two tokens remembered: Off by {off:.2f}: your third state knows nothing of the first token.",
        _one_before,
        "W_h left out: Off by {off:.2f}: the old state goes on as it is. What does it meet first?",
        partial(_steps, step=lambda read, h, W_h: np.tanh(read + h)),
        "W_h turned over: Off by {off:.2f}: the state is a row. On which side of it stands a matrix?",
        partial(_steps, step=lambda read, h, W_h: np.tanh(read + W_h @ h)),
        "no tanh: Your largest state is {largest:.2f}. What keeps a state between -1 and 1?",
        partial(_steps, step=lambda read, h, W_h: read + h @ W_h),
        "tanh of the token only: Off by {off:.2f}: the old state joins after the tanh, not before.",
        partial(_steps, step=lambda read, h, W_h: np.tanh(read) + h @ W_h),
        "tanh of the state only: Off by {off:.2f}: the token joins after the tanh, not before.",
        partial(_steps, step=lambda read, h, W_h: read + np.tanh(h @ W_h)),
        "the old state added on top: Off by {off:.2f}: it goes through W_h and tanh, and nowhere else.",
        partial(_steps, step=lambda read, h, W_h: h + np.tanh(read + h @ W_h)),
        "sigmoid: Your smallest number is {smallest:.2f}. Which function does the formula name?",
        partial(_steps, step=lambda read, h, W_h: 1 / (1 + np.exp(-read - h @ W_h))),
        "two tanhs: Off by {off:.2f}: one tanh for the token, one for the state. The formula has one in all.",
        partial(_steps, step=lambda read, h, W_h: np.tanh(read) + np.tanh(h @ W_h)),
        "one state in all rows: Off by {off:.2f}: your rows are equal. Do you overwrite the h in the list?",
        lambda *call: np.tile(rnn(*call)[-1], (len(call[0]), 1)),
        "begins with 1: Off by {off:.2f}, in the first row already. What is there before the first token?",
        partial(_steps, start=1),
        "states added up: Off by {off:.2f}: you hand on the sum of all states, not the last of them.",
        partial(_steps, keep=lambda new, old: old + new),
        "reads from the end: Your last state knows only its own token: off by {off:.2f}. Who comes first?",
        lambda X, *W: rnn(X[::-1], *W)[::-1],
        "from the end, not turned back: Off by {off:.2f}: your first row belongs to the last token.",
        lambda X, *W: rnn(X[::-1], *W),
        "the states before: Your first row is 0, the others one step late: off by {off:.2f}.",
        lambda X, *W: np.vstack([np.zeros(len(W[1])), rnn(X, *W)[:-1]]),
        "h_0 kept: You return {count} states for {due} tokens: one of them is there before any token is.",
        lambda X, W_x, W_h: np.vstack([np.zeros(len(W_h)), rnn(X, W_x, W_h)]),
        "the first token skipped: Your first row is {first:.0f}: the first token is read as well.",
        lambda X, W_x, W_h: np.vstack([np.zeros(len(W_h)), rnn(X[1:], W_x, W_h)]),
        "tanh at the very end: Off by {off:.2f}: the state that a step hands on has met the tanh already.",
        lambda *call: np.tanh(_steps(*call, step=lambda read, h, W_h: read + h @ W_h)),
        "the last state only: Right, but one state with {count} numbers; every token has one.",
        lambda *call: rnn(*call)[-1],
    ),
)


def _draw_plan(rng):
    """How long each of m steps takes, and which earlier ones it needs: none, some, all, or the one before."""
    m = int(rng.choice([*range(1, 8), 12]))
    takes = np.abs(arrays(rng, (m,))[0])
    needs = np.tril(rng.random((m, m)) < rng.choice([0, 0.3, 0.6, 1]), -1)
    return takes, np.eye(m, k=-1, dtype=bool) if rng.random() < 0.15 else needs


def _done(takes, needs, *, wait=max, seen=np.flatnonzero):
    """When each step is done; wait: which of the times it begins at; seen(row): the steps it waits for."""
    done = []
    for own, row in zip(takes, needs):
        done.append(own + wait([done[j] for j in seen(row[: len(done)])] or [0]))
    return np.array(done)


_plan = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 1, 1, 0]], bool)

EXERCISES["08-done"] = Exercise(
    reference=_done,
    probes=[(np.array([3.5, 1, 2, 0.5, 1]), _plan), (np.array([1, 2.5, 4.5, 0.5]), np.eye(4, k=-1) > 0)],
    draw=_draw_plan,
    slips=slips(
        "nobody waits: Off by {off:.2f}: all your steps begin at 0. Which row says what a step waits for?",
        lambda takes, needs: takes * 1.0,
        "one worker: Off by {off:.2f}: your steps go one after the other, even those that need no other.",
        lambda takes, needs: np.cumsum(takes),
        "waits added up: Off by {off:.2f}: what a step needs was made side by side. Is that a sum?",
        partial(_done, wait=sum),
        "begins with the first: Off by {off:.2f}: a step begins although one that it needs is not done.",
        partial(_done, wait=min),
        "waits for the last named: Off by {off:.2f}: of two needed steps the last listed may be done first.",
        partial(_done, seen=lambda row: np.flatnonzero(row)[-1:]),
        "looks back one step only: Off by {off:.2f}: what a step needs had to wait itself.",
        lambda takes, needs: takes + np.max(needs * takes, axis=1),
        "waits for the step before: Off by {off:.2f}: your step waits for its neighbor, needed or not.",
        partial(_done, seen=lambda row: [len(row) - 1] if row.any() else []),
        "waits for all before: Off by {off:.2f}: a step waits for all steps before it, if it needs any.",
        partial(_done, seen=lambda row: np.arange(len(row) if row.any() else 0)),
        "needed times added up: Off by {off:.2f}: what a step needs was made side by side, and waited too.",
        lambda takes, needs: takes + needs @ takes,
        "when it begins: Off by {off:.2f}: these are the times at which the steps begin.",
        lambda takes, needs: _done(takes, needs) - takes,
        "own time left out: Your largest time is {largest:.2f}: a step ends later than it begins. By what?",
        lambda takes, needs: takes * 0.0,
        "every step takes 1: Off by {off:.2f}: you count steps. How long does each of them take?",
        lambda takes, needs: _done(np.ones(len(takes)), needs),
        "the end only: This is one time, {largest:.2f}; every step has its own.",
        lambda *call: _done(*call).max(),
    ),
)
