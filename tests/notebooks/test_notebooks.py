"""The form of the notebooks: how long, what is stored, nothing hidden. (Strict nbval runs them.)"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SLIDES = {"slide", "subslide", "fragment", "skip", "notes", None}  # None goes on; the deck hides what has "-"
HIDING = {"hide-input", "hide-output", "hide-cell", "remove-input", "remove-output", "remove-cell"}
MACHINE = re.compile(
    r"(?<![\w./])/(?:home|Users|root|tmp|work|usr|opt|var)/|[A-Z]:\\\\?Users|file://|site-packages"
)


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def tags(cell):
    return set(cell["metadata"].get("tags", []))


def code_lines(cell):
    """The lines of a code cell that are neither empty nor a comment."""
    lines = [line.strip() for line in source(cell).splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def is_import(line):
    return line.startswith(("import ", "from "))


def words(cells):
    """Words of prose: without folded answers and formulas."""
    prose = [
        re.sub(r"<details>.*?</details>|\$[^$]*\$", "", source(cell), flags=re.DOTALL)
        for cell in cells
        if cell["cell_type"] == "markdown"
    ]
    return sum(len(re.findall(r"\w+", text)) for text in prose)


def setup_lines(code):
    """The code lines of the cells that come before the first that does more than import."""
    count = 0
    for cell in code:
        if not all(map(is_import, code_lines(cell))):
            break
        count += len(code_lines(cell))
    return count


def faults(name, notebook):
    """Every rule that a notebook breaks, in words."""
    cells, found = notebook["cells"], []
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    (fewest, most), least_words = ((10, 50), 250) if name.startswith("00_") else ((25, 60), 600)

    def rule(holds, fault):
        if not holds:
            found.append(fault)

    sizes = [len(code_lines(cell)) for cell in code]
    rule(fewest <= len(cells) <= most, f"{len(cells)} cells")
    rule(sum(sizes) <= 5 * len(sizes), f"{sum(sizes) / max(1, len(sizes)):.1f} code lines a cell")
    rule(max(sizes, default=0) <= 15, f"a cell of {max(sizes, default=0)} code lines")
    rule(setup_lines(code) <= 5, f"{setup_lines(code)} lines of set-up")
    rule(least_words <= words(cells) <= 1700, f"{words(cells)} words")

    rule(notebook["metadata"].get("kernelspec", {}).get("name") == "python3", "kernelspec is not python3")
    rule(not notebook["metadata"].get("widgets"), "stored widget state")
    ids = [cell.get("id", "") for cell in cells]
    rule(all(re.fullmatch("[a-z0-9-]+", id) for id in ids), "cell ids are not all of a-z, 0-9 and -")
    rule(len(set(ids)) == len(ids), f"a cell id twice: {Counter(ids).most_common(1)}")

    for cell in cells:
        id = cell.get("id")
        rule(
            cell["metadata"].get("slideshow", {"slide_type": ""}).get("slide_type") in SLIDES,
            f"{id}: no slide type",
        )
        rule("execution" not in cell["metadata"], f"{id}: stored times")
        rule(not MACHINE.search(source(cell)), f"{id}: a path of one machine in the source")
    for cell in code:
        id = cell.get("id")
        hidden = {"source_hidden", "outputs_hidden"} & set(cell["metadata"].get("jupyter", {}))
        rule(not hidden and not HIDING & tags(cell), f"{id}: hidden")
        rule(not source(cell).rstrip().endswith(";"), f"{id}: ends in a semicolon, which nbval does not heed")
        rule(cell.get("execution_count") is not None, f"{id}: never run")
        for output in cell["outputs"]:
            error = output["output_type"] == "error"
            rule(not error or "raises-exception" in tags(cell), f"{id}: an error that no tag announces")
            rule(output.get("name") != "stderr", f"{id}: output on stderr")
            rule(
                "application/vnd.jupyter.widget-view+json" not in output.get("data", {}),
                f"{id}: a stored widget",
            )
            text = {kind: data for kind, data in output.get("data", {}).items() if kind.startswith("text/")}
            rule(
                not MACHINE.search(json.dumps([text, output.get("text"), output.get("traceback")])),
                f"{id}: a path of one machine in the output",
            )
            rule(not re.search(r" at 0x[0-9a-f]{6,}", json.dumps(text)), f"{id}: an address in the output")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_the_rules(path):
    assert faults(path.name, load(path)) == []


def test_links_lead_somewhere():
    assert NOTEBOOKS
    names = {path.name for path in [*NOTEBOOKS, *FOLDER.glob("*.md")]} - {"README.md"}  # what learners have
    for path in NOTEBOOKS:
        prose = "".join(source(cell) for cell in load(path)["cells"] if cell["cell_type"] == "markdown")
        for link in re.findall(r"\]\(([^)#\s]+)", prose):
            assert link in names or link.startswith("https://"), f"{path.name} links to {link}"


def good_notebook():
    """A notebook that keeps every rule."""
    cells = [
        {
            "cell_type": "markdown",
            "id": f"text-{i}",
            "source": ["word " * 60],
            "metadata": {"slideshow": {"slide_type": "slide"}},
        }
        for i in range(15)
    ]
    cells += [
        {
            "cell_type": "code",
            "id": f"code-{i}",
            "source": ["x = 1"],
            "execution_count": i + 1,
            "outputs": [],
            "metadata": {"slideshow": {"slide_type": "fragment"}},
        }
        for i in range(15)
    ]
    return {
        "cells": cells,
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def output(**fields):
    return [{"output_type": "display_data", "metadata": {}, **fields}]


SPOILED = {  # what to spoil in the last cell of the good notebook, and what is then said
    "never run": {"execution_count": None},
    "an error that no tag announces": {
        "outputs": output(output_type="error", ename="E", evalue="", traceback=[])
    },
    "output on stderr": {"outputs": output(output_type="stream", name="stderr", text=["careful"])},
    "a path of one machine in the output": {"outputs": output(data={"text/plain": ["'/home/me/x.csv'"]})},
    "a path of one machine in the source": {"source": ["open('/home/me/x.csv')"]},
    "a stored widget": {"outputs": output(data={"application/vnd.jupyter.widget-view+json": {}})},
    "an address in the output": {"outputs": output(data={"text/plain": ["<f at 0x7f3a5c001d80>"]})},
    "no slide type": {"metadata": {}},
    "stored times": {"metadata": {"slideshow": {}, "execution": {}}},
    "hidden": {"metadata": {"slideshow": {}, "jupyter": {"source_hidden": True}}},
    "ends in a semicolon": {"source": ["x = 1;"]},
    "a cell id twice": {"id": "code-1"},
    "cell ids are not all": {"id": "Code_1"},
    "a cell of 16 code lines": {"source": ["x = 1\n"] * 16},
}


def test_the_good_notebook_is_good():
    assert faults("02_x.ipynb", good_notebook()) == []


@pytest.mark.parametrize("fault", SPOILED)
def test_each_fault_is_found(fault):
    notebook = good_notebook()
    notebook["cells"][-1].update(SPOILED[fault])
    assert [said for said in faults("02_x.ipynb", notebook) if fault in said]
    assert len(faults("02_x.ipynb", notebook)) == 1


def test_lengths_are_limited():
    def short(**changes):
        return " ".join(faults("02_x.ipynb", dict(good_notebook(), **changes)))

    cells = good_notebook()["cells"]
    assert "15 cells" in short(cells=cells[15:]) and "61 cells" in short(cells=cells * 2 + cells[:1])
    assert "0 words" in short(cells=cells[15:]) and "1800 words" in short(cells=cells[:15] * 2)
    assert "9.0 code lines a cell" in short(cells=[dict(cell, source=["x = 1\n"] * 9) for cell in cells])
    imports = [dict(cells[-1], source=["import json\n"] * 6)]
    assert "6 lines of set-up" in short(cells=imports + cells[15:])
    assert faults("00_start_here.ipynb", dict(good_notebook(), cells=cells[10:20])) == []
