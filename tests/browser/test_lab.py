"""What a newcomer meets in the first minute, on a small notebook of the test's own."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    styled = new_output("display_data", {"text/html": "<b style='color: rgb(1, 2, 3)'>stored</b>"})
    cells = [
        new_markdown_cell("# The first slide", metadata={"slideshow": {"slide_type": "slide"}}),
        new_code_cell(
            "1 + 1", metadata={"slideshow": {"slide_type": "fragment"}}, outputs=[styled], execution_count=1
        ),
        new_markdown_cell("# The second slide", metadata={"slideshow": {"slide_type": "slide"}}),
        new_code_cell(
            "import ipywidgets\nipywidgets.FloatSlider(description='slide me')",
            metadata={"slideshow": {"slide_type": "fragment"}},
        ),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), folder / "00_start_here.ipynb")
    nbformat.write(new_notebook(cells=cells[:1], metadata=kernel), folder / "02_another.ipynb")
    return folder


def test_first_start_opens_the_first_notebook_and_asks_nothing(window):
    window.page.goto(window.lab.url)
    window.wait_for_kernel()
    assert window.notebook.locator("h1").first.inner_text().startswith("The first slide")
    window.page.wait_for_timeout(3000)  # the news question comes a moment after the rest
    assert window.page.locator(".jp-toast-message, .Toastify__toast, .jp-Dialog").all_inner_texts() == []


def test_a_copy_begins_without_stored_outputs_and_trusted(window):
    window.open_notebook("00_start_here.ipynb")
    assert window.notebook.locator(".jp-OutputArea b").count() == 0
    assert window.page.locator("[title^='Notebook trusted']").count() == 1


def test_cells_run_and_widgets_show(window):
    window.open_notebook("00_start_here.ipynb")
    assert window.run_all() == []
    handle = window.notebook.locator(".noUi-handle")
    handle.focus()
    window.page.keyboard.press("ArrowRight")
    window.page.wait_for_function("() => document.querySelector('.widget-readout').textContent == '0.10'")


def test_lecture_mode_shows_slides_with_live_sliders_and_ends_with_escape(window):
    window.open_notebook("00_start_here.ipynb")
    window.run_all()
    window.notebook.locator("h1").first.click()
    window.notebook.locator("[data-command='deck:toggle']").click()
    shown = window.page.locator(".jp-deck-mod-visible")
    shown.filter(has_text="The first slide").wait_for()
    for _ in range(3):  # a fragment, the second slide, its slider
        window.page.keyboard.press("Space")
        window.page.wait_for_timeout(500)
    assert shown.filter(has_text="The first slide").count() == 0
    shown.locator(".noUi-handle").focus()
    window.page.keyboard.press("ArrowRight")
    window.page.wait_for_function("() => document.querySelector('.widget-readout').textContent == '0.10'")
    window.page.keyboard.press("Escape")
    window.page.locator(".jp-Deck").wait_for(state="detached")
