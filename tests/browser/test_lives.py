"""The lives of a panel: run again, twice in a cell, in two windows, stored and reopened, misused."""

import json
import shutil
import subprocess
import sys
import urllib.request

import pytest
from driver import ARGUMENTS, PANELS, ROOT, fresh_window, press, write_notebook

CENSUS = """import gc
import psutil
from ipywidgets.widgets.widget import _instances
gc.collect()
print(len(_instances), psutil.Process().memory_info().rss // 1000)"""
WRONG = """from IPython.display import display
def leaves(X, *matrices):
    raise SystemExit("<b>bye</b>")
def strange(X, *matrices):
    print("<i>hello</i>")
    raise type("<u>Odd</u>", (Exception,), {})("<u>why</u>")
display(explore.qkv(tokens, X, leaves), explore.qkv(tokens, X, strange))"""


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    write_notebook(folder / "00_start_here.ipynb", ARGUMENTS, PANELS["qkv"], CENSUS)
    two = f"display({PANELS['order']}); display({PANELS['hull']})"
    write_notebook(folder / "two.ipynb", ARGUMENTS, two, WRONG, "6 * 7")
    write_notebook(folder / "other.ipynb", ARGUMENTS, PANELS["order"])
    write_notebook(folder / "stored.ipynb", ARGUMENTS, PANELS["qkv"])
    return folder


def test_a_cell_run_ten_times_keeps_nothing(window):
    window.open_notebook("00_start_here.ipynb")
    assert window.run_all() == []
    for _ in range(3):
        window.run_cell(1)
    widgets, kilobytes = map(int, window.run_cell(2).split())
    for _ in range(10):
        window.run_cell(1)
    press(window.panel(0))
    again, more = map(int, window.run_cell(2).split())
    assert again == widgets
    assert more - kilobytes < 5000


def test_the_same_notebook_in_two_windows(browser, lab, window):
    with fresh_window(browser, lab) as other:
        for each in (window, other):
            each.open_notebook("00_start_here.ipynb")
            assert each.run_all() == []
        window.run_cell(1)
        for each in (other, window):
            press(each.panel(0))


def test_two_panels_in_one_cell_and_functions_that_fail(window):
    window.open_notebook("two.ipynb")
    assert window.run_all() == []
    for number in (0, 1):
        press(window.panel(number))
    for number, said in ((2, "SystemExit: <b>bye</b>"), (3, "<u>Odd</u>: <u>why</u>")):
        panel = window.panel(number)
        for _ in range(2):
            status = panel.get_by_role("status")
            assert status.inner_text() == said + " (picture: the last good one)"
            assert panel.locator("b, i, u").count() == 0
            assert panel.locator("svg").count() == 3
            panel.locator(".noUi-handle").first.press("ArrowRight")
            window.wait_for_kernel()
    assert window.panel(3).locator("pre").inner_text().strip() == "<i>hello</i>"
    assert "42" in window.run_cell(3)


def test_two_notebooks_on_one_kernel(window):
    window.open_notebook("two.ipynb")
    window.run_all()
    sessions = f"http://{window.lab.host}/api/sessions?token=learner"
    running = json.load(urllib.request.urlopen(sessions))
    kernel = next(each["kernel"]["id"] for each in running if each["path"] == "two.ipynb")
    session = {"path": "other.ipynb", "name": "", "type": "notebook", "kernel": {"id": kernel}}
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(sessions, json.dumps(session).encode(), headers)).close()
    tabs = window.page.locator("#jp-main-dock-panel .lm-TabBar-tabLabel")
    window.page.locator(".jp-DirListing-item", has_text="other.ipynb").dblclick()
    tabs.filter(has_text="other.ipynb").wait_for()
    window.notebook.locator(".jp-CodeCell", has_text="explore.order").last.wait_for()
    window.wait_for_session("other.ipynb")
    window.wait_for_kernel()
    assert window.run_all() == []
    press(window.panel(0))
    tabs.filter(has_text="two.ipynb").click()
    press(window.panel(0))


def still_stands(window):
    """What a reader sees where no panel is live: its picture, its tables, and how to make it live."""
    cell = window.notebook.locator(".jp-CodeCell", has_text="explore.").first
    cell.scroll_into_view_if_needed()
    still = cell.locator(".course-still")
    still.wait_for(state="attached")
    still.scroll_into_view_if_needed()
    assert still.is_visible()
    assert still.locator("svg").first.is_visible() and still.locator("table").first.is_visible()
    assert still.get_by_text("live when this cell is run").is_visible()
    window.page.wait_for_timeout(2000)  # JupyterLab looks for the widget a moment later
    said = window.notebook.locator(".jp-OutputArea").all_inner_texts()
    assert not any(words in text for text in said for words in ("model not found", "Loading widget"))
    assert window.notebook.locator(".noUi-handle:visible").count() == 0  # no slider that does nothing
    # The widgets' own code says this to the console; the reader is told what to do instead.
    window.errors[:] = [error for error in window.errors if "widget model not found" not in error]


def live_alone(window):
    window.panel(0)
    assert not window.notebook.locator(".course-still").first.is_visible()


def test_saved_shut_down_and_reopened(window):
    window.open_notebook("stored.ipynb")
    assert window.run_all() == []
    live_alone(window)
    window.save()
    window.menu("Kernel", "Shut Down Kernel")
    window.page.wait_for_timeout(1000)
    window.open_notebook("stored.ipynb")
    still_stands(window)
    window.run_all()
    live_alone(window)


def test_restarted_saved_and_reopened(window):
    window.open_notebook("stored.ipynb")
    assert window.run_all() == []
    window.menu("Kernel", "Restart Kernel…")
    with window.page.expect_response(lambda response: "/restart" in response.url):  # comes when it is done
        window.page.locator(".jp-Dialog .jp-mod-accept").click()
    window.wait_for_kernel()
    window.save()
    window.open_notebook("stored.ipynb")
    still_stands(window)


def test_as_shipped_and_never_run(window):
    copy = shutil.copy(ROOT / "notebooks/00_start_here.ipynb", window.lab.folder / "as_shipped.ipynb")
    subprocess.run([sys.executable, "-m", "jupyter", "trust", copy], env=window.lab.environment, check=True)
    window.open_notebook("as_shipped.ipynb")
    still_stands(window)
