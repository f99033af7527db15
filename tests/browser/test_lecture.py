"""A lecture as `make lecture` starts it: keys, focus, blank screen and notes, on a small notebook."""

import nbformat
import pytest
from driver import ARGUMENTS, PANELS, Lab, changed, fresh_window, press, shown
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def cell(make, source, type=None, **rest):
    return make(source, metadata={"slideshow": {"slide_type": type}} if type else {}, **rest)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    cells = [
        cell(new_markdown_cell, "Only for those who read alone.", "skip"),
        cell(new_markdown_cell, "# The first slide", "slide"),
        cell(new_code_cell, "print(6 * 7)", execution_count=3),
        cell(new_markdown_cell, "Read it.", "fragment"),
        cell(new_code_cell, ARGUMENTS + "\nfrom course_lib.predictions import predict", "skip"),
        cell(new_markdown_cell, "## The second slide", "slide"),
        cell(new_code_cell, PANELS["qkv"]),
        cell(new_markdown_cell, "For the lecturer: move *W_v*.", "notes"),
        cell(new_markdown_cell, "Below the panel.", "fragment"),
        cell(new_code_cell, 'predict("04-shift")', "slide"),
        cell(new_markdown_cell, "Next: [02](02_another.ipynb)", "fragment"),
        cell(new_markdown_cell, "The end, on no slide.", "skip"),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "00_start_here.ipynb")
    another = [cell(new_markdown_cell, "# Another", "slide"), *cells[2:4]]
    nbformat.write(new_notebook(cells=another, metadata=kernel), folder / "02_another.ipynb")
    (folder / "README.md").write_text("# For the teacher", encoding="utf-8")
    lab = Lab(folder, tmp_path_factory.mktemp("home"), app="lecture")
    yield lab
    lab.end()


@pytest.fixture(scope="module")
def window(browser, lab):
    with fresh_window(browser, lab) as window:
        window.open_lecture("00_start_here.ipynb")
        yield window


@pytest.fixture
def live(window):
    """The lecture on its first step, nothing edited and nothing in focus but the slide."""
    yield window
    window.page.evaluate("() => document.activeElement.blur()")
    window.page.keyboard.press("Home")
    assert window.step == (1, 6)


def test_it_begins_on_the_first_slide_and_what_needs_running_has_run(live):
    assert live.step == (1, 6)
    assert "The first slide" in live.slide and "42" in live.slide and "alone" not in live.slide
    assert live.page.locator(".course-panel").count() == 2


@pytest.mark.parametrize(
    "on, back", [("Space", "Shift+Space"), ("PageDown", "PageUp"), ("ArrowRight", "ArrowLeft")]
)
def test_every_press_shows_something_new_and_back_shows_it_again(live, on, back):
    seen = [live.slide]
    for number in range(2, 7):
        live.page.keyboard.press(on)
        assert live.step == (number, 6)
        seen.append(live.slide)
    assert len(set(seen)) == 6
    live.page.keyboard.press(on)
    assert live.step == (6, 6) and live.slide == seen[5]
    for number in range(5, 0, -1):
        live.page.keyboard.press(back)
        assert live.step == (number, 6) and live.slide == seen[number - 1]


def test_home_end_and_the_buttons_move_as_well(live):
    live.page.keyboard.press("End")
    assert live.step == (6, 6)
    live.page.locator("#lecture-counter button").first.click()
    assert live.step == (5, 6)
    live.page.locator("#lecture-counter button").last.click()
    assert live.step == (6, 6)


def test_no_key_changes_a_cell_that_is_not_being_edited(live):
    cells = """() => [...document.querySelectorAll('.jp-Cell')].map(
        cell => cell.className.match(/jp-\\w+Cell/)[0]).join()"""
    before = live.page.evaluate(cells), live.slide
    others = ["Delete", "Backspace", "d", "d", "Alt+Enter", "Shift+Enter"]
    for key in [*"abcdmrxyzvABCDMRXYZV12345600", *others]:
        live.page.keyboard.press(key)
        if key == "b":
            live.page.keyboard.press("b")
    live.wait_for_session("00_start_here.ipynb")
    assert (live.page.evaluate(cells), live.slide) == before
    assert live.step == (1, 6)


def test_b_blanks_the_screen_and_any_move_brings_it_back(live):
    blank = "() => document.body.hasAttribute('data-lecture-blank')"
    for key in ["b", "Space", "Escape"]:
        live.page.keyboard.press("b")
        assert live.page.evaluate(blank)
        live.page.keyboard.press(key)
        assert not live.page.evaluate(blank) and live.step == (1, 6)


def to_the_panel(live):
    for _ in range(2):
        live.page.keyboard.press("PageDown")
    panel = live.page.locator(".jp-deck-mod-visible .course-panel")
    panel.wait_for()
    return panel


def test_keys_stay_with_a_slider_also_after_the_mouse_and_a_clicker_goes_on(live):
    panel = to_the_panel(live)
    box, before = panel.locator(".noUi-handle").first.bounding_box(), shown(panel)
    live.page.mouse.move(box["x"] + 5, box["y"] + 5)
    live.page.mouse.down()
    live.page.mouse.move(box["x"] + 20, box["y"] + 5, steps=4)
    live.page.mouse.up()
    live.page.wait_for_function("() => document.activeElement.matches('.noUi-handle')")
    changed(panel, before)
    for key in ["ArrowRight", "ArrowLeft"]:
        before = panel.locator(".widget-readout").first.inner_text()
        live.page.keyboard.press(key)
        assert panel.locator(".widget-readout").first.inner_text() != before and live.step == (3, 6)
    live.page.keyboard.press("PageDown")
    assert live.step == (4, 6) and "Below the panel" in live.slide


def test_a_button_that_was_clicked_leaves_the_keys_to_the_lecture(live):
    panel = to_the_panel(live)
    panel.get_by_label("causal").click()
    panel.get_by_label("causal").and_(live.page.locator(":checked")).wait_for()
    live.page.wait_for_function("() => !document.activeElement.matches('input')")
    panel.get_by_role("button", name="reset").click()
    live.page.wait_for_function("() => !document.activeElement.matches('button')")
    live.page.keyboard.press("Space")
    assert live.step == (4, 6)
    live.page.keyboard.press("Space")
    answer = live.page.locator(".jp-deck-mod-visible .course-answers button").first
    answer.click()
    answer.and_(live.page.locator(".course-chosen")).wait_for()
    live.page.wait_for_timeout(300)
    live.page.keyboard.press("Shift+Space")
    assert live.step == (4, 6)
    live.page.keyboard.press("Space")
    answer.focus()  # by Tab: here Space chooses
    live.page.keyboard.press("Space")
    assert live.step == (5, 6)


def test_a_click_on_a_slide_hides_nothing(live):
    live.page.keyboard.press("Space")
    live.page.locator(".jp-deck-mod-visible .jp-OutputArea").first.click()
    live.page.wait_for_timeout(200)
    assert live.step == (2, 6) and "42" in live.slide and "Read it." in live.slide


def test_when_a_slide_fills_up_what_came_first_leaves(live):
    panel = to_the_panel(live)
    assert "The second slide" in live.slide
    live.page.keyboard.press("Space")
    assert "Below the panel" in live.slide and "The second slide" not in live.slide
    live.page.keyboard.press("Shift+Space")
    assert "The second slide" in live.slide and panel.is_visible()


def test_space_on_a_focused_control_stays_with_it(live):
    panel = to_the_panel(live)
    box = panel.locator("input[type=checkbox]").first
    box.focus()
    before = box.is_checked()
    live.page.keyboard.press("Space")
    assert box.is_checked() != before and live.step == (3, 6)
    live.page.keyboard.press("Space")
    assert box.is_checked() == before
    press(panel, "ArrowRight")


def run_instead(live, source):
    """Put other code into the cell on the first slide and run it.  ->  its output"""
    live.page.locator(".jp-CodeCell.jp-deck-mod-visible .cm-content").first.click()
    live.page.keyboard.press("Control+a")
    live.page.keyboard.type(source)
    live.page.keyboard.press("Control+Enter")
    return live.page.locator(".jp-deck-mod-visible .jp-OutputArea").first


def test_code_is_edited_and_run_on_a_slide(live):
    output = run_instead(live, "print(*range(44), sep='\\n')")
    output.filter(has_text="43").wait_for()
    live.page.wait_for_timeout(200)
    assert output.evaluate("output => output.getBoundingClientRect().bottom") <= 721  # drawn smaller, not cut
    assert live.step == (1, 6)
    live.page.wait_for_function("() => !document.activeElement.closest('.cm-editor')")  # it ends the editing
    live.page.keyboard.press("PageDown")
    assert live.step == (2, 6)
    live.page.keyboard.press("PageUp")
    run_instead(live, "print(6 * 7)").filter(has_text="42").wait_for()


def test_the_notes_are_in_a_second_window_which_follows(live):
    with live.page.expect_popup() as opened:
        live.page.keyboard.press("p")
    notes = opened.value
    assert "1 of 6" in notes.inner_text("body") and "No notes" in notes.inner_text("body")
    to_the_panel(live)
    assert "3 of 6" in notes.inner_text("body") and "move W_v" in notes.inner_text("body")
    notes.bring_to_front()
    for _ in range(2):
        notes.keyboard.press("PageDown")
    assert live.step == (5, 6)
    assert "They stay as they are" in notes.inner_text("body") and "dividing by the sum" in notes.inner_text(
        "body"
    )
    notes.close()
    live.page.keyboard.press("PageUp")
    assert live.step == (4, 6)


def test_escape_comes_out_from_everywhere_and_the_deck_starts_at_the_nearest_slide(live):
    to_the_panel(live).locator(".noUi-handle").first.focus()
    live.page.keyboard.press("Escape")
    live.page.locator("#lecture-counter").wait_for(state="detached")
    for cell, step in [(0, 1), (3, 2), (4, 3), (7, 3), (8, 4), (12, 6)]:  # 0, 4, 7, 12: no slides
        live.notebook.locator(".jp-Cell").nth(cell).click(position={"x": 3, "y": 3}, force=True)
        live.notebook.locator("[data-command='deck:toggle']").click()
        live.page.locator("#lecture-counter").wait_for()
        assert live.step == (step, 6), cell
        assert live.slide
        live.page.keyboard.press("Escape")
        live.page.locator("#lecture-counter").wait_for(state="detached")
        live.page.wait_for_timeout(300)
        assert live.notebook.locator(".jp-mod-active").evaluate(
            "cell => { const {top, bottom} = cell.getBoundingClientRect();"
            " return bottom > 80 && top < innerHeight - 30; }"
        )
    live.notebook.locator("[data-command='deck:toggle']").click()
    live.page.locator("#lecture-counter").wait_for()


def test_a_link_goes_on_with_the_next_notebook(live):
    live.page.keyboard.press("End")
    live.page.locator(".jp-deck-mod-visible a", has_text="02").click()
    live.notebook.locator(".jp-deck-mod-visible h1", has_text="Another").wait_for()
    live.wait_for_lecture("02_another.ipynb")
    assert live.step == (1, 2) and "42" in live.slide
    live.page.keyboard.press("Space")
    assert live.step == (2, 2)
    live.open_lecture("00_start_here.ipynb")


def test_the_teachers_page_lies_beside(lab):
    assert (lab.folder / "teachers_page.md").read_text(encoding="utf-8") == "# For the teacher"
