"""The panel of notebook 00: a sentence of one's own."""

import ipywidgets as widgets

from course_lib import data, show
from course_lib.attention import self_attention
from course_lib.explore.panel import Panel, View, choice, labels

SENTENCE = "the dog bites the man"


class Sorry(ValueError):
    """A sentence that cannot be shown; the panel's line begins with this name."""


def _read(text):
    """2 to 6 words and their vectors, or Sorry with what does not fit."""
    try:
        tokens, X = data.vectors(text)
    except ValueError as error:
        raise Sorry(error) from None
    if not 2 <= len(tokens) <= 6:
        raise Sorry(f"this panel has room for 2 to 6 words, not {len(tokens)}")
    return tokens, X


def _words(text):
    """What there is to choose from: each word with its number; nothing where the sentence cannot be read."""
    try:
        return [(name, i) for i, name in enumerate(labels(_read(text)[0], 17), 1)]
    except ValueError:
        return []


def _most(names, weights):
    """Where one word looks most, in words; several places where their weights are shown as equal."""
    share = show.number_text(weights.max())
    found = [name for name, weight in zip(names, weights) if show.number_text(weight) == share]
    if len(found) == 1:
        return f"looks most at {found[0]}: weight {share}"
    if len(found) == len(names):
        return f"looks equally at all {len(names)} words: weight {share} each"
    return f"looks equally at {', '.join(found[:-1])} and {found[-1]}: weight {share} each"


def sentence(text=SENTENCE):
    """Type a sentence; see its scores, weights and outputs, and where one word looks.

    text: 2 to 6 words of data/words.csv; the matrices are those of the running example.
    ->  Panel whose state is an Attention
    """

    def view(values):
        tokens, X = _read(values["sentence"])
        attention, query, names = self_attention(X, *data.saw()[3:]), values["word"] - 1, labels(tokens, 17)
        n = len(names)
        short = names if max(map(len, names)) <= 42 // n else range(1, n + 1)  # as much as fits side by side
        seen = show.side_by_side(
            show.links(attention.weights, names, names, "where the words look", pick=query),
            show.table(attention.scores, names, short, caption="scores α", pick=query),
            show.table(attention.weights, names, short, caption="weights α′", kind="weights", pick=query),
            show.table(attention.output, names, caption="output b", pick=query),
        )
        return View(attention, seen, f"{names[query]} {_most(names, attention.weights[query])}")

    def follow(now, changes):
        """The words to choose from are those of the sentence."""
        words = _words(now["sentence"])
        if "sentence" not in changes or not words:
            return {}
        chosen = min(now["word"], len(words))
        with word.hold_sync():
            word.options = words
            word.value = chosen
        return {"word": chosen}

    words = _words(text) or _words(SENTENCE)
    word = choice("word", words, min(3, len(words)))
    field = widgets.Text(text, description="sentence", tooltip="sentence", continuous_update=False)
    standard = lambda values: view({**values, "sentence": SENTENCE})  # noqa: E731
    return Panel(
        "Attention on a sentence", {"sentence": field, "word": word}, view, standard=standard, follow=follow
    )
