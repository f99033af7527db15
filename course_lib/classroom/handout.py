"""Handouts: each notebook as one HTML file, to read on a phone or to print, without and with answers.

`make handout` writes them to handouts/, with the pages that the notebooks link to. Nothing in them comes from
a network: pictures lie inside, formulas are MathML, which browsers draw themselves. Without answers, what
answers a question is folded, and answers to exercises are left out; with them all is open, and beside each
answer to a question stands what it means.
"""

import html
import re
from pathlib import Path

import nbformat
from latex2mathml.converter import convert
from nbconvert.filters import Highlight2HTML, markdown2html, strip_ansi
from pygments.formatters import HtmlFormatter

from course_lib.classroom.lecture import ASKS, table
from course_lib.data import ROOT
from course_lib.exercises.predictions import PREDICTIONS

LOOKS = (Path(__file__).parent / "handout.css").read_text(encoding="utf-8")
PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{looks}</style><main>
{body}
</main></html>
"""
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)
ANSWER = re.compile(r"<details><summary>Answer.*?</details>", re.DOTALL)
LINK = re.compile(r"\]\((\w+)\.(ipynb|md)\b")


def write(source, target):
    """Write the handouts of a folder of notebooks and pages to `target`.  ->  the names of the files"""
    target.mkdir(parents=True, exist_ok=True)
    texts = {}
    for path in sorted(source.glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        texts[path.stem] = page(cells, answers=False)
        texts[f"{path.stem}_answers"] = page(cells, answers=True)
    for path in sorted({*source.glob("*.md")} - {source / "README.md"}):  # which is the teacher's
        texts[path.stem] = page(
            [nbformat.v4.new_markdown_cell(path.read_text(encoding="utf-8"))], answers=False
        )
    for name, text in texts.items():
        (target / f"{name}.html").write_text(text, encoding="utf-8")
    return list(texts)


def main(arguments):
    """`python -m course_lib handout [FOLDER]`"""
    target = Path(*arguments or ["handouts"])
    for name in write(ROOT / "notebooks", target):
        print(target / f"{name}.html")


def page(cells, answers):
    """One HTML file of a notebook's cells."""
    title = re.search("^# (.*)", cells[0].source, re.MULTILINE)[1]
    looks = LOOKS + HtmlFormatter(style="default").get_style_defs(".highlight")
    body, secret = [], False  # secret: between a question and the end of what answers it
    for cell in cells:
        slide = cell.metadata.get("slideshow", {}).get("slide_type")
        secret = secret and slide != "slide"
        if slide == "notes" or cell.source.startswith("progress("):
            continue
        reading = "reading" in cell.metadata.get("tags", [])
        if asked := ASKS.findall(cell.source):
            body += [text(question(PREDICTIONS[name], answers), answers) for name in asked]
            secret = not answers
        elif cell.cell_type == "markdown":
            made = text(cell.source, answers)
            body.append(fold("What this shows", made) if reading and secret else made)
        else:
            body.append(Highlight2HTML(pygments_lexer="python")(cell.source))
            made = [] if "check(" in cell.source else [output(each) for each in cell.outputs]
            if shown := "\n".join(filter(None, made)):
                body.append(fold("What it gives", shown) if secret else f'<div class="output">{shown}</div>')
        secret = secret and not reading
    return PAGE.format(title=html.escape(title), looks=looks, body="\n".join(body))


def fold(name, text):
    return f'<details class="output"><summary>{name}</summary>{text}</details>'


def question(prediction, answers):
    """A prediction on paper: boxes to tick, or what each answer means."""
    if answers:
        return "\n".join(["**Predict.**", *table(prediction)])
    boxes = "  \n".join(f"☐ {each.text}" for each in prediction.answers)
    return f"**Predict.** {prediction.question}\n\n{boxes}"


def text(source, answers):
    """Markdown as HTML: formulas as MathML, links that lead to other handouts, answers kept or not."""
    source = FORMULA.sub(lambda found: formula(*found.groups()), source)
    source = LINK.sub(lambda link: f"]({link[1]}{'_answers' * (answers and link[2] == 'ipynb')}.html", source)
    source = source.replace("<details>", "<details open>") if answers else ANSWER.sub("", source)
    return markdown2html(source)


def formula(display, inline):
    return convert(display or inline, display="block" if display else "inline").replace("\n", " ")


def output(stored):
    """An output as HTML; a live thing is there as its picture and numbers."""
    if stored.output_type == "stream":
        return f"<pre>{html.escape(stored.text)}</pre>"
    if stored.output_type == "error":
        return f"<pre>{html.escape(strip_ansi(stored.traceback[-1]))}</pre>"
    return stored.data.get("text/html", "")
