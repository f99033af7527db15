"""Keys belong to the control that has the focus: in JupyterLab, in the deck and in Notebook 7."""

import importlib.util

import pytest
from driver import ARGUMENTS, PANELS, Lab, fresh_window, press, shown, write_notebook

# Every one of them does something to a notebook, or to a deck, that has the focus.
KEYS = "ArrowUp ArrowDown ArrowLeft ArrowRight d d x b a m PageDown PageUp Home End Enter".split()
CONTROLS = {
    "slider": ".noUi-handle",
    "dropdown": "select",
    "number box": "input[type=number]",
    "text box": "input[type=text]",
    "tick box": "input[type=checkbox]",
}
# What a key must leave alone: the cells and their kinds, the cell and the control in focus, the slide.
STATE = """() => [
    [...document.querySelectorAll('.jp-Cell')].map(
        cell => cell.className.match(/jp-(Code|Markdown|Raw)Cell/)[1]).join(),
    [...document.querySelectorAll('.jp-Cell')].findIndex(cell => cell.matches('.jp-mod-active')),
    document.activeElement.className, document.activeElement.closest('.course-panel') != null,
    document.querySelector('.jp-deck-mod-visible')?.textContent.slice(0, 40),
]"""


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    write_notebook(folder / "00_start_here.ipynb", ARGUMENTS, PANELS["qkv"], PANELS["sentence"])
    asked = "from course_lib.predictions import predict\npredict('04-shift')"
    write_notebook(folder / "asked.ipynb", ARGUMENTS, asked, PANELS["qkv"], "print(6 * 7)")
    return folder


@pytest.fixture(scope="module")
def live(browser, lab):
    """One window for all tests here: all cells have run."""
    with fresh_window(browser, lab) as window:
        window.open_notebook("00_start_here.ipynb")
        assert window.run_all() == []
        yield window


def keys_stay(window, control, keys=KEYS):
    """Press keys on a control; nothing of the notebook changes."""
    control.scroll_into_view_if_needed()
    control.focus()
    window.page.wait_for_timeout(100)  # a cell becomes the active one a moment after its control
    before = window.page.evaluate(STATE)
    assert before[3]
    for key in keys:
        window.page.keyboard.press(key)
        assert window.page.evaluate(STATE) == before, key


def start_deck(window):
    window.notebook.locator("h1").first.click()
    window.notebook.locator("[data-command='deck:toggle']").click()
    window.page.locator(".jp-deck-mod-visible").filter(has_text="The first slide").wait_for()


@pytest.mark.parametrize("control", CONTROLS)
def test_keys_stay_with_the_control(live, control):
    keys_stay(live, live.notebook.locator(".course-panel " + CONTROLS[control]).first)


def test_keys_stay_with_the_slider_after_the_mouse(live):
    handle = live.panel(0).locator(".noUi-handle").first
    drag(live, handle)
    keys_stay(live, handle)
    press(live.panel(0), "ArrowLeft")


def drag(window, handle):
    box, mouse = handle.bounding_box(), window.page.mouse
    mouse.move(box["x"] + 5, box["y"] + 5)
    mouse.down()
    mouse.move(box["x"] + 12, box["y"] + 5, steps=4)
    mouse.up()


def test_control_s_saves_from_a_slider(live):
    live.panel(0).locator(".noUi-handle").first.focus()
    with live.page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
        live.page.keyboard.press("Control+s")
    assert saved.value.ok and "00_start_here.ipynb" in saved.value.url


def test_shift_enter_goes_on_after_an_answer_and_after_a_slider(browser, lab):
    with fresh_window(browser, lab) as window:
        window.open_notebook("asked.ipynb")
        assert window.run_all() == []
        active = window.notebook.locator(".jp-mod-active")
        window.notebook.locator(".course-answers button").first.click()
        window.notebook.locator(".course-chosen").wait_for()
        window.page.keyboard.press("Shift+Enter")
        active.filter(has_text="explore.qkv").wait_for()
        window.wait_for_kernel()
        window.notebook.locator(".course-chosen").wait_for()  # asked again, the choice is there
        window.notebook.locator(".noUi-handle").first.click()
        window.page.keyboard.press("Shift+Enter")
        active.filter(has_text="print(6 * 7)").wait_for()


def test_keys_stay_with_the_control_in_the_deck_and_escape_leaves_it(live):
    start_deck(live)
    for _ in range(2):  # the first cell of code, then the panel
        live.page.keyboard.press("Space")
    visible = live.page.locator(".jp-deck-mod-visible .course-panel")
    visible.wait_for()
    stay = [key for key in KEYS if not key.startswith("Page")]  # a clicker goes on from everywhere
    for control in CONTROLS.values():
        if visible.locator(control).count():
            keys_stay(live, visible.locator(control).first, stay)
    handle = visible.locator(".noUi-handle").first
    drag(live, handle)
    keys_stay(live, handle, stay)
    press(visible, "ArrowLeft")
    live.page.keyboard.press("Escape")
    live.page.locator(".jp-Deck").wait_for(state="detached")


@pytest.mark.skipif(not importlib.util.find_spec("notebook"), reason="Notebook 7 is not installed")
def test_keys_stay_with_the_control_in_notebook_7(browser, notebooks, tmp_path):
    lab = Lab(notebooks, tmp_path, app="notebook")
    try:
        with fresh_window(browser, lab) as window:
            window.page.goto(lab.url)
            window.wait_for_session("00_start_here.ipynb")
            window.wait_for_kernel()
            window.errors.clear()  # those of an extension for JupyterLab that looks for its settings here
            assert window.run_all() == []
            for control in CONTROLS.values():
                keys_stay(window, window.notebook.locator(".course-panel " + control).first)
            press(window.panel(0), "ArrowLeft")
            assert "moved" in shown(window.panel(0))
    finally:
        lab.end()
