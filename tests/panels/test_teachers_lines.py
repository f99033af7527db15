"""What the teacher's page says of the panels is what the panels of the notebooks say, when moved so."""

import contextlib
import io
import re

import nbformat
import pytest

from course_lib.data import ROOT

TEACHER = (ROOT / "notebooks/README.md").read_text(encoding="utf-8")
MOVES = {  # notebook: moves made one after the other
    "01": [{"distance": -3, "radius": 0}, {"radius": 1}, {"radius": 2}, {"radius": 3}, {"distance": 3}],
    "02": [{"W_v[1,1]": -1}, {"preset": "rotate W_q and W_k"}, {"preset": "zero W_q"}],
    "03": [{"d_k": 256, "rule": "none"}, {"rule": "√d_k"}],
    "04": [{"shift": 3}, {"shift": 0, "normalizer": "ReLU / sum"}, {"shift": -2}],
    "05": [{"score 1": 3}, {"normalizer": "none"}],
    "06": [{"order": "2 1 4 3"}, {"positions": 0.5}],
    "07": [
        {"merge": "add scores"},
        *({"heads": i} for i in (1, 2, 3)),
        {"heads": 2, "merge": "concat + W_o"},
    ],
    "08": [{"r": 1}, {"r": 100_000, "n": 65536}],
}


def first_panel(number):
    """The first panel of a notebook, as its cells make it."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    space = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and (made := re.match(r"explore\.\w+\(.*\)$", cell.source)):
            return eval(made[0], space)
        if cell.cell_type == "code":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(cell.source, space)


@pytest.mark.parametrize("number", MOVES)
def test_the_class_sees_what_the_teachers_page_says(number, monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    table = TEACHER.partition("## What to change live")[2].partition("\n## ")[0]
    rows = table[table.index(f"| {number} | ") :].split("\n| 0")[0]
    panel = first_panel(number)
    lines = [row.split(" | ")[-1].removesuffix(" |") for row in rows.splitlines() if row]
    seen = []
    for move in MOVES[number]:
        for name, value in move.items():
            panel.controls[name].value = value
        seen.append(panel.status)
    assert lines and all(any(line in each for each in seen) for line in lines if "stand still" not in line)
    assert lines[-1] in seen[-1], "the last move makes the last line"
