"""The glossary has every term that a notebook closes with, and names notebooks that exist."""

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
    for line in (FOLDER / "glossary.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| English")
]
GLOSSARY = {english: (chinese, where) for english, chinese, _, _, where in ROWS}


def closing_terms(path):
    """{English: 中文} of the line of terms at the end of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lines = "".join("".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "markdown")
    (terms,) = re.findall(r"^\*\*Terms\*\*: (.+)", lines, flags=re.M)
    return dict(re.match(r"(.+?) · (\w+)", term.strip()).groups() for term in terms.split(" — "))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_closing_terms_of_a_notebook_stand_in_the_glossary(path):
    terms = closing_terms(path)
    assert len(terms) >= 3
    for english, chinese in terms.items():
        assert english in GLOSSARY, english
        assert GLOSSARY[english][0] == chinese, english
        assert f"]({path.name})" in GLOSSARY[english][1], f"{english} is taught in {path.name} too"


def test_a_word_that_links_to_the_glossary_stands_in_it():
    for path in [*NOTEBOOKS, FOLDER / "article.md"]:
        words = re.findall(r"\[([^][\n]+)\]\(glossary\.md[^)]*\)", path.read_text(encoding="utf-8"))
        for word in set(words) - {"glossary"}:
            known = {term.lower() for term in GLOSSARY}
            assert {word.lower(), word.lower().removesuffix("s")} & known, f"{word} in {path.name}"


def test_every_row_is_whole_and_stands_once():
    assert len(GLOSSARY) == len(ROWS) > 40
    for english, chinese, _, sentence, where in ROWS:
        assert english and re.search(r"[\u4e00-\u9fff]", chinese) and len(sentence.split()) > 2, english
        assert re.search(r"\]\(\S+\)", where), english


def test_every_link_leads_somewhere():
    for name in ("glossary.md", "article.md"):
        links = re.findall(r"\[([^\]]+)\]\(([^)\s]+)\)", (FOLDER / name).read_text(encoding="utf-8"))
        assert links
        for text, link in links:
            assert link.startswith("https://") or (FOLDER / link).exists(), link
            assert not text.isdigit() or link.startswith(text), link
