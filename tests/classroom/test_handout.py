"""Handouts: what they hold and leave out; how they look is in tests/browser."""

import html
import re
from html.parser import HTMLParser

import nbformat
import pytest

from course_lib import __main__ as course
from course_lib.classroom import handout
from course_lib.data import ROOT
from course_lib.exercises.predictions import PREDICTIONS

NAMES = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


class Page(HTMLParser):
    """The words that stand open on a page, its addresses and its folded parts."""

    def __init__(self, path):
        super().__init__()
        self.addresses, self.folded, self.depth, self.words = [], 0, [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.open = " ".join("".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.addresses += [(tag, attributes[key]) for key in ("href", "src", "srcset") if key in attributes]
        if tag == "details":
            self.depth.append("open" not in attributes)
            self.folded += self.depth[-1]

    def handle_endtag(self, tag):
        if tag == "details":
            self.depth.pop()

    def handle_data(self, data):
        if not any(self.depth) and self.get_starttag_text() != "<style>":
            self.words.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("handouts")
    course.main(["handout", str(target)])
    return target


@pytest.fixture(scope="module")
def pages(folder):
    return {path.stem: Page(path) for path in folder.glob("*.html")}


def test_each_notebook_is_there_twice_and_so_are_the_pages_it_links_to(pages):
    assert {*pages} == {*NAMES, *(f"{name}_answers" for name in NAMES), "article", "glossary"}


def test_nothing_comes_from_a_network_and_no_link_is_dead(pages, folder):
    for name, page in pages.items():
        for tag, address in page.addresses:
            if tag == "a" and address.startswith(("https://", "#")):
                continue
            assert address.startswith("data:") or (folder / address).exists(), (name, tag, address)
    assert ("a", "05_weighted_sum_answers.html") in pages["04_softmax_answers"].addresses
    assert ("a", "05_weighted_sum.html") in pages["04_softmax"].addresses


@pytest.mark.parametrize("name", NAMES)
def test_without_answers_a_question_has_boxes_and_what_answers_it_is_folded(pages, folder, name):
    page, whole = pages[name], (folder / f"{name}.html").read_text(encoding="utf-8")
    assert "<summary>Answer" not in whole and pages[f"{name}_answers"].folded == 0
    for prediction in [PREDICTIONS[each] for each in PREDICTIONS if each[:2] == name[:2]]:
        assert f"☐ {prediction.right}" in page.open
        for answer in prediction.answers:
            assert html.escape(answer.says, quote=False) not in whole
            assert " ".join(answer.says.split()) in pages[f"{name}_answers"].open


def test_results_of_questions_and_solutions_stand_in_the_answers_only(pages):
    for told in ("0.88 against 0.76", "powers = np.exp(scores - scores.max(axis=-1, keepdims=True))"):
        assert told in pages["04_softmax_answers"].open and told not in pages["04_softmax"].open
    for each in ("04_softmax", "04_softmax_answers"):
        assert "7.389 / 9.757 = 0.757" in pages[each].open  # answers no question


def test_formulas_are_mathml(folder, pages):
    for name in NAMES:
        cells = nbformat.read(ROOT / f"notebooks/{name}.ipynb", as_version=4).cells
        wanted = [
            found
            for cell in cells
            if cell.cell_type == "markdown"
            for found in handout.FORMULA.findall(cell.source)
        ]
        assert (folder / f"{name}.html").read_text(encoding="utf-8").count("<math ") == len(wanted)
        assert "$" not in re.sub(r"\$\d", "", pages[name].open)


def test_what_was_made_of_widgets_errors_and_streams():
    cells = [
        nbformat.v4.new_markdown_cell("# A <title>\n\n$x_1$"),
        nbformat.v4.new_code_cell("1 < 2", outputs=[nbformat.v4.new_output("stream", text="<b>\n")]),
        nbformat.v4.new_code_cell(
            "panel",
            outputs=[
                nbformat.v4.new_output("display_data", {"text/plain": "Panel(model)"}),
                nbformat.v4.new_output("display_data", {"text/html": "<p>still</p>", "text/plain": "words"}),
                nbformat.v4.new_output(
                    "error", ename="E", evalue="x", traceback=["...", "\x1b[31mE\x1b[0m: <x>"]
                ),
            ],
        ),
        nbformat.v4.new_markdown_cell("For me", metadata={"slideshow": {"slide_type": "notes"}}),
    ]
    text = handout.page(cells, answers=False)
    assert "<title>A &lt;title&gt;</title>" in text and "<msub>" in text
    assert "<pre>&lt;b&gt;" in text and "<p>still</p>" in text and "E: &lt;x&gt;" in text
    assert "Panel(model)" not in text and "For me" not in text
