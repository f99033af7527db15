"""A real JupyterLab in a real Chromium: fixtures `lab` (the server) and `page` (a window on it)."""

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

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPEN = """import sys; from pathlib import Path; from course_lib.__main__ import open_course
open_course(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])"""
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


class Lab:
    """JupyterLab as `make lab` starts it, on copies of `notebooks`, in an empty home."""

    def __init__(self, notebooks, home):
        self.folder = home / "my-course"
        self.log = home / "lab.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        environment = dict(
            os.environ, HOME=str(home), USERPROFILE=str(home), IPYTHONDIR=str(home / ".ipython")
        )
        for name in [name for name in environment if name.startswith(("JUPYTER", "JPY_"))]:
            del environment[name]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    OPEN,
                    notebooks,
                    self.folder,
                    "--no-browser",
                    f"--port={port}",
                    "--ServerApp.port_retries=0",
                    "--IdentityProvider.token=learner",
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://{self.host}/lab/tree/00_start_here.ipynb?token=learner"
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
        cells = json.loads((self.lab.folder / name).read_text(encoding="utf-8"))["cells"]
        self._wait_for_prompts(".*", sum(cell["cell_type"] == "code" for cell in cells))
        self.wait_for_kernel()

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
        return self.notebook.locator(
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr'], "
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']"
        ).all_inner_texts()


@pytest.fixture(scope="module")
def notebooks():
    """The folder of notebooks that the lab copies; a module may put its own in its place."""
    return ROOT / "notebooks"


@pytest.fixture(scope="module")
def lab(notebooks, tmp_path_factory):
    lab = Lab(notebooks, tmp_path_factory.mktemp("home"))
    yield lab
    lab.end()


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def window(browser, lab):
    """A fresh window, 1280 by 720; at its end: no console error, no request off this machine."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    window = Window(context.new_page(), lab)
    yield window
    context.close()
    assert window.errors == []
    assert window.strangers == []
