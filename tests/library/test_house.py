"""The library is a small house: every file is a room, doors open one way, and no room grows too large."""

import ast
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "course_lib"
MATHS = ["attention", "heads", "sequence", "learning", "transformer", "real_model"]
CLASSROOM = ["classroom", "classroom.lecture", "classroom.handout", "classroom.grade"]
ROOMS = {  # file: (other files of the library, other packages) that it may import
    "__init__": ([], []),
    "inputs": ([], ["numpy"]),
    "attention": (["inputs"], ["numpy"]),
    "heads": (["inputs", "attention"], ["numpy"]),
    "sequence": (["inputs", "attention"], ["numpy"]),
    "learning": (["inputs", "attention"], ["numpy"]),
    "transformer": (["inputs", "attention", "heads"], ["numpy"]),
    "real_model": (["inputs", "attention", "heads", "data"], ["numpy"]),
    "data": ([], ["numpy"]),
    "show": ([], ["numpy", "matplotlib"]),  # matplotlib inside `figure` alone, see below
    "live": (["show"], ["IPython"]),
    "explore": (["explore.*"], []),
    "explore.panel": (["live", "show", *MATHS], ["numpy", "ipywidgets"]),
    "explore.*": (["explore.panel", "show", "data", *MATHS], ["numpy", "ipywidgets"]),
    "exercises": (["exercises.*"], []),
    "exercises.exercise": (["data", *MATHS], ["numpy"]),
    "exercises.compare": ([], ["numpy"]),
    "exercises.nearly": (["exercises.compare"], ["numpy"]),
    "exercises.predictions": ([], []),
    "predictions": (["exercises", "exercises.predictions", "live", "show"], ["ipywidgets"]),
    "exercises.*": (["exercises.exercise", "data", *MATHS], ["numpy"]),
    "checks": (
        [
            "exercises",
            *(f"exercises.{name}" for name in ("exercise", "compare", "nearly")),
            "predictions",
            "show",
        ],
        ["numpy", "ipywidgets", "IPython"],
    ),
    "classroom": ([], []),
    "classroom.lecture": (["exercises.predictions"], ["nbformat"]),
    "classroom.handout": (
        ["classroom.lecture", "data", "exercises.predictions"],
        ["latex2mathml", "nbconvert", "nbformat", "pygments"],
    ),
    "classroom.grade": (["data", "exercises"], ["nbformat", "nbclient", "IPython"]),
    "__main__": (["data", *CLASSROOM], ["jupyterlab", "nbformat", "zmq"]),
}
MACHINES = ["show", "live", "explore.panel", "checks", "data"]
SIZES = {  # lines that are neither blank nor comment nor docstring
    "attention": (["attention"], 160),
    "the maths": (["inputs", *MATHS], 700),
    "show, the panel machine, checks and data": (MACHINES, 700),
    "what exercises share": (["exercises.exercise", "exercises.compare", "exercises.nearly"], 282),
    "predictions": (["predictions", "exercises.predictions"], 100),
}
FILES = {
    ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(LIBRARY.rglob("*.py"))
}
PANELS = [name for name in FILES if name.startswith("explore.") and name not in ROOMS]
EXERCISES = [name for name in FILES if name.startswith("exercises.") and name not in ROOMS]
SIZES |= {name: ([name], 90) for name in PANELS} | {name: ([name], 120) for name in EXERCISES}


def parsed(name):
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


def imports(tree, package="course_lib"):
    """All that a file of a package imports: names of its neighbors, names of other packages."""
    neighbors, packages = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join(filter(None, [*above, node.module]))
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for first, _, rest in (name.partition(".") for name in names):
            if first == "course_lib":
                neighbors.add(rest if rest in FILES else rest.rpartition(".")[0] or rest)
            elif first not in sys.stdlib_module_names:
                packages.add(first)
    return neighbors, packages


def rules(name):
    """What a file may import: its own line in ROOMS, or that of its kind."""
    found = [room for room in (name, name.partition(".")[0] + ".*") if room in ROOMS]
    assert found, f"{name} is a new room: say in this test what it may import"
    return ROOMS[found[0]]


def package(name):
    """The package that a file belongs to; `explore` stands for its __init__.py."""
    return ".".join(["course_lib", *FILES[name].relative_to(LIBRARY).parts[:-1]])


@pytest.mark.parametrize("name", FILES)
def test_imports_stay_in_the_house_rules(name):
    neighbors, packages = imports(parsed(name), package(name))
    allowed, outside = rules(name)
    assert [each for each in neighbors if not any(fnmatch(each, room) for room in allowed)] == []
    assert packages <= set(outside)


def test_the_rules_themselves_point_one_way():
    below = {
        room: {each for each in ROOMS for door in doors if fnmatch(each, door)}
        for room, (doors, _) in ROOMS.items()
    }
    while below:
        ground = {room for room, doors in below.items() if not doors & set(below)}
        assert ground, f"a circle among {sorted(below)}"
        below = {room: doors for room, doors in below.items() if room not in ground}


def test_no_picture_library_is_loaded_before_a_figure_is_asked_for():
    tree = parsed("show")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "figure":
            node.body = [ast.Pass()]
    assert "matplotlib" not in imports(tree)[1]
    for name in FILES:
        assert "matplotlib.pyplot" not in FILES[name].read_text(encoding="utf-8"), (
            "it keeps every figure it makes"
        )


def test_imports_are_seen_in_every_form():
    source = (
        "import course_lib.show\nfrom . import checks\nfrom .data import saw\n"
        "from course_lib import explore\nfrom course_lib.explore import panel, qkv\n"
        "import numpy.linalg as la\n"
        "def f():\n    import os, PIL.Image\n    from course_lib.heads import split_heads\n"
    )
    assert imports(ast.parse(source)) == (
        {"show", "checks", "data", "explore", "explore.panel", "heads"},
        {"PIL", "numpy"},
    )
    inside = ast.parse(
        "from . import panel\nfrom .panel import Panel\nfrom .. import show\nfrom ..data import saw"
    )
    assert imports(inside, "course_lib.explore") == ({"explore.panel", "show", "data"}, set())


def lines(name):
    documented = set()
    for node in ast.walk(parsed(name)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            documented |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    stripped = enumerate(map(str.strip, FILES[name].read_text(encoding="utf-8").splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and i not in documented for i, line in stripped)


@pytest.mark.parametrize("rooms, most", SIZES.values(), ids=SIZES)
def test_no_room_grows_too_large(rooms, most):
    sizes = {name: lines(name) for name in rooms if name in FILES}
    assert sum(sizes.values()) <= most, sizes
