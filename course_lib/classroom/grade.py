"""Grade what a class has handed in: `python -m course_lib grade FOLDER` writes grades.csv and grades.html.

FOLDER holds notebooks, at any depth. Whose one is says the first folder below FOLDER, or where there is none
the name of the file: 05_weighted_sum_anna.ipynb. Each runs in a kernel of its own, in an empty folder, within
a time limit. Behind each cell with a check this program grades the same function again and reads what comes:
what a notebook prints, or has stored, counts for nothing.

The students' code runs with the rights of whoever gives the command: do it in a container, or as a user or on
a machine with nothing to lose. Code that wants to cheat can, as it shares a kernel with the check: look at
what passed.
"""

import ast
import asyncio
import csv
import html
import os
import re
import sys
import tempfile
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbclient import NotebookClient

from course_lib.data import ROOT
from course_lib.exercises import EXERCISES

SECONDS = 180  # for a notebook, its kernel's start included
WARNING = """The students' code has run with the rights of whoever gave the command: give it in a container,
or as a user or on a machine with nothing to lose. Code can cheat a check that shares its kernel: look at what
passed."""
COURSE = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Grades</title><style>
:root {{color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif}}
table {{border-collapse: collapse}}
td, th {{border: 1px solid #808080; padding: 3px 8px; text-align: left}}
td.passed {{background: color-mix(in srgb, #1f78c8 25%, transparent)}}
</style>
<h1>Grades</h1>
<table>{rows}</table>
<p><i>passed</i>: equal to the reference on every call tried. <i>not written</i>: the function
returns nothing. <i>not yet</i>: wrong. <i>stopped</i>: the function or its cell does not run.
<i>not reached</i>: the notebook broke off before. Other words name the slip that was made.
–: not handed in.</p>
<ul>{remarks}</ul>
<p>{warning}</p>
</html>
"""


def main(arguments):
    """`python -m course_lib grade FOLDER`"""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.exit("Say in which folder the notebooks of the class are: python -m course_lib grade FOLDER")
    folder = Path(arguments[0])
    found = submissions(folder)
    if not found:
        sys.exit(f"There is no notebook (*.ipynb) in {folder}.")
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this Python's kernel, not a namesake elsewhere
    results = asyncio.run(run_all(found))
    grades, remarks = collect([(student(folder, path), path.name, *results[path]) for path in found])
    for path in write(grades, remarks, Path.cwd()):
        print(path)
    print(WARNING)


def submissions(folder):
    """All notebooks in a folder, the oldest first, without what JupyterLab keeps in hidden folders."""
    paths = [
        path
        for path in folder.rglob("*")
        if path.suffix.lower() == ".ipynb"
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path))


def student(folder, path):
    """Whose notebook it is: 05_weighted_sum_anna.ipynb, and all in the folder anna/, is anna's."""
    first, *deeper = path.relative_to(folder).parts
    left = re.sub("|".join(COURSE), "", path.stem).strip("_- ")
    return first if deeper else left or folder.resolve().name


async def run_all(paths, seconds=SECONDS):
    """Run notebooks, as many at a time as there are cores.  ->  {path: (grades, remark)}"""
    turns = asyncio.Semaphore(os.cpu_count() or 1)
    # nbclient leaves a task behind that asks after a kernel which has been ended.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)

    async def one(path):
        async with turns:
            grades, remark = await run(path, seconds)
        passed = sum(grade == "passed" for grade in grades.values())
        print(f"{path}: {passed} of {len(grades)} passed{remark and '; '}{remark}", flush=True)
        return grades, remark

    return dict(zip(paths, await asyncio.gather(*map(one, paths))))


async def run(path, seconds=SECONDS):
    """Run a notebook and grade its functions.  ->  {exercise: what is said of it}, a remark or "" """
    try:
        notebook = nbformat.read(path, as_version=4)
        added = with_grading(notebook)
    except Exception as error:  # whatever lies under this name
        return {}, f"is no notebook ({type(error).__name__})"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        client = NotebookClient(notebook, timeout=None, allow_errors=True, kernel_name="python3")
        client.resources = {"metadata": {"path": scratch}}
        try:
            async with asyncio.timeout(seconds) as limit:
                await client.async_execute(stderr=DEVNULL)
        except Exception as error:
            late = f"had not ended after {seconds} s"
            return graded(added), late if limit.expired() else f"broke off ({type(error).__name__})"
    return graded(added), ""


def with_grading(notebook):
    """Put a cell that grades behind each cell that checks.  ->  pairs of an exercise and the added cell"""
    added, cells = [], []
    for cell in notebook.cells:
        cells.append(cell)
        for exercise, function in checks(cell.source) if cell.cell_type == "code" else []:
            call = f'__import__("course_lib.checks", fromlist=["grade"]).grade("{exercise}", {function})[:]'
            cells.append(nbformat.v4.new_code_cell(call))
            added.append((exercise, cells[-1]))
    notebook.cells = cells
    return added


def checks(source):
    """The checks in a cell's source: pairs of an exercise and the code of the function that is checked."""
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError:
        return [(name, "None") for name in re.findall(r'check\("([\w-]+)"', source) if name in EXERCISES]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) == 2]
    calls = [node for node in calls if ast.unparse(node.func).split(".")[-1] == "check"]
    pairs = [(getattr(node.args[0], "value", None), ast.unparse(node.args[1])) for node in calls]
    return [(name, function) for name, function in pairs if name in EXERCISES]


def graded(added):
    """What the added cells gave: an exercise that passed once has passed, else its last check counts."""
    grades = {}
    for exercise, cell in added:
        made = [each.data["text/plain"] for each in cell.outputs if each.output_type == "execute_result"]
        if grades.get(exercise) != "passed":
            nothing = "stopped" if cell.execution_count else "not reached"
            grades[exercise] = said(*ast.literal_eval(made[0])) if made else nothing
    return grades


def said(passed, slip, message):
    if passed:
        return "passed"
    if "write your lines" in message:
        return "not written"
    return slip or (
        "stopped" if message.startswith(("Your function stopped", "Give the function")) else "not yet"
    )


def collect(results):
    """One row a student from what each notebook gave; the newest counts.  ->  {student: grades}, remarks"""
    grades, remarks = {}, []
    for name, file, found, remark in results:
        mine = grades.setdefault(name, {})
        twice = sorted(mine.keys() & found.keys())
        if remark:
            remarks.append(f"{name}: {file} {remark}")
        elif not found:
            remarks.append(f"{name}: {file} holds no check of an exercise")
        if twice:
            remarks.append(f"{name}: {', '.join(twice)} handed in twice, {file} is newer and counts")
        mine.update(found)
    return grades, remarks


def write(grades, remarks, target):
    """Write the table as CSV and as HTML to a folder.  ->  the two paths"""
    exercises = sorted({exercise for mine in grades.values() for exercise in mine})
    rows = [["student", *exercises, "passed"]]
    for name, mine in sorted(grades.items()):
        cells = [mine.get(exercise, "–") for exercise in exercises]
        rows.append([name, *cells, cells.count("passed")])
    table, page = target / "grades.csv", target / "grades.html"
    with open(table, "w", encoding="utf-8-sig", newline="") as file:  # with the mark that Excel wants
        csv.writer(file).writerows([[plain(each) for each in row] for row in rows])
    lines = [
        "".join(
            f'<{tag} class="{"passed" * (each == "passed")}">{html.escape(str(each))}</{tag}>' for each in row
        )
        for row, tag in zip(rows, ["th"] + ["td"] * len(grades))
    ]
    said = [f"<li>{html.escape(remark)}</li>" for remark in remarks]
    rows = "\n".join(f"<tr>{line}</tr>" for line in lines)
    page.write_text(PAGE.format(rows=rows, remarks="\n".join(said), warning=WARNING), encoding="utf-8")
    return table, page


def plain(value):
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if str(value).startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value
