"""The panel of notebook 00: a sentence in, who looks at whom out."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import data, explore
from course_lib.attention import self_attention

MATRICES = data.saw()[3:]
LONG = "unfortunately neighbours disappointed photographers extraordinary circumstances"
KNOWN = ["the", "dog", "bites", "man", "saw", "I", "a", "photographers", "throw", "she"]


def look(panel):
    return panel._html.value, panel.status


@pytest.fixture
def panel():
    return explore.sentence()


def test_it_shows_self_attention_on_the_sentence(panel):
    _, X = data.vectors("the dog bites the man")
    for shown, right in zip(panel.state, self_attention(X, *MATRICES)):
        np.testing.assert_array_equal(shown, right)
    for words in ("where the words look", "scores α", "weights α′", "output b", "3 bites"):
        assert words in panel._html.value
    assert panel.status == "3 bites looks most at 5 man: weight 0.31"


@given(st.lists(st.sampled_from(KNOWN), min_size=2, max_size=6), st.data())
def test_any_sentence_and_any_of_its_words(words, drawn):
    panel = explore.sentence()
    panel.controls["sentence"].value = " ".join(words)
    assert [value for _, value in panel.controls["word"].options] == list(range(1, len(words) + 1))
    assert panel.controls["word"].value <= len(words)
    word = drawn.draw(st.integers(1, len(words)))
    panel.controls["word"].value = word
    row = self_attention(data.vectors(" ".join(words))[1], *MATRICES).weights[word - 1]
    assert f"weight {row.max():.2f}" in panel.status
    equal = [f"{weight:.2f}" for weight in row].count(f"{row.max():.2f}")  # as the table shows them
    assert panel.status.startswith(
        f"{word} {words[word - 1]} looks {'most' if equal == 1 else 'equally'} at "
    )
    named = len(re.findall(r"\d \w+", panel.status.partition(" at ")[2].partition(":")[0]))
    assert f"all {equal} words" in panel.status if equal == len(words) else named == equal


def test_a_tie_is_no_most(panel):
    panel.controls["sentence"].value = "I saw a saw"
    panel.controls["word"].value = 1
    first, second = panel.state.weights[0, [1, 3]]
    assert first == second == panel.state.weights[0].max()
    assert panel.status == f"1 I looks equally at 2 saw and 4 saw: weight {first:.2f} each"
    panel.controls["sentence"].value = "to be or not to"
    panel.controls["word"].value = 2
    assert len(set(panel.state.weights[1].round(6))) > 1  # not equal, but shown as 0.20 each
    assert panel.status == "2 be looks equally at all 5 words: weight 0.20 each"
    panel.controls["sentence"].value = "the the the"
    assert panel.status == "2 the looks equally at all 3 words: weight 0.33 each"


def test_a_shorter_sentence_leaves_no_word_that_is_not_there(panel):
    panel.controls["word"].value = 5
    before = panel.redraws
    panel.controls["sentence"].value = "I saw"
    assert panel.controls["word"].value == 2 and panel.status.startswith("2 saw looks")
    assert panel.redraws == before + 1
    panel.controls["sentence"].value = LONG
    assert panel.controls["word"].value == 2
    panel.controls["word"].value = 6
    assert panel.status.startswith("6 circumstances looks")


def test_sentence_and_word_can_be_set_at_once(panel):
    panel.set({"sentence": LONG, "word": 6})
    assert panel.status.startswith("6 circumstances looks")
    panel.set({"sentence": "I saw", "word": 6})
    assert panel.controls["word"].value == 2


def test_reset_gives_identical_text(panel):
    before = look(panel)
    panel.controls["sentence"].value = LONG
    panel.controls["word"].value = 6
    assert look(panel)[0] != before[0]
    panel.reset()
    assert look(panel) == before and panel.controls["word"].value == 3
    panel.controls["sentence"].value = "I saw"
    panel.reset()
    assert look(panel) == before and panel.controls["sentence"].value == "the dog bites the man"


@pytest.mark.parametrize(
    "typed, words",
    [
        ("the dgo bites", ["'dgo'", "spelled like it", "go"]),
        ("dog", ["2 to 6 words, not 1"]),
        ("one two three four five six seven", ["2 to 6 words, not 7"]),
        ("", ["no word"]),
        ("<b>dog</b> xqzt", ["xqzt", "not in the list of words; try another"]),
        ("Don't bite", ['"Don\'t" is not in the list of words, where words have letters only; try another']),
        ("it’s a dog", ["it’s", "letters only; try another"]),
    ],
)
def test_what_cannot_be_read_stays_typed_and_is_said_beside_the_last_good_picture(panel, typed, words):
    body, state, options = panel._body, panel.state, panel.controls["word"].options
    panel.controls["sentence"].value = typed
    assert all(word in panel.status for word in [*words, "last good"])
    assert panel.controls["sentence"].value == typed
    assert (panel._body, panel.state, panel.controls["word"].options) == (body, state, options)
    assert panel.status.startswith("Sorry: ") and "Error" not in panel.status
    panel.controls["word"].value = 5
    assert words[0] in panel.status and panel._body == body
    panel.controls["sentence"].value = "the man saw the dog"
    assert panel.status.startswith("5 dog looks most at 3 saw")


def test_it_can_begin_with_another_sentence():
    panel = explore.sentence("I saw")
    assert [name for name, _ in panel.controls["word"].options] == ["1 I", "2 saw"]
    assert panel.status.startswith("2 saw looks most at 1 I")


def test_it_can_begin_with_what_it_cannot_read():
    panel = explore.sentence("xqzt dog")
    assert "xqzt" in panel.status and panel.controls["sentence"].value == "xqzt dog"
    assert "3 bites" in panel._html.value
    panel.controls["sentence"].value = "I saw"
    assert panel.controls["word"].value == 2 and panel.status.startswith("2 saw looks")


def test_a_word_is_picked_out_in_picture_and_tables(panel):
    assert panel._html.value.count("◀") == 3 and '<th scope="row">3 bites ◀' in panel._html.value
    assert 'aria-label="where the words look; 3 bites: ' in panel._html.value
    assert "2 dog 0.29, 3 bites 0.15, 4 the 0.12, 5 man 0.31" in panel._html.value
    panel.controls["word"].value = 2
    assert 'aria-label="where the words look; 2 dog: ' in panel._html.value


def test_long_words_are_whole_and_their_columns_are_numbers():
    text = explore.sentence(LONG)._html.value
    assert "…" not in text and text.count('scope="row">4 photographers<') == 3
    assert 'scope="col">4<' in text and 'scope="col">4 photographers<' not in text


def test_every_control_has_a_spoken_name(panel):
    assert all(control.tooltip == control.description == name for name, control in panel.controls.items())
