"""Every notebook in a real JupyterLab: cells run, panels answer the arrow keys, questions the choice."""

from pathlib import Path

import pytest
from driver import changed, press, shown

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.ipynb")))
def test_cells_run_panels_answer_the_arrow_keys_and_questions_the_choice(window, name):
    window.open_notebook(name)
    assert window.run_all() == []
    panels = window.notebook.locator(".course-panel:has(.noUi-handle)")
    panels.first.wait_for()
    for panel in panels.all():
        panel.scroll_into_view_if_needed()
        for key in ("ArrowRight", "ArrowLeft"):
            press(panel, key)
    cells = window.notebook.locator(".jp-Cell").count()
    for question in window.notebook.locator(".course-panel:has(.course-answers)").all():
        question.scroll_into_view_if_needed()
        answers = question.locator(".course-answers button").all()
        assert 2 <= len(answers) <= 4
        answers[0].click()
        reply = question.locator("p[role=status]")
        reply.wait_for()
        first = reply.inner_text()
        answers[1].press("Enter")
        window.page.wait_for_function(
            "([question, before]) => question.querySelector('p[role=status]')?.textContent != before",
            arg=[question.element_handle(), first],
        )
        answers[1].press("d")
        answers[1].press("d")
    assert window.notebook.locator(".jp-Cell").count() == cells


def test_reset_brings_tables_and_picture_back(window):
    window.open_notebook("02_queries_keys_values.ipynb")
    window.run_all()
    panel = window.notebook.locator(".course-panel:has(.noUi-handle)").first
    begun = shown(panel)
    moved = press(panel)
    panel.get_by_role("button", name="reset").click()
    assert changed(panel, moved) == begun != moved
