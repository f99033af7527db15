"""The exercises of notebook 01: windows and ceilings."""

from collections import Counter

import numpy as np

from course_lib.exercises.exercise import Exercise, arrays, fixed, sizes, slips
from course_lib.sequence import ceiling, windows

EXERCISES = {}


def _draw_window(rng):
    """Tokens and a radius, 0 and beyond the whole sequence included."""
    n, d, radius = sizes(rng, 3)
    return *arrays(rng, (n, d)), int(radius) if rng.random() < 0.8 else 0


def _gather(X, radius, *, first=None, last=None, place=lambda places, n: places, hide=True):
    """Rows from first to last around each token; zeros beyond the edges where hidden."""
    first, last = -radius if first is None else first, radius if last is None else last
    places = np.arange(len(X))[:, None] + np.arange(first, last + 1)
    rows = X[place(places, len(X)) % len(X)] * 1.0
    return np.where(((places >= 0) & (places < len(X)))[..., None], rows, 0) if hide else rows


EXERCISES["01-window"] = Exercise(
    reference=windows,
    probes=[(*fixed(0, (4, 2)), 1), (*fixed(1, (5, 3)), 2), (*fixed(2, (2, 3)), 2)],
    draw=_draw_window,
    slips=slips(
        "goes round: Off by {off:.2f}: beyond an edge stand rows from the other end. What does -1 mean?",
        lambda X, radius: _gather(X, radius, hide=False),
        "goes round and turned over: Off by {off:.2f}: rows from the other end, and from right to left.",
        lambda X, radius: _gather(X, radius, hide=False)[:, ::-1],
        "the edge again: Off by {off:.2f}: beyond an edge the last row stands once more, not zeros.",
        lambda X, radius: _gather(X, radius, place=lambda p, n: p.clip(0, n - 1), hide=False),
        "last place left out: You gather {tokens} rows per token. Where does Python's range end?",
        lambda X, radius: _gather(X, radius, last=radius - 1),
        "looks back only: Off by {off:.2f}: your window ends at the token. Both sides are asked for.",
        lambda X, radius: _gather(X, radius, first=-2 * radius, last=0),
        "looks ahead only: Off by {off:.2f}: your window begins at the token. Both sides are asked for.",
        lambda X, radius: _gather(X, radius, first=0, last=2 * radius),
        "turned over: Off by {off:.2f}: your window runs from right to left.",
        lambda X, radius: windows(X, radius)[:, ::-1],
        "own row left out: You gather {tokens} rows per token: its own belongs to them.",
        lambda X, radius: np.delete(windows(X, radius), radius, axis=1),
        "whole windows only: You make {count} windows for {due} tokens. What of those near an edge?",
        lambda X, radius: windows(X, radius)[radius : max(radius, len(X) - radius)],
        "radius taken for the width: You gather {tokens} rows per token: the radius counts one side only.",
        lambda X, radius: _gather(X, radius, first=-(radius // 2), last=radius - radius // 2 - 1),
        "zeros among the features: Your rows have {columns} features. On which axis do the zeros belong?",
        lambda X, radius: np.pad(windows(X, radius), ((0, 0), (0, 0), (radius, radius))),
        "place below 0: Off by {off:.2f}: what did you write to a place -1? The own row stands first.",
        lambda X, radius: np.roll(windows(X, radius), -radius, axis=1),
        "row 0 never seen: Off by {off:.2f}: the first token is in no window of yours. Where do rows begin?",
        lambda X, radius: windows(np.vstack([0 * X[:1], X[1:]]), radius),
        "added up: You return {axes} axes: the rows of a window lie side by side, they are not added yet.",
        lambda X, radius: windows(X, radius).sum(axis=1),
        "one long row: You return {axes} axes: the rows of a window follow each other in one.",
        lambda X, radius: windows(X, radius).reshape(len(X), -1),
        "places before tokens: Your first axis has {count} entries: it is that of the tokens, here {due}.",
        lambda X, radius: windows(X, radius).swapaxes(0, 1),
    ),
)


def _draw_labels(rng):
    """What is seen and the labels, as numbers: few or many, small or large, all alike or all different."""
    n, kinds, names = rng.integers(1, 13), rng.integers(1, 7), rng.integers(1, 5)
    seen = np.arange(n) if rng.random() < 0.1 else rng.integers(0, kinds, n)
    called = rng.permutation(rng.choice([4, 30, 300]))  # labels need not be 0, 1, 2 ...
    return seen * rng.choice([1, 1, 17]), called[rng.integers(0, names, n)]


def _told(seen, labels, share):
    """share(how often each label comes with one sight), added up over all sights and divided by n."""
    groups = [Counter(labels[seen == each].tolist()) for each in np.unique(seen)]
    return sum(share([*group.values()]) for group in groups) / len(labels)


def _kept(seen, labels):
    answer = dict(zip(seen.tolist(), labels.tolist()))
    return np.mean([answer[each] == label for each, label in zip(seen.tolist(), labels.tolist())])


_seen, _labels = np.array([1, 2, 1, 2, 1, 1, 2, 1]), np.array([1, 1, 2, 1, 2, 2, 0, 2])

EXERCISES["01-ceiling"] = Exercise(
    reference=ceiling,
    probes=[(_seen, _labels), (np.array([1, 1, 1, 1, 0, 0, 3]), np.array([2, 2, 2, 0, 1, 2, 2]))],
    draw=_draw_labels,
    slips=slips(
        "nothing seen: Off by {off:.2f}: you give all the same label. What is seen may decide.",
        lambda seen, labels: _told(0 * seen, labels, max),
        "a number, not a share: You return {first:.0f}: of how many?",
        lambda seen, labels: _told(seen, labels, max) * len(labels),
        "a sight counted again: You return {first:.2f}: count a sight once, however often it comes.",
        lambda seen, labels: _told(seen, labels, lambda c: max(c) * sum(c)),
        "in percent: You return {first:.0f}: a share lies between 0 and 1.",
        lambda seen, labels: 100 * _told(seen, labels, max),
        "the share that is wrong: Off by {off:.2f}: your share grows when the model errs more often.",
        lambda seen, labels: 1 - _told(seen, labels, max),
        "all sights count alike: Off by {off:.2f}: a sight that comes often counts more often.",
        lambda seen, labels: np.mean([_told(seen[seen == s], labels[seen == s], max) for s in set(seen)]),
        "only what is sure: Off by {off:.2f}: where two labels occur, one of them is still right.",
        lambda seen, labels: _told(seen, labels, lambda c: sum(c) * (len(c) == 1)),
        "the rarest label: Off by {off:.2f}: of the labels of one sight, which is answered best?",
        lambda seen, labels: _told(seen, labels, min),
        "the last label kept: Off by {off:.2f}: each label replaces the one before, however often that came.",
        _kept,
        "the first label kept: Off by {off:.2f}: the first label of a sight need not be the most frequent.",
        lambda seen, labels: _kept(seen[::-1], labels[::-1]),
        "guesses by chance: Off by {off:.2f}: to guess each label as often as it comes is not the best.",
        lambda seen, labels: _told(seen, labels, lambda c: sum(x * x for x in c) / sum(c)),
        "sights counted: Off by {off:.2f}: you count one right label per sight.",
        lambda seen, labels: _told(seen, labels, lambda c: 1),
        "divided by the sights: Off by {off:.2f}: the share is one of all labels.",
        lambda seen, labels: _told(seen, labels, max) * len(labels) / len(set(seen)),
        "seen and labels exchanged: Off by {off:.2f}: you guess what is seen from the label.",
        lambda seen, labels: _told(labels, seen, max),
    ),
)
