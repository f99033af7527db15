"""The panel of notebook 08: how long an RNN and attention take, and what each keeps."""

import ipywidgets as widgets
import numpy as np

from course_lib import show
from course_lib.explore.panel import Panel, View, bar

LENGTHS = 2.0 ** np.arange(17)  # 1 to 65,536 tokens
ROWS = ["serial steps", "multiplications", "time in steps", "kept, reading", "kept, training"]
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def steps_and_work(n, d):
    """Serial steps and multiplications of each model, all widths d."""
    return {"RNN": (n, 2 * n * d**2), "attention": (4 + 0 * n, 3 * n * d**2 + 2 * n**2 * d)}


def kept(n, d):
    """Numbers that each holds: to read one token after the other, and to be trained."""
    return {"RNN": (d + 0 * n, n * d), "attention": (2 * n * d, 3 * n * d + n**2)}


def time(n, d, at_once):
    """Time in serial steps, on a machine that makes so many multiplications in the time of one."""
    return {name: steps + work / at_once for name, (steps, work) in steps_and_work(n, d).items()}


def leading(d, at_once):
    """The first and the last n for which attention takes less time than the RNN, or None.

    Attention's time less the RNN's is a n² + b n + 4; it leads between the roots.
    """
    a, b = 2 * d / at_once, d**2 / at_once - 1
    inside = b**2 - 16 * a
    if b >= 0 or inside <= 0:
        return None
    first, last = (
        int(part) for part in ((-b - inside**0.5) / (2 * a) + 1, np.ceil((-b + inside**0.5) / (2 * a)) - 1)
    )
    return (first, last) if first <= last else None


def race():
    """Slide n, the width d, and r, the multiplications in the time of a serial step; see time and memory.

    ->  Panel whose state is {"times", "kept", "lead"}: two by model; the first and last length at which
        attention is done first, or None
    """

    def view(values):
        n, d, at_once = values["n"], values["d"], values["r"]
        times, numbers, work = time(n, d, at_once), kept(n, d), steps_and_work(n, d)
        lead = leading(d, at_once)
        rows = np.transpose([[*work[name], times[name], *numbers[name]] for name in times])
        training = {name: number for name, (_, number) in kept(LENGTHS, d).items()}
        title = f"n = {n:,}, d = {d:,}, r = {at_once:,}"
        seen = show.side_by_side(
            _picture("time in steps; thick: attention", time(LENGTHS, d, at_once), n),
            _picture("kept for training; thick: attention", training, n),
            show.table(rows, ROWS, times, kind="plain", decimals=0, caption=title),
        )
        first, last = sorted(times, key=times.get)
        ratio = show.number_text(times[last] / times[first], 1)
        leads = f"attention leads from {lead[0]:,} to {lead[1]:,} tokens" if lead else ""
        named = {"RNN": "the RNN", "attention": "attention"}[first]
        note = f"{named} is done first, {ratio} times as fast; {leads or 'the RNN leads at every length'}"
        return View({"times": times, "kept": numbers, "lead": lead}, seen, note)

    controls = {
        "n": _powers("tokens n", [2**i for i in range(17)], 64),
        "d": _powers("width d", [2**i for i in range(3, 11)], 64),
        "r": _powers("r", [k * 10**i for i in range(7) for k in (1, 2, 5)] + [10**7], 10**5),
    }
    return Panel("Attention and an RNN in a race", controls, view, [bar(*controls.values())])


def _powers(name, options, value):
    """A slider of the given numbers; the table says which one is chosen."""
    return widgets.SelectionSlider(
        options=options, value=value, description=name, tooltip=name, readout=False
    )


def _picture(title, numbers, n):
    """A number of each model over n, both axes by powers; dots at the n that is chosen."""
    top = int(np.ceil(max(np.log10(each).max() for each in numbers.values())))
    ticks = {i: f"10{str(i).translate(RAISED)}" for i in range(0, top + 1, 2 if top < 9 else 4)}
    lengths = {0: "1", 5: "32", 10: "1024", 15: "32768"}
    drawn = show.Picture((0, 16), (0, top), title, xticks=lengths, yticks=ticks, height=190)
    chosen = int(np.flatnonzero(LENGTHS == n)[0])
    drawn.line([(chosen, 0), (chosen, top)], "ghost", width=0.8)
    for (name, each), color, width in zip(numbers.items(), ("ghost", "output"), (1.5, 3)):
        line = np.stack([np.log2(LENGTHS), np.log10(each)], axis=1)
        amount = show.number_text(each[chosen], 0)
        drawn.line(line, color, width=width, says=f"{name}: {amount} for {n} tokens")
        drawn.line(line[chosen : chosen + 1], color, width=width, dots=True)
    return drawn
