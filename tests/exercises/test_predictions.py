"""Predictions: what holds for every one, the question as it is shown and answered, and what is kept of it."""

import html
import json
import pathlib
import re
from collections import Counter

import pytest

from course_lib import predictions
from course_lib.exercises import EXERCISES
from course_lib.exercises.predictions import PREDICTIONS, Answer, Prediction, read
from course_lib.predictions import done, predict, progress, record

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "course_lib/exercises").glob("*.toml"))
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MARKUP = re.compile(r"\*\*|`|\$|</?[a-z]+>|\]\(")


@pytest.fixture(autouse=True)
def nothing_done(tmp_path, monkeypatch):
    """Each test begins in an empty folder, with nothing done."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(predictions, "_done", {"checks": {}, "predictions": {}})


@pytest.fixture
def copies(tmp_path):
    """The folder is a learner's."""
    (tmp_path / ".copied.json").write_text("{}")
    return tmp_path / ".progress.json"


@pytest.fixture
def asked(monkeypatch):
    """A prediction whose every text needs escaping."""
    answers = [Answer("a < b", "<b>no</b> & never"), Answer("<i>b</i>", "<script>yes</script>", True)]
    monkeypatch.setitem(PREDICTIONS, "99-x", Prediction("is <u>it</u> & so?", answers, []))
    return predict("99-x")


# --- every prediction


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_prediction_has_one_right_answer_and_a_word_for_each(name):
    question, answers, tells = PREDICTIONS[name]
    assert 2 <= len(answers) <= 4 and [answer.right for answer in answers].count(True) == 1
    for part in (0, 1):  # no two answers, and no two replies, are the same
        assert len({answer[part].strip().lower() for answer in answers}) == len(answers)
    for text in (question, *(text for answer in answers for text in answer[:2])):
        assert text and text == text.strip() and not MARKUP.search(text), text
    assert "?" in question or question.endswith((":", "…"))
    assert all(len(answer.text) <= 90 for answer in answers)  # what a button holds
    assert not set(tells) & {answer.text for answer in answers}
    assert PREDICTIONS[name].right == next(answer.text for answer in answers if answer.right)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_belongs_to_a_notebook(path):
    (notebook,) = (ROOT / "notebooks").glob(f"[0-9][0-9]_{path.stem}.ipynb")
    found = read(path)
    assert found and all(re.fullmatch(notebook.name[:2] + "-[a-z0-9-]+", name) for name in found)
    assert found.items() <= PREDICTIONS.items()


def test_each_prediction_is_asked_once_and_in_its_notebook():
    asked = Counter()
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for name in re.findall(r"\bpredict\(\s*[\"']([^\"']*)", "".join(cell["source"])):
                assert cell["cell_type"] == "code" and name[:2] == path.name[:2], f"{name} in {path.name}"
                asked[name] += 1
    assert asked == Counter(list(PREDICTIONS))


def test_nothing_in_its_form_tells_the_right_answer():
    """Neither its place nor its length: choosing by them is right no more often than half of the time."""
    texts = [[answer.text for answer in one.answers] for one in PREDICTIONS.values()]
    rights = [one.right for one in PREDICTIONS.values()]
    places = Counter(answers.index(right) for answers, right in zip(texts, rights))
    longest = sum(right == max(answers, key=len) for answers, right in zip(texts, rights))
    shortest = sum(right == min(answers, key=len) for answers, right in zip(texts, rights))
    assert max(*places.values(), longest, shortest) <= max(2, len(rights) / 2), (places, longest, shortest)
    for path in FILES:
        own = [one for one in read(path).values()]
        places = {[answer.text for answer in one.answers].index(one.right) for one in own}
        assert len(places) > 1 or len(own) < 3, path.stem


# --- the question as it is shown


@pytest.mark.parametrize("name", PREDICTIONS)
def test_choosing_an_answer_is_replied_to(name):
    question = predict(name)
    assert [button.description for button in question.buttons] == [
        answer.text for answer in question.prediction.answers
    ]
    assert question.reply.value == ""
    for button, answer in zip(question.buttons, question.prediction.answers):
        button.click()
        assert html.escape(answer.says) in question.reply.value
        assert ("Yes." in question.reply.value) == answer.right
        assert ("Not quite." in question.reply.value) != answer.right
        assert [other for other in question.buttons if "course-chosen" in other._dom_classes] == [button]
        assert done()["predictions"] == {name: answer.text}  # the last choice counts


def test_a_question_asked_again_shows_the_choice_made_before():
    predict("04-shift").buttons[1].click()
    again = predict("04-shift")
    assert ["course-chosen" in button._dom_classes for button in again.buttons].index(True) == 1
    assert html.escape(again.prediction.answers[1].says) in again.reply.value
    assert predict("04-large").reply.value == ""


def shown(question, monkeypatch):
    """What is stored for readers without a kernel: (the words for the widget, the still)."""
    kept = []
    monkeypatch.setattr("course_lib.live.display", lambda thing, **_: kept.append(thing))
    question._ipython_display_()
    words, still = kept
    return words["text/plain"], still


@pytest.mark.parametrize("name", PREDICTIONS)
def test_without_a_kernel_all_is_asked_and_nothing_told(name, monkeypatch):
    words, still = shown(predict(name), monkeypatch)
    question, answers, _ = PREDICTIONS[name]
    assert words == f"Predict: run this cell to answer {name}"
    assert str(still).splitlines() == [question, *(f"- {answer.text}" for answer in answers)]
    read_aloud = html.unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", still.html, flags=re.DOTALL))
    assert (
        read_aloud.split() == " ".join(["Predict.", question, *(answer.text for answer in answers)]).split()
    )
    items = re.findall(r"<li[^>]*>", still.html)
    assert items == ["<li>"] * len(answers)  # no mark on any of them
    assert not any(html.escape(answer.says) in still.html + str(still) for answer in answers)


def test_all_that_is_shown_is_escaped(asked, monkeypatch):
    still = shown(asked, monkeypatch)[1].html
    assert "is &lt;u&gt;it&lt;/u&gt; &amp; so?" in still and "<li>&lt;i&gt;b&lt;/i&gt;</li>" in still
    asked.buttons[1].click()
    assert "&lt;script&gt;yes&lt;/script&gt;" in asked.reply.value and "<script>" not in asked.reply.value
    asked.buttons[0].click()
    assert "&lt;b&gt;no&lt;/b&gt; &amp; never" in asked.reply.value
    assert "<u>" not in asked.children[1].value


@pytest.mark.parametrize("name", ["07", "", None, "no-such"])
def test_an_unknown_prediction_is_named(name):
    with pytest.raises(ValueError, match=re.escape(repr(name))):
        predict(name)


# --- what is kept


def test_progress_counts_what_is_done_and_names_what_is_open():
    ids = [name for name in EXERCISES if name.startswith("04")]
    record("checks", ids[0])
    record("checks", "03-scaled")
    record("checks", "99-gone")  # of an older course
    said = str(progress("04")).splitlines()
    assert said[0] == f"checks: 1 of {len(ids)} passed; open: {', '.join(ids[1:])}"
    assert said[1].startswith("predictions: 0 of ")
    assert str(progress()).startswith(f"checks: 2 of {len(EXERCISES)} passed; open: ")
    for name in ids:
        record("checks", name)
    assert str(progress("04")).splitlines()[0] == f"checks: {len(ids)} of {len(ids)} passed"
    assert progress("04").html.count("<div>") == 2


def test_it_is_kept_beside_the_copies_and_found_by_the_next_notebook(copies, asked, monkeypatch):
    asked.buttons[0].click()
    record("checks", "03-scaled")
    assert json.loads(copies.read_text(encoding="utf-8")) == {
        "checks": {"03-scaled": True},
        "predictions": {"99-x": "a < b"},
    }
    monkeypatch.setattr(predictions, "_done", {"checks": {}, "predictions": {}})  # another kernel
    assert done()["predictions"] == {"99-x": "a < b"} and "checks: 1 of" in str(progress("03"))
    record("checks", "04-softmax")
    assert set(json.loads(copies.read_text(encoding="utf-8"))["checks"]) == {"03-scaled", "04-softmax"}


def test_elsewhere_no_file_is_written(tmp_path):
    record("checks", "03-scaled")
    assert list(tmp_path.iterdir()) == [] and "checks: 1 of" in str(progress("03"))


@pytest.mark.parametrize(
    "text", ["", "{half", "[1]", "null", '{"checks": 3}', '{"checks": [], "predictions": {}}']
)
def test_a_broken_file_costs_nothing_and_is_mended(copies, text):
    copies.write_text(text)
    assert "checks: 0 of" in str(progress("03"))
    record("checks", "03-scaled")
    assert json.loads(copies.read_text())["checks"] == {"03-scaled": True}


def test_what_is_not_text_counts_as_broken(copies):
    copies.write_bytes(b"\xff\xfe\x00")
    record("checks", "03-scaled")
    assert done()["checks"] == {"03-scaled": True}


def test_a_folder_that_takes_no_file_stops_nothing(copies, asked, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(pathlib.Path, "write_text", refuse)
    asked.buttons[1].click()
    assert "Yes." in asked.reply.value and done()["predictions"] == {"99-x": "<i>b</i>"}
    assert not copies.exists()
