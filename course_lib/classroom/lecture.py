"""A lecture: fresh copies of all notebooks, and notes that tell what each answer to a question means.

Each lecture has a folder of its own in my-lectures/, named by day and time: what is changed in class stays
there, and the next lecture begins without it. The copies keep outputs and open prose, and the teacher's page
lies beside them.
"""

import datetime
import re

import nbformat

from course_lib.exercises.predictions import PREDICTIONS

WORKSPACE = "lecture"  # by this name in the address the extension in tools/jupyter knows a lecture
ASKS = re.compile(r'^predict\("([\w-]+)"\)', re.MULTILINE)


def copy(source, target):
    """Copy notebooks and pages for a lecture to `target`, a new folder; return what to tell the lecturer.

    No code cell has run in this kernel, so none has a number; behind each question stand its notes.
    """
    target.mkdir(parents=True)
    for page in source.glob("*.md"):
        name = "teachers_page.md" if page.name == "README.md" else page.name
        (target / name).write_bytes(page.read_bytes())
    for original in sorted(source.glob("*.ipynb")):
        notebook = nbformat.read(original, as_version=4)
        notebook.cells = [each for cell in notebook.cells for each in (cell, *notes(cell))]
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.execution_count = None
        nbformat.write(notebook, target / original.name)
    return ["Space or a clicker goes on, p opens your notes, b blanks the screen, Escape ends the slides."]


def notes(cell):
    """What a lecturer wants to know behind a question.  ->  a list of cells"""
    asked = [PREDICTIONS[name] for name in ASKS.findall(cell.source)]
    made = [nbformat.v4.new_markdown_cell("\n".join(table(each))) for each in asked]
    for each in made:
        each.metadata["slideshow"] = {"slide_type": "notes"}
    return made


def table(prediction):
    """A question as a teacher reads it: answers, the right one bold, and what each one says.  ->  lines"""
    lines = [f"*{prediction.question}*", "", "| vote | what it means |", "|---|---|"]
    for answer in prediction.answers:
        text, says = (each.replace("|", r"\|") for each in answer[:2])
        lines.append(f"| **{text}** | {says} |" if answer.right else f"| {text} | {says} |")
    return lines


def folder(beside):
    """Where the copies of a lecture that begins now go: beside the folder of the learner's copies."""
    return beside.parent / "my-lectures" / f"{datetime.datetime.now():%Y-%m-%d %H.%M.%S}"


def find(notebooks, number):
    """The name of the notebook with a number, "05" or "5". SystemExit, with the numbers there are."""
    names = sorted(path.name for path in notebooks.glob("*.ipynb"))
    for name in names:
        if name.startswith(f"{number:0>2}_"):
            return name
    raise SystemExit(f"There is no notebook {number}: there is {', '.join(name[:2] for name in names)}.")
