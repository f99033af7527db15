"""How quick the course is, as ratios in one run: python tools/bench.py [panels|pixels|attention|memory|class]

panels     one move of every panel in the kernel, beside a new pyplot figure of the same numbers
pixels     key press to changed pixels in JupyterLab: the W panel, a bare echo, interact, ipympl
attention  scores, softmax, weighted_sum and self_attention beside the plain NumPy formulas
memory     of a kernel after each notebook, beside one that has imported the library alone
class      twenty kernels that run a notebook at once: the time, and the memory that each has of its own
"""

import asyncio
import io
import statistics
import sys
import tempfile
import time
from pathlib import Path

import nbformat
import numpy as np
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}


def milliseconds(action):
    start = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - start)


def figure_with_numbers(attention):
    """The W panel's picture and tables the usual way: a new figure, the numbers as texts on images."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, 3, figsize=(7.8, 4.6), dpi=150)
    for ax, letter, vectors in zip(axes[0], "qkv", attention):
        ax.set(title=letter, xlim=(-4, 4), ylim=(-4, 4))
        for i, (x, y) in enumerate(vectors, 1):
            ax.arrow(0, 0, x, y, width=0.05)
            ax.text(x, y, f"{letter}{i}")
    for ax, title, numbers in zip(axes[1], ("scores", "weights", "output"), attention[3:]):
        ax.imshow(numbers)
        ax.set(title=title, xticks=range(numbers.shape[1]), yticks=range(4))
        for (i, j), number in np.ndenumerate(numbers):
            ax.text(j, i, f"{number:.2f}", ha="center", va="center")
    fig.savefig(io.BytesIO(), format="png")
    plt.close(fig)


def all_panels():
    """{name: (panel, the control that is moved, the values that it takes in turn)}"""
    from course_lib import data, explore
    from course_lib.attention import project, scores

    tokens, _, X, *W = data.saw()
    Q, K, V = project(X, *W)
    wide = [np.hstack([X, 0 * X[:, :1]]), *(np.vstack([each, [1, -1]]) for each in W)]
    many = [np.hstack(3 * [each]) for each in W]
    numbers = np.arange(-20, 20) / 10
    return {
        "sentence": (explore.sentence(), "word", [1, 2, 3, 4]),
        "reach": (explore.reach(), "radius", range(4)),
        "qkv": (explore.qkv(tokens, X), "W_q[0,0]", numbers),
        "scale": (explore.scale(), "draw", range(40)),
        "normalizers": (explore.normalizers(tokens, scores(Q, K)), "shift", numbers),
        "hull": (explore.hull(tokens, V, scores(Q, K)[0]), "score 1", numbers),
        "order": (explore.order(tokens, *wide), "positions", np.arange(1, 11) / 10),
        "heads": (explore.heads(tokens, X, *many, np.eye(6)), "heads", [1, 2, 3]),
        "race": (explore.race(), "n", [2**i for i in range(17)]),
    }


def bench_panels(rounds=15):
    found, figures = {}, []
    panels = all_panels()
    for i in range(rounds):
        figures.append(milliseconds(lambda: figure_with_numbers(panels["qkv"][0].state)))
        for name, (panel, control, values) in panels.items():
            value = type(panel.controls[control].value)(values[i % len(values)])
            found.setdefault(name, []).append(
                milliseconds(lambda: setattr(panel.controls[control], "value", value))
            )
    figure = statistics.median(figures[1:])
    print(f"\none move in the kernel, beside a new pyplot figure ({figure:.0f} ms)")
    for name, times in found.items():
        move = statistics.median(times[1:])
        print(f"  {name:12} {move:6.2f} ms  {move / figure:6.2%}")


PREPARE = """import ipywidgets as widgets
import numpy as np
from course_lib import data, explore
tokens, X = data.saw().tokens, data.saw().X"""
SUBJECTS = {  # cells with one slider each
    "echo": """slider, echo = widgets.IntSlider(max=999), widgets.HTML()
slider.observe(lambda change: setattr(echo, "value", f"<b>{change.new}</b>"), "value")
widgets.VBox([slider, echo])""",
    "W panel": "explore.qkv(tokens, X)",
    "interact": """import matplotlib.pyplot as plt
def draw(x=widgets.IntSlider(max=999)):  # three planes of arrows and three tables, as the W panel shows
    fig, axes = plt.subplots(2, 3, figsize=(7.8, 4.6))
    for ax in axes[0]:
        ax.set(xlim=(-4, 4), ylim=(-4, 4))
        for i in range(4):
            ax.arrow(0, 0, np.cos(i + x / 10), np.sin(i + x / 10), width=0.05)
            ax.text(i, 1, f"q{i}")
    for ax in axes[1]:
        ax.imshow(np.cos(np.arange(16) + x / 10).reshape(4, 4))
        for i in range(16):
            ax.text(i % 4, i // 4, f"{np.cos(i + x / 10):.2f}", ha="center", va="center")
    plt.show()
widgets.interact(draw)""",
    "ipympl": """%matplotlib widget
fig, axes = plt.subplots(1, 3, figsize=(7.8, 2.6))
arrows = [ax.quiver(np.zeros(4), np.zeros(4), np.cos(np.arange(4)), np.sin(np.arange(4))) for ax in axes]
slider = widgets.IntSlider(max=999)
def turn(change):
    for each in arrows:
        each.set_UVC(np.cos(np.arange(4) + change.new / 10), np.sin(np.arange(4) + change.new / 10))
    fig.canvas.draw_idle()
slider.observe(turn, "value")
display(slider, fig.canvas)""",
}
PIXELS = """cell => void (window.pixels = new Promise((done, fail) => {
    const handle = cell.querySelector('.noUi-handle');
    let start = 0;
    const seen = () => start && requestAnimationFrame(() => setTimeout(() => {
        watch.disconnect();
        CanvasRenderingContext2D.prototype.drawImage = draw;
        done(performance.now() - start);
        start = 0;
    }));
    const watch = new MutationObserver(all => all.some(one => !(one.target.nodeType == 1 ? one.target :
        one.target.parentElement)?.closest('.widget-slider')) && seen());
    const draw = CanvasRenderingContext2D.prototype.drawImage;
    CanvasRenderingContext2D.prototype.drawImage = function (...all) { draw.apply(this, all); seen(); };
    handle.focus();
    handle.addEventListener('keydown', () => {
        start = performance.now();
        watch.observe(cell.querySelector('.jp-OutputArea'),
            {subtree: true, childList: true, characterData: true});
    }, {once: true, capture: true});
    setTimeout(() => fail('nothing changed'), 20000);
}))"""


def bench_pixels(rounds=25):
    sys.path.insert(0, str(ROOT / "tests" / "browser"))
    from driver import FLAGS, Lab, Window
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        (Path(home) / "notebooks").mkdir()
        cells = [new_code_cell(source) for source in (PREPARE, *SUBJECTS.values())]
        nbformat.write(
            new_notebook(cells=cells, metadata=KERNEL), Path(home) / "notebooks/00_start_here.ipynb"
        )
        lab = Lab(Path(home) / "notebooks", Path(home))
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        try:
            window = Window(browser.new_page(viewport={"width": 1280, "height": 900}), lab)
            window.open_notebook("00_start_here.ipynb")
            print(*window.run_all(), sep="\n")
            window.page.wait_for_timeout(3000)
            times = {name: [] for name in SUBJECTS}
            for i in range(rounds):
                for name, cell in zip(SUBJECTS, window.notebook.locator(".jp-CodeCell").all()[1:]):
                    cell.locator(".noUi-handle").first.scroll_into_view_if_needed()
                    cell.evaluate(PIXELS)
                    window.page.keyboard.press(("ArrowRight", "ArrowLeft")[i % 2])
                    times[name].append(window.page.evaluate("window.pixels"))
                    window.page.wait_for_timeout(100)
        finally:
            browser.close()
            lab.end()
    found = {name: statistics.median(each[2:]) for name, each in times.items()}
    print("\nkey press to changed pixels, beside the bare echo")
    for name, time_ in found.items():
        print(f"  {name:12} {time_:6.0f} ms  {time_ / found['echo']:6.2f}")


def bench_attention():
    import bench_attention

    print("\nbeside the plain NumPy formula")
    for n in (1024, 4096):
        ratios = bench_attention.compare(n)
        print(f"  n = {n:5}   " + "   ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))


MEMORY = """import gc, pathlib
gc.collect()
print(round(int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6))"""


def bench_memory():
    from nbclient import NotebookClient

    print("\nmemory of a kernel after a notebook")
    library = new_notebook(cells=[new_code_cell("from course_lib import data, explore, show")])
    notebooks = {path.stem: nbformat.read(path, 4) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
    for name, notebook in {"library alone": library, **notebooks}.items():
        notebook.cells.append(new_code_cell(MEMORY))
        NotebookClient(notebook, kernel_name="python3", timeout=600).execute()
        print(f"  {name:28} {notebook.cells[-1].outputs[0].text.strip():>4} MB")


OWN = """import pathlib, re
print(re.search(r"Pss: +(\\d+)", pathlib.Path("/proc/self/smaps_rollup").read_text())[1])"""


def bench_class(learners=20):
    """On Linux. Pss: a kernel's own memory, and its part of what it shares with others."""
    from nbclient import NotebookClient

    async def learn(notebook, barrier):
        client = NotebookClient(notebook, kernel_name="python3", timeout=600)
        async with client.async_setup_kernel():
            for i, cell in enumerate([*notebook.cells]):
                await client.async_execute_cell(cell, i)
            ready = time.perf_counter()
            await barrier.wait()
            notebook.cells.append(new_code_cell(OWN))
            last = await client.async_execute_cell(notebook.cells[-1], len(notebook.cells) - 1)
            await barrier.wait()
        return ready, int(last.outputs[0].text) / 1e3

    async def all_learn(path, number):
        barrier = asyncio.Barrier(number)
        return await asyncio.gather(*(learn(nbformat.read(path, 4), barrier) for _ in range(number)))

    print("\nready after, and own memory of each kernel")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for number in (1, learners):
            start = time.perf_counter()
            ready, own = zip(*asyncio.run(all_learn(path, number)))
            seconds, own = max(ready) - start, statistics.mean(own)
            print(f"  {path.stem:28} {number:3} kernels {seconds:5.1f} s {own:5.0f} MB")


BENCHES = {
    "panels": bench_panels,
    "attention": bench_attention,
    "memory": bench_memory,
    "class": bench_class,
    "pixels": bench_pixels,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()
