"""Fixtures of the browser tests: `lab`, a real JupyterLab, and `window`, one of a real Chromium on it."""

import os
import shutil
from pathlib import Path

import pytest
from driver import FLAGS, Lab, fresh_window

ROOT = Path(__file__).resolve().parents[2]


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
    with fresh_window(browser, lab) as window:
        yield window
