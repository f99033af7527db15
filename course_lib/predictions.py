"""Predictions asked in a notebook, and what a learner has done so far."""

import functools
import html
import json
import pathlib

import ipywidgets as widgets

from course_lib import live, show
from course_lib.exercises import EXERCISES
from course_lib.exercises.predictions import PREDICTIONS


def predict(name):
    """Ask a question; choosing an answer says what this belief overlooks or sees.

    name: an id such as "04-shift". ValueError for an unknown one.
    """
    if name not in PREDICTIONS:
        raise ValueError(f"there is no prediction {name!r}; there is {', '.join(sorted(PREDICTIONS))}")
    return Question(name, PREDICTIONS[name])


class Question(widgets.VBox):
    """A question, a button for each answer, and a line for what is to be said to the choice.

    A choice made before is there again.
    """

    def __init__(self, name, prediction):
        self.name, self.prediction = name, prediction
        self.buttons = [
            widgets.Button(description=answer.text, tooltip=answer.text) for answer in prediction.answers
        ]
        for button, answer in zip(self.buttons, prediction.answers):
            button.on_click(functools.partial(self._choose, answer))
        answers = widgets.VBox(self.buttons)
        answers.add_class("course-answers")
        self.reply = widgets.HTML()
        asked = widgets.HTML(f"{show.STYLE}<div class='course'>{self._asked()}</div>")
        super().__init__([widgets.HTML(live.MANNERS), asked, answers, self.reply])
        self.add_class("course-panel")
        live.close_last_run(self)
        for button, answer in zip(self.buttons, prediction.answers):
            if answer.text == done()["predictions"].get(name):
                self._choose(answer, button)

    def _asked(self):
        return f"<p><b>Predict.</b> {html.escape(self.prediction.question)}</p>"

    def _choose(self, answer, chosen):
        for button in self.buttons:
            button.remove_class("course-chosen")
        chosen.add_class("course-chosen")
        word = "Yes." if answer.right else "Not quite."
        said = f'<p role="status"><b>{word}</b> {html.escape(answer.says)}</p>'
        self.reply.value = f'{show.STYLE}<div class="course">{said}</div>'
        record("predictions", self.name, answer.text)

    def _ipython_display_(self):
        listed = "".join(f"<li>{html.escape(answer.text)}</li>" for answer in self.prediction.answers)
        text = "\n".join(
            [self.prediction.question, *(f"- {answer.text}" for answer in self.prediction.answers)]
        )
        still = show.Html(f"<div>{self._asked()}<ul>{listed}</ul></div>", text)
        live.display_live(self, f"Predict: run this cell to answer {self.name}", still)


# What has been done is kept beside a learner's copies (.copied.json); elsewhere only while Python runs.
_done = {"checks": {}, "predictions": {}}


def _file():
    return pathlib.Path(".progress.json") if pathlib.Path(".copied.json").exists() else None


def done():
    """{"checks": {id: true}, "predictions": {id: the answer chosen}} so far."""
    try:
        stored = json.loads(_file().read_text(encoding="utf-8"))
        return {kind: {**stored[kind], **_done[kind]} for kind in _done}
    except (AttributeError, OSError, ValueError, TypeError, KeyError):
        return _done


def record(kind, name, value=True):
    """Keep that a check has passed or a prediction was made. A folder that takes no file stops nothing."""
    _done[kind][name] = value
    try:
        if _file():
            _file().write_text(json.dumps(done(), ensure_ascii=False, indent=1), encoding="utf-8")
    except OSError:
        pass


def progress(notebook=""):
    """Which checks have passed, which predictions were made; notebook: "04" for those of one.  ->  Html"""
    so_far, lines = done(), []
    for kind, names, word in (("checks", EXERCISES, "passed"), ("predictions", PREDICTIONS, "made")):
        mine = sorted(name for name in names if name.startswith(notebook))
        ready = [name for name in mine if name in so_far[kind]]
        open_ = [name for name in mine if name not in ready]
        lines.append(
            f"{kind}: {len(ready)} of {len(mine)} {word}" + (f"; open: {', '.join(open_)}" if open_ else "")
        )
    return show.Html("".join(f"<div>{html.escape(line)}</div>" for line in lines), "\n".join(lines))
