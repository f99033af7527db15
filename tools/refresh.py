"""Run notebooks and store what they print: python tools/refresh.py [NOTEBOOK ...]   (default: all)

What is stored is the same on every run: no times, no widget state, no ids of widgets, no paths. The
output of a cell tagged `nbval-ignore-output` (a time, a version) stays while its source stays.
The questions on the teacher's page, notebooks/README.md, are written anew from the same data.
"""

import copy
import hashlib
import os
import re
import sys
from pathlib import Path

os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the kernel of this environment
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

import nbformat
from nbclient import NotebookClient

from course_lib.classroom.lecture import table
from course_lib.exercises.predictions import PREDICTIONS

ROOT = Path(__file__).resolve().parents[1]
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDGET = "application/vnd.jupyter.widget-view+json"
BEGIN, END = "<!-- made by make refresh, from course_lib/exercises/*.toml -->", "<!-- end of what is made -->"
FOLDERS = re.compile(r"[~/][^\s\x1b]*/(?=course_lib/|site-packages/)")


def run(notebook, folder):
    """Execute in place, in a new kernel; an error that no tag announces, or a warning, ends it."""
    NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=600,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise RuntimeError(f"cell {cell.id} writes to stderr: {output.text.strip()}")


def clean(notebook):
    """Remove whatever differs from run to run or from machine to machine."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        for key in set(cell.metadata) - {"slideshow", "tags"}:
            del cell.metadata[key]
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
            if output.output_type == "error":
                output.traceback = [FOLDERS.sub("", line) for line in output.traceback]


def keep_times(notebook, before):
    """Put back the earlier output of cells whose output is a time or a version.

    Such a cell keeps a hash of the source that printed its output: an edited cell is printed anew.
    """
    old = {cell.get("id"): cell for cell in before.cells}
    for cell in notebook.cells:
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            was, printed_by = old[cell.id], hashlib.sha256(cell.source.encode()).hexdigest()[:12]
            if was.metadata.get("printed_by") == printed_by:
                cell.outputs = was.outputs
            cell.metadata["printed_by"] = printed_by


def refresh(path):
    """Refresh one notebook; return whether its file changed."""
    before = nbformat.read(path, as_version=4)
    notebook = copy.deepcopy(before)
    run(notebook, path.parent)
    clean(notebook)
    keep_times(notebook, before)
    text = nbformat.writes(notebook) + "\n"
    if text == path.read_text(encoding="utf-8"):
        return False
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


def questions(predictions, notebooks):
    """Every prediction as the teacher reads it, by notebook."""
    lines = []
    for path in notebooks:
        title = re.search("^# (.*)", nbformat.read(path, as_version=4).cells[0].source, re.MULTILINE)[1]
        lines += ["", f"### [{title}]({path.name})"]
        for name, prediction in predictions.items():
            if name[:2] == path.name[:2]:
                lines += ["", *table(prediction)]
    return "\n".join(lines + [""])


def teacher(page, predictions, notebooks):
    """The teacher's page with the questions as they are now between its two marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{questions(predictions, notebooks)}\n{END}{rest.partition(END)[2]}"


def main(arguments):
    for path in [Path(name).resolve() for name in arguments] or sorted((ROOT / "notebooks").glob("*.ipynb")):
        try:
            print(path.name, "changed" if refresh(path) else "is as it was", flush=True)
        except Exception as error:
            sys.exit(f"{path.name} is left as it was: {error}")
    page = ROOT / "notebooks/README.md"
    text = teacher(page.read_text(encoding="utf-8"), PREDICTIONS, sorted(page.parent.glob("*.ipynb")))
    page.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
