"""A learner who says `np.seterr(all="raise")` at the top can still run every notebook."""

from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import read
from nbformat.v4 import new_code_cell

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"


def errors(notebook):
    """The (cell, error) pairs of a notebook that was run."""
    return {
        (cell.id, output.ename)
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }


def run_strictly(notebook):
    notebook.cells.insert(0, new_code_cell('import numpy\n\nnumpy.seterr(all="raise")'))
    resources = {"metadata": {"path": FOLDER}}
    return NotebookClient(notebook, timeout=120, allow_errors=True, resources=resources).execute()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem[:2])
def test_runs_when_numpy_raises(path):
    stored = errors(read(path, as_version=4))
    assert errors(run_strictly(read(path, as_version=4))) == stored


def test_finds_a_cell_that_would_stop():
    notebook = read(FOLDER / "04_softmax.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace('@np.errstate(all="ignore")', "")
    assert ("kept", "FloatingPointError") in errors(run_strictly(notebook))
