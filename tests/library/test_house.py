"""The library is a small house: every file is a room, and doors open one way only."""

import ast
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "course_lib"
MATHS = {"attention", "heads", "sequence"}
ROOMS = {  # file: (other files of the library, other packages) that it may import
    "__init__": (set(), set()),
    "__main__": (set(), {"jupyterlab", "nbformat", "zmq"}),
    "attention": (set(), {"numpy"}),
    "heads": ({"attention"}, {"numpy"}),
    "sequence": ({"attention"}, {"numpy"}),
    "data": (set(), {"numpy"}),
    "show": (set(), {"numpy", "matplotlib", "PIL"}),
    "explore": (MATHS | {"show", "data"}, {"numpy", "matplotlib", "ipywidgets", "IPython"}),
    "exercises": (MATHS | {"data"}, {"numpy"}),
    "checks": (MATHS | {"exercises"}, {"numpy"}),
}
STANDARD = sys.stdlib_module_names


def imports(path):
    """All that a file imports: names of its neighbours, names of other packages."""
    neighbours, packages = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            inside = "course_lib" if node.level else None
            module = ".".join(filter(None, [inside, node.module]))
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "course_lib" else [module]
        else:
            continue
        for name in names:
            first, _, rest = name.partition(".")
            if first == "course_lib":
                neighbours.add(rest.partition(".")[0])
            elif first not in STANDARD:
                packages.add(first)
    return neighbours, packages


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("*.py")), ids=lambda path: path.stem)
def test_imports_stay_in_the_house_rules(path):
    assert path.stem in ROOMS, f"{path.name} is a new room: say in this test what it may import"
    neighbours, packages = imports(path)
    assert neighbours <= ROOMS[path.stem][0]
    assert packages <= ROOMS[path.stem][1]
    assert "matplotlib.pyplot" not in path.read_text(encoding="utf-8"), "it keeps every figure it makes"


def test_the_rules_themselves_point_one_way():
    below = {room: set(doors) for room, (doors, _) in ROOMS.items()}
    while below:
        ground = {room for room, doors in below.items() if not doors & set(below)}
        assert ground, f"a circle among {sorted(below)}"
        below = {room: doors for room, doors in below.items() if room not in ground}


def test_imports_are_seen_in_every_form(tmp_path):
    source = (
        "import course_lib.show\nfrom . import checks\nfrom .data import saw\n"
        "from course_lib import explore\n"
        "def f():\n    import os, PIL.Image\n    from course_lib.heads import split_heads\n"
    )
    (tmp_path / "room.py").write_text(source)
    assert imports(tmp_path / "room.py") == ({"show", "checks", "data", "explore", "heads"}, {"PIL"})


def test_attention_fits_on_a_few_pages():
    lines = (LIBRARY / "attention.py").read_text(encoding="utf-8").splitlines()
    documented = sum(node.end_lineno - node.lineno + 1 for node in docstrings(LIBRARY / "attention.py"))
    assert (
        len([line for line in lines if line.strip() and not line.strip().startswith("#")]) - documented < 150
    )


def docstrings(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            yield node.body[0]
