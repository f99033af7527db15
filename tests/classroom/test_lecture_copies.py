"""What `make lecture` makes before JupyterLab starts."""

import re
from pathlib import Path

import nbformat
import pytest

from course_lib import __main__ as course
from course_lib.classroom import lecture
from course_lib.exercises.predictions import PREDICTIONS

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    target = tmp_path_factory.mktemp("lectures") / "first"
    lecture.copy(NOTEBOOKS, target)
    return target


def cells(path):
    return nbformat.read(path, as_version=4).cells


@pytest.mark.parametrize("name", [path.name for path in NOTEBOOKS.glob("*.ipynb")])
def test_copies_keep_cells_and_outputs_and_have_not_run(copies, name):
    kept = {cell.id: cell for cell in cells(copies / name)}
    for cell in cells(NOTEBOOKS / name):
        assert kept[cell.id].source == cell.source
        if cell.cell_type == "code":
            assert kept[cell.id].outputs == cell.outputs and kept[cell.id].execution_count is None


def test_behind_each_question_stands_what_its_answers_mean(copies):
    behind = {}
    for path in copies.glob("*.ipynb"):
        notebook = cells(path)
        for cell, then in zip(notebook, notebook[1:]):
            for name in re.findall(r'predict\("([^"]+)"\)', cell.source if cell.cell_type == "code" else ""):
                assert then.metadata["slideshow"]["slide_type"] == "notes"
                behind[name] = then.source
    assert behind.keys() == PREDICTIONS.keys()
    for name, prediction in PREDICTIONS.items():
        assert f"**{prediction.right}**" in behind[name]
        assert all(answer.says in behind[name] for answer in prediction.answers)


def test_pages_lie_beside_and_the_teachers_has_a_name_of_its_own(copies):
    names = {path.name for path in NOTEBOOKS.glob("*.md")} - {"README.md"} | {"teachers_page.md"}
    assert {path.name for path in copies.glob("*.md")} == names


def test_a_lecture_never_writes_into_the_folder_of_another(copies):
    with pytest.raises(FileExistsError):
        lecture.copy(NOTEBOOKS, copies)
    assert lecture.folder(Path("clone/my-course")).parent == Path("clone/my-lectures")


@pytest.mark.parametrize("number, name", [("05", "05_weighted_sum.ipynb"), ("5", "05_weighted_sum.ipynb")])
def test_a_notebook_is_found_by_its_number(number, name):
    assert lecture.find(NOTEBOOKS, number) == name


@pytest.mark.parametrize("number", ["77", "softmax"])
def test_a_number_that_is_none_is_answered_with_those_there_are(number, tmp_path):
    with pytest.raises(SystemExit, match="there is 00, 01, 02"):
        course.open_lecture(NOTEBOOKS, tmp_path / "lecture", [number])
    assert not (tmp_path / "lecture").exists()
