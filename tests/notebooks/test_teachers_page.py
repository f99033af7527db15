"""The questions in the teacher's page are those of the exercises, written there by tools/refresh.py."""

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest

from course_lib.exercises.predictions import PREDICTIONS, Answer, Prediction

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("refresh", ROOT / "tools/refresh.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_teachers_page_is_up_to_date(tool):
    page = (ROOT / "notebooks/README.md").read_text(encoding="utf-8")
    assert page.count(tool.BEGIN) == page.count(tool.END) == 1
    assert page == tool.teacher(page, PREDICTIONS, NOTEBOOKS), "make refresh writes it anew"
    for prediction in PREDICTIONS.values():
        right = prediction.right.replace("|", r"\|")
        assert f"*{prediction.question}*" in page and f"| **{right}** |" in page


def test_the_teachers_table_marks_the_right_answer_and_keeps_what_is_around_it(tool):
    answers = [Answer("|a|", "wrong: a|b"), Answer("c", "right", True)]
    asked = {NOTEBOOKS[-1].name[:2] + "-x": Prediction("How?", answers, [])}
    page = tool.teacher(f"before\n{tool.BEGIN}\nold\n{tool.END}\nafter\n", asked, NOTEBOOKS[-1:])
    lines = page.splitlines()
    assert lines[0] == "before" and lines[-1] == "after" and "old" not in lines
    assert lines[lines.index("*How?*") :][2:6] == [
        "| vote | what it means |",
        "|---|---|",
        r"| \|a\| | wrong: a\|b |",
        "| **c** | right |",
    ]
    assert tool.teacher(page, asked, NOTEBOOKS[-1:]) == page


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lecture_has_at_most_40_presses_and_20_seconds_for_each(path):
    kinds = [
        cell.metadata.get("slideshow", {}).get("slide_type")
        for cell in nbformat.read(path, as_version=4).cells
    ]
    presses = sum(kind in ("slide", "subslide", "fragment") for kind in kinds) - 1
    page = (ROOT / "notebooks/README.md").read_text(encoding="utf-8")
    minutes = re.search(rf"^\| {path.name[:2]} [^|]*\| \d+ / (\d+) min", page, re.MULTILINE)[1]
    assert 10 < presses <= min(40, 60 * int(minutes) / 20)
