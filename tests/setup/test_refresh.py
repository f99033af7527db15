"""`make refresh`: what it stores is the same every time, and free of the machine and the moment."""

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("refresh", ROOT / "tools/refresh.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code(id, source, *tags):
    return new_code_cell(
        source, id=id, metadata={"tags": list(tags), "execution": {"iopub.status.busy": "now"}}
    )


def write(path, *cells):
    nbformat.write(
        new_notebook(
            cells=cells, metadata={"widgets": {}, "language_info": {"name": "python", "version": "3"}}
        ),
        path,
    )
    return path


def test_twice_is_once(tool, tmp_path):
    path = write(
        tmp_path / "one.ipynb",
        new_markdown_cell("# One", id="title"),
        code("prints", "for i in range(50): print(i, flush=True)"),
        code("time", "import time; time.perf_counter_ns()", "nbval-ignore-output"),
        code("panel", "import ipywidgets; ipywidgets.VBox([ipywidgets.FloatSlider()])"),
        code("picture", "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"),
        code(
            "error",
            "from course_lib.attention import scores; scores([[1.0]], [[1.0, 2.0]])",
            "raises-exception",
        ),
    )
    assert tool.refresh(path)
    first = path.read_bytes()
    assert not tool.refresh(path)
    assert path.read_bytes() == first
    notebook = nbformat.read(path, as_version=4)
    assert notebook.metadata == tool.METADATA
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2, 3, 4, 5]
    assert all(set(cell.metadata) <= {"tags", "slideshow", "printed_by"} for cell in notebook.cells)
    assert len(notebook.cells[1].outputs) == 1
    assert set(notebook.cells[3].outputs[0].data) == {"text/plain"}
    assert set(notebook.cells[4].outputs[0].data) == {"text/plain", "image/png"}
    traceback = "".join(notebook.cells[5].outputs[0].traceback)
    assert "course_lib/attention.py" in re.sub(r"\x1b\[[\d;]*m", "", traceback)
    assert str(ROOT) not in traceback and str(Path.home()) not in traceback


def test_a_time_is_renewed_with_its_source(tool, tmp_path):
    path = write(tmp_path / "one.ipynb", code("time", "print('old')", "nbval-ignore-output"))
    tool.refresh(path)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source = "print('new')"
    nbformat.write(notebook, path)
    assert tool.refresh(path)
    assert nbformat.read(path, as_version=4).cells[0].outputs[0].text == "new\n"


@pytest.mark.parametrize("source", ["1 / 0", "import sys; print('careful', file=sys.stderr)"])
def test_errors_and_warnings_leave_the_notebook_alone(tool, tmp_path, source):
    path = write(tmp_path / "one.ipynb", code("bad", source))
    before = path.read_bytes()
    with pytest.raises(SystemExit, match="one.ipynb is left as it was"):
        tool.main([str(path)])
    assert path.read_bytes() == before
