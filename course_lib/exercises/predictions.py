"""What a prediction is. They are data: one .toml file per notebook, beside its exercises."""

import pathlib
import tomllib
from typing import NamedTuple


class Answer(NamedTuple):
    """One answer to choose, what to say to the one who chooses it, and whether it is the right one."""

    text: str
    says: str
    right: bool = False


class Prediction(NamedTuple):
    """A question that is asked before the cell that answers it, with two to four answers.

    tells: what gives the right one away, a number or a phrase of the result: it must not stand before it.
    """

    question: str
    answers: list
    tells: list

    @property
    def right(self):
        """The text of the right answer."""
        return next(answer.text for answer in self.answers if answer.right)


def read(path):
    """The predictions of one file.  ->  {id: Prediction}"""
    stored = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: Prediction(
            one["question"], [Answer(**answer) for answer in one["answers"]], one.get("tells", [])
        )
        for name, one in stored.items()
    }


PREDICTIONS = {}
for path in sorted(pathlib.Path(__file__).parent.glob("*.toml")):
    PREDICTIONS |= read(path)
