"""Predictions are asked before they are answered: nothing before one, or in view of it, holds its answer."""

import html
import re
from pathlib import Path

import nbformat
import pytest

from course_lib.__main__ import begin
from course_lib.exercises.predictions import PREDICTIONS, Answer, Prediction

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
IN_VIEW = 4  # so many cells after the question share a screen with it


def asks(cell):
    """The ids of the predictions that a cell asks."""
    return (
        re.findall(r"^predict\([\"']([^\"']*)", cell.source, re.MULTILINE) if cell.cell_type == "code" else []
    )


def slide(cell):
    return cell.metadata.get("slideshow", {}).get("slide_type")


def readable(text):
    """HTML as it is read; text stays as it is."""
    return html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL))


def outputs(cell):
    """All the text of a cell's outputs, of tables and of what stands for pictures too."""
    found = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        alts = re.findall(r'(?:alt|aria-label)="([^"]*)"', data.get("text/html", ""))
        found += [
            output.get("text", ""),
            data.get("text/plain", ""),
            readable(data.get("text/html", "")),
            *alts,
        ]
    return "\n".join(found)


def holds(text, phrase):
    """Whether a number or a phrase stands in a text as a whole: 8.0, not 18.0 or 8.05."""
    text, phrase = (" ".join(re.sub(r"[*`]+", "", each).split()) for each in (text, phrase))  # as it is read
    return re.search(rf"(?<![\w.−-]){re.escape(phrase)}(?!\w|\.\d)", text, re.IGNORECASE) is not None


def answers_of(prediction):
    """What would answer a question: its replies, what tells, and the right answer where it is a sentence."""
    right = [prediction.right] * (len(prediction.right.split()) > 3)
    return [*(answer.says for answer in prediction.answers), *prediction.tells, *right]


def faults(notebook, begun, predictions):
    """Where a notebook answers a question too early; begun: the same as a learner begins it."""
    found, cells = [], notebook.cells
    folded = {cell.id: cell.source for cell in begun.cells}
    places = [(i, name) for i, cell in enumerate(cells) for name in asks(cell)]
    for number, (i, name) in enumerate(places):
        prediction, answers = predictions[name], answers_of(predictions[name])
        before = "\n".join(f"{cell.source}\n{outputs(cell)}" for cell in cells[:i])
        after = "\n".join(f"{cell.source}\n{outputs(cell)}" for cell in cells[i + 1 :])
        found += [f"{name}: {a!r} stands before it" for a in answers if holds(before, a)]
        told = [a for a in answers if holds(cells[i].source, a)]
        told += [answer.says for answer in prediction.answers if holds(outputs(cells[i]), answer.says)]
        found += [f"{name}: {a!r} is told with the question" for a in told]
        for cell in cells[i + 1 : i + 1 + IN_VIEW]:
            if asks(cell):
                break
            seen = re.sub(r"<details>.*?</details>", "", folded.get(cell.id, ""), flags=re.DOTALL)
            if cell.cell_type == "markdown" or cell is cells[i + 1]:
                found += [f"{name}: {a!r} is in view in {cell.id}" for a in answers if holds(seen, a)]
        found += [f"{name}: {a!r} never comes" for a in prediction.tells if not holds(after, a)]
        if slide(cells[i]) in ("skip", "notes"):
            found.append(f"{name}: not on a slide")
        shown = [slide(cell) for cell in cells[i + 1 :] if slide(cell) not in ("skip", "notes")]
        if shown[:1] not in (["fragment"], ["subslide"], ["slide"]):
            found.append(f"{name}: what follows is on the same step of the slide")
        end = places[number + 1][0] if number + 1 < len(places) else len(cells)
        if not any("reading" in cell.metadata.get("tags", []) for cell in cells[i:end]):
            found.append(f"{name}: no cell that reads the result has the tag reading")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_questions_come_before_their_answers(path):
    notebook, begun = nbformat.read(path, as_version=4), nbformat.reads(begin(path).decode(), as_version=4)
    assert faults(notebook, begun, PREDICTIONS) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_asks_by_predict_and_ends_with_what_was_done(path):
    notebook, number = nbformat.read(path, as_version=4), path.name[:2]
    assert any(map(asks, notebook.cells))
    assert not [cell.id for cell in notebook.cells if "**Predict" in cell.source]
    last = notebook.cells[-1]
    assert last.source.splitlines()[-1] == ("progress()" if number == "00" else f'progress("{number}")')
    assert slide(last) == "skip"
    assert re.findall(r"^(checks|predictions): 0 of (?!0)", outputs(last), re.MULTILINE)[:2] == [
        "checks",
        "predictions",
    ]


# --- the rule finds what it is for

ASKED = {
    "99-x": Prediction(
        "How large?", [Answer("64", "Signs cancel."), Answer("8", "The root of 64.", True)], ["8.0"]
    )
}


def good():
    """A title, a question, its result and what reads it."""
    new, text = nbformat.v4, nbformat.v4.new_output
    cells = [
        new.new_markdown_cell("# Scores of 64 features", id="title"),
        new.new_code_cell(
            'predict("99-x")', id="ask", outputs=[text("stream", text="How large?\n- 64\n- 8\n")]
        ),
        new.new_code_cell("print(q @ k)", id="run", outputs=[text("stream", text="8.0\n")]),
        new.new_markdown_cell("It is **8.0**.", id="run-a"),
        new.new_markdown_cell("## On", id="on"),
    ]
    for cell, kind in zip(cells, ("slide", "subslide", "fragment", "fragment", "slide")):
        cell.metadata["slideshow"] = {"slide_type": kind}
    cells[3].metadata["tags"] = ["reading"]
    return new.new_notebook(cells=cells)


def found(notebook, tmp_path):
    nbformat.write(notebook, tmp_path / "99_x.ipynb")
    begun = nbformat.reads(begin(tmp_path / "99_x.ipynb").decode(), as_version=4)
    return faults(notebook, begun, ASKED)


def test_a_good_notebook_has_no_faults(tmp_path):
    assert found(good(), tmp_path) == []


def with_table(cell):
    table = {"text/html": "<td>8.0</td>", "text/plain": "8.0"}
    cell.update(cell_type="code", outputs=[nbformat.v4.new_output("display_data", table)], execution_count=1)


SPOILED = {
    "stands before it": ("title", lambda cell: cell.update(source="Large keys: 8.0 on average.")),
    "'The root of 64.' stands before it": ("title", lambda cell: cell.update(source="The  root\nof 64.")),
    "'8.0' stands before it": ("title", with_table),
    "'8.0' is in view in run": ("run", lambda cell: cell.update(source="print('8.0 =', q @ k)")),
    "'8.0' is in view in run-a": ("run-a", lambda cell: cell.metadata.pop("tags")),
    "is in view in on": ("on", lambda cell: cell.update(source="## 8.0 is too large")),
    "is told with the question": ("ask", lambda cell: cell.update(source='predict("99-x")  # 8.0')),
    "'Signs cancel.' is told": ("ask", lambda cell: cell.outputs[0].update(text="64: Signs cancel.")),
    "no cell that reads": ("run-a", lambda cell: cell.metadata.update(tags=["other"])),
    "on the same step": ("run", lambda cell: cell.metadata.pop("slideshow")),
    "not on a slide": ("ask", lambda cell: cell.metadata.slideshow.update(slide_type="skip")),
}


@pytest.mark.parametrize("fault", SPOILED)
def test_each_fault_is_found(tmp_path, fault):
    notebook, (id, spoil) = good(), SPOILED[fault]
    spoil(next(cell for cell in notebook.cells if cell.id == id))
    assert [said for said in found(notebook, tmp_path) if fault in said]


def test_a_skipped_cell_is_not_the_next_step(tmp_path):
    notebook = good()
    notebook.cells[2].metadata.slideshow.slide_type = "skip"
    assert found(notebook, tmp_path) == []
    notebook.cells[3].metadata.slideshow.slide_type = None
    assert found(notebook, tmp_path) == ["99-x: what follows is on the same step of the slide"]


def test_what_tells_has_to_come(tmp_path):
    notebook = good()
    for cell in notebook.cells[2:4]:
        cell.update(source="hm")
    notebook.cells[2].outputs = []
    assert found(notebook, tmp_path) == ["99-x: '8.0' never comes"]


def test_numbers_are_found_whole():
    assert holds("about **8.0**.", "8.0") and holds("(8.0)", "8.0") and holds("is  The Same.", "the same")
    assert not any(holds(text, "8.0") for text in ("18.0", "8.05", "-8.0", "8.0.1", "x8.0"))
