"""How long one update of the W_q/W_k/W_v panel takes, beside drawing the same picture as a new pyplot figure.

usage: python tools/bench.py      prints both times and their ratio, measured in turn in one run
"""

import io
import statistics
import time

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

from course_lib import data, explore, show

ROUNDS = 15


def figure_with_numbers(attention, query=1):
    """The panel's picture and tables the usual way: a new figure, the numbers as texts on images."""
    fig, axes = plt.subplots(2, 3, figsize=(7.8, 4.6), dpi=150)
    for ax, letter, vectors, color in zip(axes[0], "qkv", attention, (show.BLUE, show.ORANGE, show.PURPLE)):
        show.plane(ax, 4, letter)
        show.arrows(ax, vectors, color=show.GRAY, alpha=0.35)
        show.arrows(ax, vectors, [f"{letter}{i}" for i in range(1, 5)], color=color)
    show.arrows(axes[0, 2], attention.output[[query]], [f"b{query + 1}"], color="black", width=1.6)
    for ax, title, matrix in zip(axes[1], ("scores", "weights", "output"), attention[3:]):
        ax.imshow(matrix)
        ax.set(
            title=title,
            xticks=range(matrix.shape[1]),
            yticks=range(4),
            yticklabels=["1 I", "2 saw", "3 a", "4 saw"],
        )
        for (i, j), number in np.ndenumerate(matrix):
            ax.text(j, i, f"{number:.2f}", ha="center", va="center")
    fig.savefig(io.BytesIO(), format="png")
    plt.close(fig)


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main():
    example = data.saw()
    panel = explore.qkv(example.tokens, example.X)
    slider = panel.sliders["W_q[0,0]"]
    new, live = [], []
    for i in range(ROUNDS):
        new.append(seconds(lambda: figure_with_numbers(panel.state)))
        live.append(seconds(lambda: setattr(slider, "value", -2 + 0.1 * i)))
    new, live = statistics.median(new[1:]), statistics.median(live[1:])
    print(f"new figure with numbers {1e3 * new:6.1f} ms")
    print(f"one update of the panel {1e3 * live:6.1f} ms")
    print(f"ratio                   {live / new:6.1%}")


if __name__ == "__main__":
    main()
