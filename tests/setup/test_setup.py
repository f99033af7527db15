"""The set-up: lists that agree, copies that are never written to, plain words when it fails."""

import ast
import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import nbformat
import numpy as np
import pip
import pytest
from nbformat.sign import NotebookNotary
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course_lib.__main__ import (
    begin,
    copy_notebooks,
    course_folder,
    has_screen,
    jupyter_arguments,
    main,
    open_course,
    set_environment,
)

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
TESTS = [Requirement(line) for line in PROJECT["optional-dependencies"]["test"]]


def locked(name):
    """The requirements of a lock file, as written, with the hashes of each."""
    lines = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    return {
        line.partition(" --hash")[0].strip(): re.findall(r"--hash=sha256:[0-9a-f]{64}", line)
        for line in lines
    }


def versions(name):
    """Package -> all its locked versions (they may differ from one Python to another)."""
    found = {}
    for line in locked(name):
        requirement = Requirement(line)
        found.setdefault(canonicalize_name(requirement.name), []).append(
            str(requirement.specifier).strip("=")
        )
    return found


@pytest.mark.parametrize(
    "name, required", [("requirements.lock", RUNTIME), ("requirements-test.lock", RUNTIME + TESTS)]
)
def test_locks_hold_what_pyproject_asks_for(name, required):
    found = versions(name)
    for requirement in required:
        assert found[canonicalize_name(requirement.name)]
        assert all(
            requirement.specifier.contains(each) for each in found[canonicalize_name(requirement.name)]
        )


def test_what_builds_the_wheel_is_among_the_tests_requirements():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {Requirement(line) for line in project["build-system"]["requires"]} <= set(TESTS)


def test_the_tests_lock_is_the_learners_and_more():
    assert locked("requirements.lock").items() < locked("requirements-test.lock").items()


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-test.lock"])
def test_locks_have_hashes_and_no_addresses(name):
    assert all(locked(name).values())
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"://|^-|^#", text, flags=re.MULTILINE)


def test_conda_asks_for_the_same_as_pyproject():
    conda = re.findall(
        r"^  - ([\w-]+)(\S*)$", (ROOT / "environment.yml").read_text(encoding="utf-8"), re.MULTILINE
    )
    conda = {
        name.removesuffix("-base"): bounds for name, bounds in conda if name not in ("conda-forge", "pip")
    }
    assert conda.pop("python") == PROJECT["requires-python"]
    assert conda == {requirement.name: str(requirement.specifier) for requirement in RUNTIME}


def test_this_environment_is_supported():
    for requirement in RUNTIME + TESTS:
        assert requirement.specifier.contains(version(requirement.name)), requirement


# --- copies of the notebooks


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder of two notebooks, a page and the teacher's page, and a folder for the copies."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    for name in ("00_start_here", "02_next"):
        write(tmp_path / f"notebooks/{name}.ipynb", "first version")
    (tmp_path / "notebooks/glossary.md").write_text("# Words · 词", encoding="utf-8")
    (tmp_path / "notebooks/README.md").write_text("# For the teacher")
    return tmp_path / "notebooks", tmp_path / "my-course"


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    cell = nbformat.v4.new_code_cell(
        text, outputs=[nbformat.v4.new_output("display_data", {"text/html": "<b>x</b>"})]
    )
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)


def test_copies_are_made_and_trusted(course):
    source, target = course
    assert copy_notebooks(source, target) == []
    for notebook in source.glob("*.ipynb"):
        copy = nbformat.read(target / notebook.name, as_version=4)
        assert copy.cells[0].source == "first version"
        assert NotebookNotary().check_signature(copy)
    assert (target / "glossary.md").read_bytes() == (source / "glossary.md").read_bytes()
    assert sorted(path.name for path in target.iterdir()) == [
        ".copied.json",
        "00_start_here.ipynb",
        "02_next.ipynb",
        "glossary.md",
    ]


def test_the_record_keeps_the_version_of_the_course(course):
    source, target = course
    copy_notebooks(source, target)
    record = json.loads((target / ".copied.json").read_text())
    assert record == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in source.iterdir()
        if path.name != "README.md"
    }


def test_a_copy_answers_nothing_before_it_is_asked(tmp_path):
    """No outputs, no lecturer's notes, readings folded; all else as it is in the course."""
    path = tmp_path / "02_next.ipynb"
    notebook, slide = nbformat.v4, {"slideshow": {"slide_type": "slide"}}
    shown = [
        notebook.new_output("stream", text="8.0\n"),
        notebook.new_output("display_data", {"text/html": "8"}),
    ]
    read = "About 8, the root of 64.\n\n- a *list*"
    cells = [
        notebook.new_markdown_cell("# How large?", id="title", metadata=slide),
        notebook.new_code_cell("predict('02-x')", id="ask", metadata=slide, execution_count=1, outputs=shown),
        notebook.new_code_cell("print(8)", id="run", execution_count=2, outputs=shown),
        notebook.new_markdown_cell(read, id="run-a", metadata={"tags": ["reading"]}),
        notebook.new_markdown_cell("It is 8.", id="told", metadata={"slideshow": {"slide_type": "notes"}}),
    ]
    nbformat.write(notebook.new_notebook(cells=cells), path)
    text = begin(path).decode()
    begun = nbformat.reads(text, as_version=4)
    nbformat.validate(begun)
    assert [cell.id for cell in begun.cells] == ["title", "ask", "run", "run-a"]
    assert [(cell.outputs, cell.execution_count) for cell in begun.cells[1:3]] == [([], None)] * 2
    assert [cell.source for cell in begun.cells[:3]] == [cell.source for cell in cells[:3]]
    folded = begun.cells[3].source
    summary, rest = folded.split("</summary>\n\n")  # an empty line, or the text is not read as markdown
    assert summary.startswith("<details><summary>") and rest == f"{read}\n\n</details>"
    assert "8" not in summary


def test_each_notebook_begins_unanswered():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        before, begun = (
            nbformat.reads(text, as_version=4) for text in (path.read_text("utf-8"), begin(path).decode())
        )
        told = {cell.id for cell in before.cells if cell.metadata.slideshow.get("slide_type") == "notes"}
        assert [cell.id for cell in begun.cells] == [cell.id for cell in before.cells if cell.id not in told]
        assert not any(cell.get("outputs") for cell in begun.cells)
        for cell in begun.cells:
            assert ("reading" in cell.metadata.get("tags", [])) == cell.source.startswith(
                "<details><summary>What"
            )


def test_a_file_that_hides_a_package_is_told(course):
    source, target = course
    copy_notebooks(source, target)
    for name in ("numpy", "random", "course_lib", "my_own", "of.dots"):
        (target / f"{name}.py").touch()
    notes = sorted(copy_notebooks(source, target))
    assert [note.split(" hides")[0] for note in notes] == [
        f"{name}.py: this file of yours" for name in ("course_lib", "numpy", "random")
    ]


def test_each_notebook_says_where_the_course_is_not_found_how_to_start_it():
    """A traceback shows the line that failed, and so this comment."""
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        code = next(c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code")
        first = next(line for line in code.splitlines() if "course_lib" in line)
        assert first.endswith("# not found? Start the course with: make lab")


def test_answers_are_never_overwritten(course):
    source, target = course
    copy_notebooks(source, target)
    write(target / "02_next.ipynb", "my answer")
    mine = (target / "02_next.ipynb").read_bytes()
    assert copy_notebooks(source, target) == []
    write(source / "02_next.ipynb", "second version")
    for _ in range(2):
        (note,) = copy_notebooks(source, target)
        assert "02_next.ipynb" in note and "newer version" in note and "rename" in note
        assert (target / "02_next.ipynb").read_bytes() == mine


def test_a_page_is_never_overwritten_either(course):
    source, target = course
    copy_notebooks(source, target)
    (target / "glossary.md").write_text("my words")
    assert copy_notebooks(source, target) == []
    (source / "glossary.md").write_text("more words")
    (note,) = copy_notebooks(source, target)
    assert "glossary.md" in note and "glossary_mine.md" in note
    assert (target / "glossary.md").read_text() == "my words"


def test_a_renamed_copy_gets_the_new_version_beside_it(course):
    source, target = course
    copy_notebooks(source, target)
    write(source / "02_next.ipynb", "second version")
    (target / "02_next.ipynb").rename(target / "02_next_mine.ipynb")
    assert copy_notebooks(source, target) == []
    assert "second version" in (target / "02_next.ipynb").read_text()
    assert "first version" in (target / "02_next_mine.ipynb").read_text()


@pytest.mark.parametrize("record", [None, "", "[1]", "{half"])
def test_a_lost_or_broken_record_costs_nothing(course, record):
    source, target = course
    copy_notebooks(source, target)
    write(target / "02_next.ipynb", "my answer")
    ((target / ".copied.json").unlink() if record is None else (target / ".copied.json").write_text(record))
    notes = copy_notebooks(source, target)
    assert len(notes) == 1 and "02_next" in notes[0]
    assert "my answer" in (target / "02_next.ipynb").read_text()


def test_a_lost_record_is_found_again(course):
    source, target = course
    copy_notebooks(source, target)
    (target / ".copied.json").unlink()
    copy_notebooks(source, target)
    write(target / "02_next.ipynb", "my answer")
    assert copy_notebooks(source, target) == []  # no false "newer version"


def test_copies_are_in_the_clone_wherever_it_is_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert course_folder() == ROOT / "my-course"


def test_a_home_that_cannot_be_written_to_is_replaced(course, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "environ", {"HOME": str(tmp_path / "file/home")})
    source, target = course
    set_environment(target)
    assert os.environ["HOME"] == str(target / ".lab")
    assert copy_notebooks(source, target) == [] and (target / "02_next.ipynb").exists()


def test_a_place_for_no_copies_is_told_in_one_line(course, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "environ", dict(os.environ))
    with pytest.raises(SystemExit, match="could not be made in .*my-course: Not a directory$"):
        open_course(course[0], tmp_path / "file/my-course", [])


def test_a_text_browser_is_no_screen(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not has_screen() and "--no-browser" in jupyter_arguments("my-course", "/lab")
    monkeypatch.setattr(sys, "platform", "win32")
    assert has_screen()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_screen() and "--no-browser" not in jupyter_arguments("my-course", "/lab")


def test_with_a_password_the_address_is_printed_too(course, tmp_path):
    """Jupyter itself prints an address only with a token that it has made."""
    settings = tmp_path / ".jupyter/jupyter_server_config.json"
    settings.parent.mkdir()
    settings.write_text('{"PasswordIdentityProvider": {"hashed_password": "sha1:0:0"}}', encoding="utf-8")
    names = ("PATH", "SYSTEMROOT", "LANG")  # no screen, and none of this machine's settings
    kept = {name: os.environ[name] for name in names if name in os.environ}
    start = "from pathlib import Path; from course_lib.__main__ import open_course as open; import sys; "
    start += "open(Path(sys.argv[1]), Path(sys.argv[2]), ['--no-browser', '--port=0'])"
    with subprocess.Popen(
        [sys.executable, "-c", start, *map(str, course)],
        env={**kept, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout:
            if "http://" in line:
                break
        process.terminate()
    assert re.search(r"The course is at http://localhost:\d+/lab/tree/00_start_here", line)


def test_help_is_the_courses_own(capsys):
    main(["--help"])
    assert "python -m course_lib lecture 05" in capsys.readouterr().out


# --- the wheel: what pip installs elsewhere holds the whole course


def test_an_installed_wheel_has_data_and_notebooks(tmp_path):
    wheels, packages, elsewhere = (tmp_path / name for name in ("wheels", "packages", "elsewhere"))
    elsewhere.mkdir()
    run = [sys.executable, "-m"]
    subprocess.run([*run, "hatchling", "build", "-t", "wheel", "-d", wheels], cwd=ROOT, check=True)
    (wheel,) = wheels.iterdir()
    with zipfile.ZipFile(wheel) as file:  # as pip does
        file.extractall(packages)
    said = subprocess.run(
        [sys.executable, "-c", START],
        cwd=elsewhere,
        env=dict(os.environ, PYTHONPATH=str(packages), JUPYTER_DATA_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert Path(said[0]).is_relative_to(packages)
    assert said[1] == "['I', 'saw', 'a', 'saw'] (1, 3)"
    copies = {path.name: path.read_bytes() for path in (elsewhere / "my-course").glob("*.ipynb")}
    assert copies == {path.name: begin(path) for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert "fetchNews" in Path(said[-1], "labconfig/default_setting_overrides.json").read_text()
    extensions = [path.relative_to(packages) for path in packages.rglob("labextensions/*/static/*")]
    assert {path.name for path in extensions} == {"lecture.js", "lecture.css"}
    metadata = (packages / f"{wheel.name.partition('-py3')[0]}.dist-info/METADATA").read_text()
    assert "License-Expression: MIT\n" in metadata and "License-File: LICENSE\n" in metadata


START = """import os, runpy, sys, course_lib
from course_lib import data, explore
from jupyterlab.labapp import LabApp
print(course_lib.__file__)
print(data.saw().tokens, data.vectors("dog")[1].shape)
config = lambda: os.environ["JUPYTER_CONFIG_PATH"].partition(os.pathsep)[0]
LabApp.initialize_server = lambda arguments: sys.exit(print(config()))
runpy.run_module("course_lib", run_name="__main__", alter_sys=True)
"""


# --- the bootstrap: each failure is one line, and leaves nothing behind


@pytest.fixture
def clone(tmp_path):
    """What the bootstrap reads, in a folder whose name has a space and a letter beyond ASCII."""
    clone = tmp_path / "a clöne"
    (clone / "tools").mkdir(parents=True)
    for name in ("tools/bootstrap.py", "requirements.lock", "requirements-test.lock"):
        shutil.copy(ROOT / name, clone / name)
    return clone


@pytest.fixture
def finished(clone):
    """A clone whose requirements are none, so that a real set-up takes seconds and no network."""
    for name in ("requirements.lock", "requirements-test.lock"):
        (clone / name).write_text("# nothing\n")
    (clone / "course_lib.py").write_text("print('found')")
    return clone


def bootstrap(clone, *arguments, before="", **environment):
    """Run the bootstrap; `before` is a line of Python that plays the broken machine."""
    code = (
        f"import runpy, sys; {before}\nsys.argv = {['bootstrap.py', *arguments]}\n"
        f"runpy.run_path({str(clone / 'tools/bootstrap.py')!r}, run_name='__main__')"
    )
    offline = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "0",
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **offline, **environment},
    )


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A line of Python that has `python -m venv` copy an environment made once, which is quicker."""
    made = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": made, "platbase": made}))
    shutil.copytree(Path(pip.__file__).parent, packages / "pip")
    return (
        "import shutil, subprocess; subprocess.check_output = lambda command, **_: "
        f"shutil.copytree({str(made)!r}, command[-1], symlinks=True, dirs_exist_ok=True)"
    )


def only_line(text):
    (line,) = text.splitlines()
    return line


def test_an_old_python_says_so(clone):
    run = bootstrap(clone, before="sys.version_info = (3, 9, 6)")
    assert run.returncode and "needs Python 3.11 or newer" in only_line(run.stderr)
    assert "3.9" in run.stderr and not (clone / ".venv").exists()


def test_an_old_python_can_read_the_bootstrap():
    tree = ast.parse((ROOT / "tools/bootstrap.py").read_text(encoding="utf-8"), feature_version=(3, 4))
    for node in ast.walk(tree):
        assert not isinstance(node, (ast.JoinedStr, ast.Nonlocal)), f"line {node.lineno}"
        assert not getattr(node, "annotation", None) and not getattr(node, "cause", None), (
            f"line {node.lineno}"
        )
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "print":
            assert len(node.args) == 1 and not node.keywords, f"line {node.lineno}: Python 2 prints a tuple"


def test_a_missing_venv_module_says_how_to_get_it(clone):
    run = bootstrap(clone, before="sys.modules['ensurepip'] = None")
    assert run.returncode and "sudo apt install python3-venv" in only_line(run.stderr)
    assert not (clone / ".venv").exists()


def test_without_a_network_it_says_so_and_cleans_up(clone, quick):
    run = bootstrap(clone, before=quick)
    assert run.returncode and "package index cannot be reached" in only_line(run.stderr)
    assert not (clone / ".venv").exists()


def test_a_failing_pip_is_quoted_in_one_line(clone, quick):
    (clone / "requirements.lock").write_text("numpy equals two\n")
    run = bootstrap(clone, before=quick)
    assert (
        run.returncode
        and "pip could not install the requirements: ERROR: Invalid requirement" in only_line(run.stderr)
    )
    assert not (clone / ".venv").exists()


def mark(clone):
    """Leave a file in the environment that a new one would not have."""
    (clone / ".venv/mark").touch()


def test_the_second_call_does_nothing_and_tests_add_to_the_first(finished, quick):
    for arguments, says in [((), "Making"), ((), ""), (("--test",), "Adding"), (("--test",), ""), ((), "")]:
        run = bootstrap(finished, *arguments, before=quick)
        assert run.returncode == 0, run.stderr
        assert run.stdout.startswith(says) and bool(run.stdout) == bool(says)
        assert (finished / ".venv/mark").exists() == (arguments != () or says == "")
        mark(finished)


def test_a_real_environment_finds_the_course_in_every_locale(finished):
    assert bootstrap(finished).stdout.startswith("Making")
    python = runpy.run_path(str(finished / "tools/bootstrap.py"))["python_in"](str(finished / ".venv"))
    found = [python, "-c", "import course_lib"]
    for locale in ("C", "xx_YY.UTF-8", "C.UTF-8"):
        environment = dict(os.environ, LC_ALL=locale)
        assert subprocess.check_output(found, cwd="/", env=environment, text=True) == "found\n"


def test_an_unfinished_environment_is_made_anew(finished, quick):
    (finished / ".venv").mkdir()
    mark(finished)
    (finished / ".venv/course-stamp").touch()  # broken off early
    assert bootstrap(finished, before=quick).stdout.startswith("Making")
    assert not (finished / ".venv/mark").exists()
    assert bootstrap(finished).stdout == ""


def test_an_environment_made_by_hand_is_left_alone(finished):
    (finished / ".venv").mkdir()
    mark(finished)
    for arguments in ((), ("--test",)):
        run = bootstrap(finished, *arguments)
        assert run.returncode and "Rename it or delete it" in only_line(run.stderr)
        assert [path.name for path in (finished / ".venv").iterdir()] == ["mark"]


def test_packages_from_elsewhere_do_not_count(finished, quick):
    """numpy on PYTHONPATH is no reason not to install it: here that needs the network, which fails."""
    (finished / "requirements.lock").write_text(f"numpy=={np.__version__} --hash=sha256:{'0' * 64}\n")
    elsewhere = Path(np.__file__).parents[1]
    run = bootstrap(finished, before=quick, PYTHONPATH=str(elsewhere))
    assert "cannot be reached" in only_line(run.stderr)


def test_a_stamp_counts_only_while_all_is_as_it_was(clone):
    setup = runpy.run_path(str(clone / "tools/bootstrap.py"))
    stamp, stamps, python = (setup["stamp"], setup["stamps"], Path(setup["python_in"](str(clone / ".venv"))))

    def is_finished():
        return stamp("lab") in stamps(str(clone / ".venv"))

    assert not is_finished()
    python.parent.mkdir(parents=True)
    python.touch()
    (clone / ".venv/course-stamp").write_text(stamp("lab"))
    assert is_finished()
    for name in ("requirements.lock", "tools/bootstrap.py"):
        before = (clone / name).read_text()
        (clone / name).write_text(before + "#")
        assert not is_finished(), name
        (clone / name).write_text(before)
    (clone / "requirements-test.lock").write_text("changed")
    assert is_finished()
    (clone.parent / "link").symlink_to(clone)
    linked = runpy.run_path(str(clone.parent / "link/tools/bootstrap.py"))
    assert linked["stamp"]("lab") == stamp("lab")
    shutil.copytree(clone, clone / "moved")
    moved = runpy.run_path(str(clone / "moved/tools/bootstrap.py"))
    assert moved["stamp"]("lab") not in moved["stamps"](str(clone / "moved/.venv"))
    python.unlink()  # the Python it was made with is gone
    assert not is_finished()


def test_no_network_for_the_tests_leaves_the_course_usable(finished, quick):
    bootstrap(finished, before=quick)
    (finished / "requirements-test.lock").write_text(f"numpy==2.0.0 --hash=sha256:{'0' * 64}\n")
    assert "cannot be reached" in only_line(bootstrap(finished, "--test").stderr)
    run = bootstrap(finished)
    assert (run.returncode, run.stdout) == (0, "")
