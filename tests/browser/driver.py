"""A real JupyterLab, a window of a real Chromium on it, and what tests do there."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]
OPEN = """import sys; from pathlib import Path; from course_lib import __main__ as course
getattr(course, sys.argv[1])(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECOND = 1000
PATIENCE = 120 * SECOND


# All panels, for a notebook of the tests' own; the first cell gives their arguments.
ARGUMENTS = """import numpy as np
from course_lib import data, explore
from course_lib.attention import scores
from course_lib.sequence import positions

tokens, _, X, *W = data.saw()
Q, K, V = (X @ each for each in W)
X4, W4 = np.hstack([X, np.zeros((4, 1))]), [np.vstack([each, [1, -1]]) for each in W]
X6 = np.hstack([X, np.zeros((4, 3))]) + 0.5 * positions(4, 6)
W6 = np.random.default_rng(0).normal(size=(4, 6, 6)) / 2"""
PANELS = {
    "qkv": "explore.qkv(tokens, X)",
    "sentence": "explore.sentence()",
    "scale": "explore.scale()",
    "normalizers": "explore.normalizers(tokens, scores(Q, K, scaled=False))",
    "hull": "explore.hull(tokens, V, scores(Q, K)[0])",
    "order": "explore.order(tokens, X4, *W4)",
    "heads": "explore.heads(tokens, X6, *W6)",
    "reach": "explore.reach()",
    "race": "explore.race()",
}
HERE = Path(__file__).parent


def write_notebook(path, *cells):
    """A notebook of code cells; each starts a slide. Its first slide has a heading."""
    slide = {"slideshow": {"slide_type": "slide"}}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    first = new_markdown_cell("# The first slide", metadata=slide)
    cells = [first, *(new_code_cell(source, metadata=slide) for source in cells)]
    nbformat.write(new_notebook(cells=cells, metadata=kernel), path)


class Lab:
    """JupyterLab as `make lab` or `make lecture` starts it, on copies of `notebooks`, in an empty home; or
    Notebook 7 there.

    app: "lab", "lecture" or "notebook".
    """

    def __init__(self, notebooks, home, app="lab"):
        self.folder = home / "my-course"
        self.log = home / "lab.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.environment = environment = dict(
            os.environ, HOME=str(home), USERPROFILE=str(home), IPYTHONDIR=str(home / ".ipython")
        )
        for name in [name for name in environment if name.startswith(("JUPYTER", "JPY_"))]:
            del environment[name]
        opener = {"lecture": "open_lecture"}.get(app, "open_course")
        command = [sys.executable, "-c", OPEN, opener, notebooks, self.folder]
        if app == "notebook":
            shutil.copytree(notebooks, self.folder)
            command = [
                sys.executable,
                "-m",
                "notebook",
                f"--ServerApp.root_dir={self.folder}",
                "--allow-root",
            ]
        command += ["--no-browser", f"--port={port}", "--ServerApp.port_retries=0"]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [*command, "--IdentityProvider.token=learner"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.host = f"127.0.0.1:{port}"
        tree = {"lab": "lab/tree", "lecture": "lab/workspaces/lecture/tree", "notebook": "notebooks"}[app]
        self.url = f"http://{self.host}/{tree}/00_start_here.ipynb?token=learner"
        self._wait()

    def _wait(self):
        for _ in range(600):
            try:
                return urllib.request.urlopen(f"http://{self.host}/api", timeout=10).close()
            except OSError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.2)
        pytest.fail("JupyterLab did not start:\n" + self.log.read_text())

    def end(self):
        self.process.terminate()  # JupyterLab ends its kernels with it
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)


class Window:
    """A browser window on the course; `page` is Playwright's page, for whatever is not here."""

    def __init__(self, page, lab):
        self.page, self.lab = page, lab
        self.errors, self.strangers = [], []
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._note_stranger)

    def _note_stranger(self, request):
        url = urlsplit(request.url)
        if url.scheme not in ("data", "blob") and url.netloc != self.lab.host:
            self.strangers.append(request.url)

    def open_notebook(self, name):
        """Go to a notebook as a bookmark does; wait until all is there and its kernel is idle."""
        self.page.goto(self.lab.url.replace("00_start_here.ipynb", name) + "&reset")
        tab = self.page.locator(".jp-mod-current .lm-TabBar-tabLabel")
        tab.filter(has_text=name).wait_for()
        self._wait_for_prompts(".*", self._code_cells(name))
        self.wait_for_session(name)
        self.wait_for_kernel()

    def open_lecture(self, name):
        """Go to a notebook of a lecture and wait until it is ready."""
        self.page.goto(self.lab.url.replace("00_start_here.ipynb", name) + "&reset")
        self.wait_for_lecture(name)

    def wait_for_lecture(self, name):
        """Wait until the first slide is there and all cells have run."""
        self.page.locator("#lecture-counter").wait_for()
        self._wait_for_prompts(r"\[\d+\]", self._code_cells(name))
        self.wait_for_session(name)  # the deck hides the sign that the kernel is idle

    def _code_cells(self, name):
        """How many code cells a notebook has, also while the window has not drawn them all."""
        cells = json.loads((self.lab.folder / name).read_text(encoding="utf-8"))["cells"]
        return sum(cell["cell_type"] == "code" for cell in cells)

    @property
    def step(self):
        """The number of the step on the screen, from 1, and how many there are."""
        return tuple(int(each) for each in self.page.locator("#lecture-counter span").inner_text().split("/"))

    @property
    def slide(self):
        """The words on the slide that is shown."""
        return "\n".join(self.page.locator(".jp-Deck .jp-deck-mod-visible").all_inner_texts())

    def wait_for_session(self, name):
        """Wait for the kernel itself: the window calls it idle before there is one, and then asks for one."""
        for _ in range(PATIENCE // 200):
            with urllib.request.urlopen(f"http://{self.lab.host}/api/sessions?token=learner") as answer:
                kernels = [each["kernel"] for each in json.load(answer) if each["path"] == name]
            if kernels and kernels[0]["connections"] and kernels[0]["execution_state"] == "idle":
                return self.page.wait_for_timeout(300)
            self.page.wait_for_timeout(200)
        pytest.fail(f"no kernel for {name}")

    @property
    def notebook(self):
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def wait_for_kernel(self):
        self.notebook.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(state="attached")

    def _wait_for_prompts(self, pattern, count):
        """Wait for `count` code cells whose prompts ("[3]:") hold `pattern`."""
        self.page.wait_for_function(
            """([pattern, count]) => [...document.querySelectorAll(
                '.jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputPrompt')]
                .filter(prompt => RegExp(pattern).test(prompt.textContent)).length == count""",
            arg=[pattern, count],
        )

    def menu(self, name, item):
        """Choose an item of a menu in the menu bar."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile(f"^{name}$")).click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{item}$")).click()

    def run_all(self):
        """Run every cell, wait until each has its number, and return the text of all errors."""
        cells = self.notebook.locator(".jp-CodeCell").count()
        self.menu("Edit", "Clear Outputs of All Cells")
        self._wait_for_prompts(r"\[ \]", cells)
        self.menu("Run", "Run All Cells")
        self._wait_for_prompts(r"\[\d+\]", cells)
        self.wait_for_kernel()
        self.page.evaluate((HERE / "measure.js").read_text(encoding="utf-8"))
        return self.notebook.locator(
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr'], "
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']"
        ).all_inner_texts()

    def run_cell(self, number):
        """Run one code cell again, counted from 0, and return the text of its output."""
        cell = self.notebook.locator(".jp-CodeCell").nth(number)
        prompt = cell.locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        prompt.click()
        self.page.keyboard.press("Control+Enter")
        cell = cell.element_handle()
        self.page.wait_for_function(
            """([cell, before]) => { const now = cell.querySelector('.jp-InputPrompt').textContent;
                return /\\d/.test(now) && now != before; }""",
            arg=[cell, before],
        )
        self.wait_for_kernel()
        return cell.query_selector(".jp-OutputArea").inner_text()

    def save(self):
        with self.page.expect_response(lambda answer: answer.request.method == "PUT"):
            self.menu("File", "Save Notebook")

    @property
    def panels(self):
        return self.notebook.locator(".course-panel")

    def panel(self, number):
        """One of the panels, in view."""
        panel = self.panels.nth(number)
        panel.wait_for()
        panel.scroll_into_view_if_needed()
        return panel


def shown(panel):
    """What a panel shows below its controls."""
    return panel.locator(".course").first.inner_html()


def changed(panel, before):
    """Wait until the panel shows something else than `before`; return what it shows then."""
    panel.page.wait_for_function(
        "([panel, before]) => panel.querySelector('.course').innerHTML != before",
        arg=[panel.element_handle(), before],
    )
    return shown(panel)


def press(panel, key="ArrowRight", handle=0):
    """Press a key on a slider of a panel and wait for what the panel then shows."""
    before = shown(panel)
    panel.locator(".noUi-handle").nth(handle).press(key)
    return changed(panel, before)


@contextlib.contextmanager
def fresh_window(browser, lab):
    """A fresh window, 1280 by 720; at its end: no console error, no request off this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    window = Window(context.new_page(), lab)
    yield window
    context.close()
    assert window.errors == [], window.errors
    assert window.strangers == []
