"""Open the course: `python -m course_lib` copies the notebooks to my-course/ and starts JupyterLab.

my-course/ is in the clone; installed from a wheel, it is in the folder where the command is given.
A copy belongs to the learner: once it is there, it is never written to again.
More on the command line goes to JupyterLab: `python -m course_lib --no-browser --port=9999`.
Where a server runs already, as on JupyterHub, `python -m course_lib copy` makes the copies alone.
For a teacher: `python -m course_lib lecture 05` opens a lecture, `python -m course_lib handout` writes the
notebooks as pages to print, `python -m course_lib grade FOLDER` grades what a class has handed in.
"""

import hashlib
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from .data import ROOT

FIRST = "00_start_here.ipynb"
NEWER = """{name}: the course has a newer version than your copy. To get it beside yours,
    rename your copy (for example to {mine}) and start the course again."""
HIDES = "{name}: this file of yours hides the package of that name, so notebooks will not run: rename it."
FOLDED = """<details><summary>What this shows (open it after you have run the cell above)</summary>

{text}

</details>"""


def copy_notebooks(source, target):
    """Copy what a learner reads in `source` and `target` lacks; return what to tell the learner.

    Notebooks are copied as a learner begins them, the pages they link to (*.md) as they are.
    `target/.copied.json` keeps the hash of the version that each copy was made from.
    """
    target.mkdir(parents=True, exist_ok=True)
    record = target / ".copied.json"
    try:
        copied = dict(json.loads(record.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        copied = {}
    modules = [file for file in target.glob("*.py") if file.stem.isidentifier()]
    notes = [HIDES.format(name=file.name) for file in modules if find_spec(file.stem)]
    pages = [page for page in source.glob("*.md") if page.name != "README.md"]  # which is the teacher's
    for original in sorted([*source.glob("*.ipynb"), *pages]):
        name, copy = original.name, target / original.name
        version = hashlib.sha256(original.read_bytes()).hexdigest()
        begun = begin(original) if original.suffix == ".ipynb" else original.read_bytes()
        if not copy.exists():
            unfinished = target / (name + ".part")  # renamed when whole: no half a notebook, ever
            unfinished.write_bytes(begun)
            unfinished.rename(copy)
            if original.suffix == ".ipynb":
                trust(copy)
            copied[name] = version
        elif begun == copy.read_bytes():
            copied[name] = version
        elif version != copied.get(name):
            notes.append(NEWER.format(name=name, mine=f"{copy.stem}_mine{copy.suffix}"))
    record.write_text(json.dumps(copied, indent=1), encoding="utf-8")
    return notes


def begin(path):
    """A notebook as a learner begins it, so that nothing answers a question before it is asked.  ->  bytes

    No stored outputs, no notes for the lecturer, and what reads a predicted result (tag "reading") is folded.
    """
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [
        cell for cell in notebook.cells if cell.metadata.get("slideshow", {}).get("slide_type") != "notes"
    ]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        elif "reading" in cell.metadata.get("tags", []):
            cell.source = FOLDED.format(text=cell.source)
    return (nbformat.writes(notebook) + "\n").encode()


def trust(path):
    """Sign a notebook, so that JupyterLab shows what it holds as it is."""
    import nbformat
    from nbformat.sign import NotebookNotary

    NotebookNotary().sign(nbformat.read(path, as_version=4))


def has_screen():
    """Whether a browser can open: on Linux without a display, only a text browser could."""
    shown = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
    return shown or not sys.platform.startswith("linux")


def jupyter_arguments(folder, page):
    """The options that open `folder` on a page of JupyterLab."""
    import zmq

    options = [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url={page}",
        f"--LabApp.extra_labextensions_path={ROOT / 'tools/jupyter/labextensions'}",
        "--LabApp.extension_manager=readonly",
        "--log-level=ERROR",
        "--LabApp.log_level=ERROR",
    ]
    if zmq.has("curve"):  # without it every kernel warns of eavesdroppers, in the terminal
        options.append("--KernelManager.transport_encryption=auto")
    if not has_screen():
        options.append("--no-browser")
    if getattr(os, "geteuid", lambda: 1)() == 0:
        options.append("--allow-root")
    return options


def set_environment(folder):
    """Give JupyterLab the course's own settings and window layout; ~/.jupyter stays as it is."""
    own = folder / ".lab"
    paths = [str(ROOT / "tools" / "jupyter"), os.environ.get("JUPYTER_CONFIG_PATH")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    os.environ["JUPYTERLAB_SETTINGS_DIR"] = str(own / "settings")
    os.environ["JUPYTERLAB_WORKSPACES_DIR"] = str(own / "workspaces")
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this Python's kernel, not a namesake elsewhere
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # no warning about frozen modules
    if not os.access(Path.home(), os.W_OK):  # Jupyter and IPython write there, or do not start
        os.environ["HOME"] = str(own)
    # Lecture mode stays on in the settings; a new start begins without it.
    (own / "settings/jupyterlab-slideshow/plugin.jupyterlab-settings").unlink(missing_ok=True)


def course_folder():
    """Where the learner's copies are."""
    clone = (ROOT / "pyproject.toml").exists()
    return (ROOT if clone else Path.cwd()) / "my-course"


def make_copies(notebooks, folder, copy=copy_notebooks):
    """Copy the notebooks to `folder` and say so, or why not."""
    try:
        set_environment(folder)
        notes = copy(notebooks, folder)
    except OSError as error:
        sys.exit(f"Your copies of the notebooks could not be made in {folder}: {error.strerror}")
    print("\n".join([f"Your notebooks are in {folder}", *notes]), flush=True)


def open_course(notebooks, folder, arguments, copy=copy_notebooks, page=f"/lab/tree/{FIRST}"):
    """Copy the notebooks to `folder` and start JupyterLab on it."""
    make_copies(notebooks, folder, copy)
    print("To end: press Ctrl-C twice here.", flush=True)

    from jupyterlab.labapp import LabApp

    server = LabApp.initialize_server(jupyter_arguments(folder, page) + arguments)
    if not server.identity_provider.token_generated:  # with a password Jupyter itself prints no address
        print(f"The course is at {server.display_url}", flush=True)
    server.start()


def open_lecture(notebooks, folder, arguments):
    """Open a lecture; the first argument may be the number of a notebook."""
    from .classroom import lecture

    def copy(source, target):
        told = lecture.copy(source, target)
        for path in target.glob("*.ipynb"):
            trust(path)
        return told

    numbered = arguments and not arguments[0].startswith("-")
    number, rest = (arguments[0], arguments[1:]) if numbered else ("00", arguments)
    page = f"/lab/workspaces/{lecture.WORKSPACE}/tree/{lecture.find(notebooks, number)}"
    open_course(notebooks, folder, rest, copy, page)


def main(arguments):
    """What the first word asks for; none opens the course."""
    if arguments[:1] == ["lecture"]:
        from .classroom.lecture import folder

        open_lecture(ROOT / "notebooks", folder(course_folder()), arguments[1:])
    elif arguments[:1] == ["copy"]:
        make_copies(ROOT / "notebooks", course_folder())
    elif arguments[:1] == ["handout"]:
        from .classroom import handout

        handout.main(arguments[1:])
    elif arguments[:1] == ["grade"]:
        from .classroom import grade

        grade.main(arguments[1:])
    elif arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        open_course(ROOT / "notebooks", course_folder(), arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
