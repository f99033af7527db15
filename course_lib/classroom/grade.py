"""Grade what a class has handed in: `python -m course_lib grade FOLDER` writes a table.

FOLDER holds notebooks, at any depth. Whose one is says the first folder below FOLDER, or where there is none
the name of the file: 05_weighted_sum_anna.ipynb. Which exercises it answers say the checks in it. Each runs
in a kernel of its own, in an empty folder, within a time limit. Behind each cell with a check this program
grades the same function again and reads what comes: what a notebook prints or has stored counts for nothing.
FOLDER-graded.csv and FOLDER-graded.html are written to the folder where the command is given.

The students' code runs with the rights of whoever gives the command: do it in a container, or as a user or on
a machine with nothing to lose. Code that wants to cheat can, as it shares a kernel with the check: look at
what passed.
"""

import ast
import asyncio
import csv
import html
import logging
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

WARNING = """The students' code runs with the rights of whoever gives the command: give it in a container, or
as a user or on a machine with nothing to lose. Code can cheat a check that shares its kernel: look at what
passed."""
COURSE = "|".join(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{color-scheme: light dark; font: 16px/1.4 system-ui, sans-serif}}
div {{overflow-x: auto}}
table {{border-collapse: collapse}}
td, th {{border: 1px solid #808080; padding: 3px 8px; text-align: left}}
td.passed {{background: color-mix(in srgb, #1f78c8 25%, transparent)}}
p, ul {{max-width: 45em}}
</style>
<h1>{title}</h1>
<div tabindex="0"><table>{rows}</table></div>
<p><i>passed</i>: equal to the reference on every call tried. <i>not written</i>: the function returns
nothing. <i>not yet</i>: wrong. <i>stopped</i>: the function or its cell does not run. <i>not reached</i>: the
notebook broke off before. Other words name the slip that was made. –: not handed in.</p>
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
    sys.stdout.reconfigure(errors="backslashreplace")  # a name from an old ZIP file may be no Unicode
    print(WARNING, flush=True)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this Python's kernel, not a namesake elsewhere
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
            os.environ["JUPYTER_RUNTIME_DIR"] = os.environ["IPYTHONDIR"] = own  # a home may be missing
            results = asyncio.run(run_all(found))
        grades, remarks = collect([(student(folder, path), path.name, *results[path]) for path in found])
        write(grades, remarks, f"{folder.resolve().name}-graded")
    except KeyboardInterrupt:
        sys.exit("Interrupted: no table is written.")
    except OSError as error:
        sys.exit(f"The table could not be written here: {error}")


def submissions(folder):
    """All notebooks in a folder, the oldest first, without what JupyterLab keeps in hidden folders."""
    paths = [path for path in folder.rglob("*") if path.suffix.lower() == ".ipynb" and path.is_file()]
    paths = [path for path in paths if "/." not in f"/{path.relative_to(folder).as_posix()}"]
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path))


def student(folder, path):
    """Whose notebook it is: 05_weighted_sum_anna.ipynb, and all in the folder anna/, is anna's."""
    first, *deeper = path.relative_to(folder).parts
    left = re.sub(rf"{COURSE}|^\d\d(?=[_ -])", "", path.stem).strip("_- ")
    return first if deeper else left or folder.resolve().name


async def run_all(paths):
    """Run notebooks, as many at a time as there are cores.  ->  {path: (grades, remark)}"""
    turns = asyncio.Semaphore(os.cpu_count() or 1)
    loop = asyncio.get_running_loop()
    # nbclient leaves a task behind that asks after a kernel which has been ended,
    loop.set_exception_handler(lambda *_: None)
    # and takes Ctrl-C for itself: it would end one notebook and not the grading.
    loop.add_signal_handler = loop.remove_signal_handler = lambda *_: None

    async def one(path):
        async with turns:
            grades, remark = await run(path)
        passed = sum(grade == "passed" for grade in grades.values())
        print(f"{path}: {passed} of {len(grades)} passed{remark and '; '}{remark}", flush=True)
        return grades, remark

    async with asyncio.TaskGroup() as group:
        tasks = {path: group.create_task(one(path)) for path in paths}
    return {path: task.result() for path, task in tasks.items()}


class Client(NotebookClient):
    """Runs a notebook and keeps results and errors alone: what is printed may never end."""

    def output(self, outs, message, *rest):
        if message["msg_type"] in ("execute_result", "error"):
            return super().output(outs, message, *rest)


async def run(path, seconds=180, cell_seconds=60):
    """Run a notebook and grade its functions.  ->  {exercise: what is said of it}, a remark or ""

    A cell is interrupted after `cell_seconds`, the kernel ended after `seconds`, its start included.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
        added = with_grading(notebook)
    except Exception as error:  # whatever lies under this name
        return {}, f"is no notebook ({type(error).__name__})"
    client = Client(notebook, allow_errors=True, kernel_name="python3", shutdown_kernel="immediate")
    client.timeout, client.interrupt_on_timeout, client.iopub_timeout = cell_seconds, True, 30
    client.log = logging.Logger("not shown", logging.CRITICAL)
    remark = ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        client.resources = {"metadata": {"path": scratch}}
        try:
            async with asyncio.timeout(seconds) as limit:
                await client.async_execute(stderr=DEVNULL)
        except Exception as error:
            remark = f"broke off ({type(error).__name__})"
            remark = f"had not ended after {seconds} s" if limit.expired() else remark
    errors = [each.get("ename") for cell in notebook.cells for each in cell.get("outputs", [])]
    if "KeyboardInterrupt" in errors and not remark:
        remark = f"has a cell that was interrupted after {cell_seconds} s"
    return graded(added), remark


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
        return [(name, "None") for name in re.findall(r"check\(.([\w-]+)", source) if name in EXERCISES]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) == 2]
    calls = [node for node in calls if ast.unparse(node.func).split(".")[-1] == "check"]
    pairs = [(getattr(node.args[0], "value", None), ast.unparse(node.args[1])) for node in calls]
    return [(name, function) for name, function in pairs if name in EXERCISES]


def graded(added):
    """What the added cells gave: an exercise that passed once has passed, else its last check counts."""
    grades = {}
    for exercise, cell in added:
        if grades.get(exercise) != "passed":
            grades[exercise] = said(cell) if cell.execution_count else "not reached"
    return grades


def said(cell):
    """One word or the slip's name for what `grade` returned in a cell."""
    try:
        passed, slip, message = ast.literal_eval(cell.outputs[0].data["text/plain"])
    except Exception:  # no function, or code that changes what is shown
        return "stopped"
    if passed:
        return "passed"
    if "write your lines" in message:
        return "not written"
    stopped = message.startswith(("Your function stopped", "Give the function"))
    return slip or ("stopped" if stopped else "not yet")


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


def write(grades, remarks, title):
    """Write the table as CSV and as HTML to the current folder, and say where."""
    exercises = sorted({exercise for mine in grades.values() for exercise in mine})
    rows = [["student", *exercises, "passed"]]
    for name, mine in sorted(grades.items()):
        cells = [mine.get(exercise, "–") for exercise in exercises]
        rows.append([name, *cells, cells.count("passed")])
    table, page = Path(f"{title}.csv").absolute(), Path(f"{title}.html").absolute()
    with open(table, "w", encoding="utf-8-sig", errors="backslashreplace", newline="") as file:  # for Excel
        csv.writer(file).writerows([[plain(each) for each in row] for row in rows])
    lines = [
        "".join(
            f'<{tag} class="{"passed" * (each == "passed")}">{html.escape(str(each))}</{tag}>' for each in row
        )
        for row, tag in zip(rows, ["th"] + ["td"] * len(grades))
    ]
    filled = PAGE.format(
        title=html.escape(title),
        rows="\n".join(f"<tr>{line}</tr>" for line in lines),
        remarks="\n".join(f"<li>{html.escape(remark)}</li>" for remark in remarks),
        warning=WARNING,
    )
    page.write_text(filled, encoding="utf-8", errors="backslashreplace")
    print(table, page, sep="\n")


def plain(value):
    """A value that no spreadsheet takes for a formula."""
    return f"'{value}" if str(value).startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value
