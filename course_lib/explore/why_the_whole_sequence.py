"""The panel of notebook 01: how far away the cue lies, how far a model sees."""

import functools
import itertools

import numpy as np

from course_lib import show
from course_lib.explore.panel import Panel, View, checked, slider
from course_lib.sequence import ceiling

N, PICK = 7, 3  # tokens of a sequence, and the one in the middle that is looked at
FARTHEST = 3
SIGHTS = [*(f"radius {r}" for r in range(FARTHEST + 1)), "all before", "all"]


def task(distance, n=N):
    """Every sequence of n coins, and its labels: the coin at this distance, 0 beyond the edges.

    distance: below 0 to the left, above 0 to the right  ->  list of pairs of tuples, 2**n of them
    """
    coins = list(itertools.product((0, 1), repeat=n))
    return [(x, tuple(x[i + distance] if 0 <= i + distance < n else 0 for i in range(n))) for x in coins]


def sight(x, i, name):
    """What a model sees of the sequence x when it labels token i; None stands beyond an edge."""
    if name == "all":
        return x, i
    if name == "all before":
        return x[: i + 1]
    radius = int(name.split()[1])
    return tuple(x[j] if 0 <= j < len(x) else None for j in range(i - radius, i + radius + 1))


@functools.cache
def _seen_and_labels(distance, name):
    numbers = {}  # each sight has a number: a learner's function gets what its exercise gave it
    seen = [numbers.setdefault(sight(x, i, name), len(numbers)) for x, _ in task(distance) for i in range(N)]
    return np.array(seen), np.array([label for _, labels in task(distance) for label in labels])


def reach(count=ceiling):
    """Slide the distance of the cue and the radius of a window; see what is seen, and its ceiling.

    count(seen, labels) -> the ceiling, called with two arrays of whole numbers
    ->  Panel whose state is {"ceilings": {sight: share}, "sees": whether the window holds the cue}
    """

    def view(values, count=count):
        distance, radius = values["distance"], values["radius"]
        found = {
            name: float(checked("ceiling", count(*map(np.copy, _seen_and_labels(distance, name))), ()))
            for name in SIGHTS
        }
        if not all(0 <= share <= 1 for share in found.values()):
            raise ValueError(f"your ceiling is {max(found.values(), key=abs):.3g}, a share lies from 0 to 1")
        chosen, cue = SIGHTS[radius], PICK + distance
        rows = {
            "its cue": [j == cue for j in range(N)],
            f"window, {chosen}": [abs(j - PICK) <= radius for j in range(N)],
            "all before": [j <= PICK for j in range(N)],
            "all": [True] * N,
        }
        seen = show.side_by_side(
            show.table(
                list(rows.values()),
                rows,
                [f"[{j + 1}]" if j == PICK else j + 1 for j in range(N)],
                kind="weights",
                decimals=0,
                caption="token 4: its cue, and who is seen (1)",
            ),
            _bars(found, radius),
        )
        inside = abs(distance) <= radius
        note = f"the window {'holds' if inside else 'does NOT hold'} the cue: "
        note += f"at best {found[chosen]:.3f} of the labels are right; "
        note += f"all before: {found['all before']:.3f}, all: {found['all']:.3f}"
        return View({"ceilings": found, "sees": inside}, seen, note)

    controls = {
        "distance": slider("distance of the cue", -FARTHEST, FARTHEST, 1, -2),
        "radius": slider("radius of the window", 0, FARTHEST, 1, 1),
    }
    standard = functools.partial(view, count=ceiling)
    return Panel("Does it see the cue?", controls, view, standard=standard)


def _bars(found, radius):
    """The ceiling of every sight; that of the chosen window is filled."""
    words = dict(enumerate(["radius 0", *range(1, FARTHEST + 1), "before", "all"]))
    shares = {0: "0", 0.5: "0.5", 1: "1"}
    drawn = show.Picture(
        (-0.7, len(found) - 0.3), (0, 1.05), "ceilings", xticks=words, yticks=shares, width=320, height=170
    )
    drawn.bars([*found.values()], "ghost", says=", ".join(f"{k} {v:.2f}" for k, v in found.items()))
    filled = [share if j == radius else 0 for j, share in enumerate(found.values())]
    return drawn.bars(filled, "output")
