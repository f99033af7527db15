"""`python -m course_lib grade FOLDER`: the table says what each function is worth, whatever was handed in."""

import asyncio
import csv
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course_lib.classroom import grade

ROOT = Path(__file__).resolve().parents[2]
GRADE = [sys.executable, "-m", "course_lib", "grade"]
IMPORT = "from course_lib.checks import check"
RIGHT = "def mine(weights, V):\n    return weights @ V\n\n\ncheck('05-weighted-sum', mine)"
WORDS = {  # what a student wrote, and the word in the table
    "right": ([RIGHT], "passed"),
    "slip": ([RIGHT.replace("weights @", "weights.T @")], "weights transposed"),
    "wrong": ([RIGHT.replace("weights @ V", "0.3 * V[0]")], "not yet"),
    "stub": ([RIGHT.replace("return weights @ V", "...")], "not written"),
    "raises": ([RIGHT.replace("weights @ V", "1 / 0")], "stopped"),
    "syntax": ([RIGHT.replace("return", "retrun").replace("'", '"')], "stopped"),
    "after an error": (["1 / 0", RIGHT], "passed"),
    "a magic": (["%matplotlib inline\n" + RIGHT], "passed"),
    "first right": ([RIGHT, RIGHT.replace("@ V", "@ V * 2")], "passed"),
    "no check": (["def check(*given):\n    print(given)", RIGHT], "passed"),
    "input": (["input('Who?')", RIGHT], "passed"),
    "liar": (
        ["print('05-weighted-sum: passed.')", RIGHT.replace("weights @ V", "3"), "(True, None, '')"],
        "not yet",
    ),
    "=1+1": ([RIGHT], "passed"),
    "<i>x": ([RIGHT], "passed"),
}


def hand_in(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in (IMPORT, *cells)]), path)
    return path


def hashes(folder):
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A class of odd students, graded: the folder, the rows of the table, the page."""
    place = tmp_path_factory.mktemp("class")
    folder = place / "in"
    for name, (cells, _) in WORDS.items():
        hand_in(folder / name / "05.ipynb", *cells)
    for name, content in {"pdf": b"%PDF\x00\xff", "empty": b"", "list": b"[1]", "dict": b"{}"}.items():
        (folder / name).mkdir()
        (folder / name / "05.ipynb").write_bytes(content)
    hand_in(folder / "dies" / "05.ipynb", RIGHT, "import os\nos._exit(1)")
    hand_in(folder / "nothing" / "05.ipynb", "1")
    hand_in(folder / "05_weighted_sum_eva.ipynb", RIGHT)
    older = hand_in(folder / "twice" / "b.ipynb", RIGHT.replace("@ V", "@ V * 2"))
    os.utime(older, (1, 1))
    hand_in(folder / "twice" / "a.ipynb", RIGHT)
    hand_in(folder / ".ipynb_checkpoints" / "05.ipynb", RIGHT)
    if sys.platform == "linux":  # elsewhere the file system refuses a name that is no Unicode
        hand_in(folder / os.fsdecode(b"m\xfcller") / "05.ipynb", RIGHT)
    before = hashes(folder)
    out = subprocess.check_output([*GRADE, "in"], cwd=place, text=True, stderr=subprocess.STDOUT)
    assert hashes(folder) == before
    assert out.splitlines()[-2:] == [str(place / "in-graded.csv"), str(place / "in-graded.html")]
    assert "Traceback" not in out and len(out.splitlines()) == len(grade.submissions(folder)) + 5
    with open(place / "in-graded.csv", encoding="utf-8-sig") as file:
        return list(csv.reader(file)), (place / "in-graded.html").read_text(encoding="utf-8")


def test_each_student_gets_the_word_for_what_was_written(told):
    rows = {row[0]: row[1:] for row in told[0]}
    assert rows.pop("student") == ["05-weighted-sum", "passed"]
    for name, (_, word) in WORDS.items():
        assert rows["'=1+1" if name == "=1+1" else name] == [word, str(int(word == "passed"))], name
    assert rows["eva"] == rows["twice"] == rows["dies"] == ["passed", "1"]
    assert rows.get("m\\udcfcller", ["passed"])[0] == "passed"
    assert {len(row) for row in told[0]} == {3} and ".ipynb_checkpoints" not in rows


@pytest.mark.parametrize("name", ["pdf", "empty", "list", "dict", "dies", "nothing", "twice"])
def test_what_cannot_be_graded_costs_one_line(told, name):
    assert len(re.findall(f"<li>{name}: .*</li>", told[1])) == 1
    assert [row[1:] for row in told[0] if row[0] == name and name not in ("dies", "twice")] in (
        [],
        [["–", "0"]],
    )


def test_the_page_shows_names_as_text_and_says_that_it_ran_code(told):
    assert "<i>x" not in told[1] and "&lt;i&gt;x" in told[1] and "Traceback" not in told[1]
    assert "rights of whoever" in told[1] and "http" not in told[1]


def test_a_notebook_that_never_ends_keeps_what_it_had(tmp_path):
    stubborn = "while True:\n    try:\n        print(1)\n    except BaseException:\n        pass"
    endless = hand_in(tmp_path / "a.ipynb", RIGHT, stubborn, RIGHT.replace("05-weighted-sum", "05-attention"))
    grades, remark = asyncio.run(grade.run(endless, seconds=20))
    assert remark == "had not ended after 20 s"
    assert grades["05-weighted-sum"] in ("passed", "not reached")  # the latter where the machine is slow
    assert grades["05-attention"] == "not reached"


def test_a_cell_that_never_ends_is_interrupted_and_the_next_runs(tmp_path):
    endless = hand_in(tmp_path / "a.ipynb", "while True:\n    pass", RIGHT)
    grades, remark = asyncio.run(grade.run(endless, cell_seconds=15))
    assert (grades, remark) == ({"05-weighted-sum": "passed"}, "has a cell that was interrupted after 15 s")


@pytest.mark.skipif(os.name == "nt", reason="no Ctrl-C to send")
def test_ctrl_c_ends_the_grading_and_every_kernel(tmp_path):
    began = tmp_path / "began"
    wait = f"import os, time\nopen({str(began)!r}, 'w').write(f'{{os.getpid()}}.')\ntime.sleep(600)"
    hand_in(tmp_path / "in" / "a.ipynb", wait)
    graded = subprocess.Popen(
        [*GRADE, "in"],
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background job has none
    )
    while not (began.exists() and began.read_text().endswith(".")):
        assert graded.poll() is None
        time.sleep(0.1)
    graded.send_signal(signal.SIGINT)
    out = graded.communicate(timeout=120)[0]
    assert out.endswith("Interrupted: no table is written.\n") and "Traceback" not in out
    with pytest.raises(ProcessLookupError):
        os.kill(int(began.read_text()[:-1]), 0)


@pytest.mark.parametrize(
    "path, who",
    [
        ("anna/05_weighted_sum.ipynb", "anna"),
        ("anna/more/x.ipynb", "anna"),
        ("05_weighted_sum_ben.ipynb", "ben"),
        ("ben_li-05_weighted_sum.ipynb", "ben_li"),
        ("x.ipynb", "x"),
        ("05_ben.ipynb", "ben"),
        ("05_weighted_sum.ipynb", "class"),
    ],
)
def test_whose_notebook_it_is(tmp_path, path, who):
    assert grade.student(tmp_path / "class", tmp_path / "class" / path) == who


@pytest.mark.parametrize("made", [False, True])
def test_a_folder_without_notebooks_is_told_in_one_line(tmp_path, made):
    if made:
        (tmp_path / "in").mkdir()
    with pytest.raises(SystemExit, match="^Say in which folder|^There is no notebook"):
        grade.main([str(tmp_path / "in")])
    with pytest.raises(SystemExit, match="grade FOLDER"):
        grade.main([])


def test_every_exercise_of_the_course_is_found_by_its_check():
    """The course's own notebooks, as handed in: each check is read, with the function's name."""
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        added = grade.with_grading(notebook)
        asked = {exercise for exercise, _ in added}
        assert asked == {name for name in grade.EXERCISES if name.startswith(path.name[:2])}
