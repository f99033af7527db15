"""Tables and arrows: what is written, how it is coloured, and that nothing odd gets through."""

import io
import re

import numpy as np
import pytest
from PIL import Image

from course_lib import show


def cells(table):
    return re.findall(r"<td style=\"([^\"]*)\">([^<]+)</td>", table)


def luminance(color):
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


def test_numbers_are_rounded_and_zero_has_no_sign():
    table = show.table([[-0.001, 1.239], [np.nan, -np.inf]])
    assert [word for _, word in cells(table)] == ["0.00", "1.24", "nan", "-inf"]
    assert "-0.00" not in table and "-0.00" not in repr(table)


def test_the_plain_text_holds_every_number_and_label():
    table = show.table([[1, 2], [3, 4]], ["I", "saw"], ["left", "right"], caption="X", decimals=0)
    assert repr(table) == "X\n     left  right\n  I     1      2\nsaw     3      4"


def test_labels_are_escaped():
    table = show.table([[1]], ["<b onclick=x>"], ["&"], caption="<script>")
    assert "<b onclick" not in table and "<script>" not in table and "&lt;script&gt;" in table


@pytest.mark.parametrize(
    "kind, values", [("signed", np.linspace(-2, 2, 41)), ("weights", np.linspace(0, 1, 41))]
)
def test_every_cell_is_readable(kind, values):
    for style, _ in cells(show.table(values, kind=kind)):
        background, text = re.findall(r"(?:background|;color):(#\w+)", style)
        dark, light = sorted(
            (luminance(background), luminance(text.replace("#111", "#111111").replace("#fff", "#ffffff")[:7]))
        )
        assert (light + 0.05) / (dark + 0.05) >= 4.2


def test_a_difference_in_the_last_bit_changes_nothing():
    values = np.random.default_rng(0).normal(size=(4, 5)).round(2)
    assert show.table(values) == show.table(values * (1 + 1e-15)) == show.table(values + 1e-12)


def test_signed_colours_are_symmetric_and_the_limit_is_kept():
    first = cells(show.table([-1.0, 0.0, 1.0]))
    assert len({style for style, _ in first}) == 3
    assert cells(show.table([1.0], limit=2))[0] == cells(show.table([0.5, 1.0], limit=2))[1]
    assert cells(show.table([0.0, 0.0]))[0][0] == first[1][0]


def test_pick_marks_one_row():
    assert show.table(np.eye(3), pick=1).count("&#9664;") == 1


def test_wrong_tables_are_answered():
    with pytest.raises(ValueError, match=r"\(2, 2, 2\)"):
        show.table(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="3 labels for 2 rows"):
        show.table(np.eye(2), ["a", "b", "c"])


def test_side_by_side_shows_all():
    both = show.side_by_side(show.table([1.0]), show.table([2.0]))
    assert both.count("<table") == 2 and "1.00" in repr(both) and "2.00" in repr(both)


def plane():
    canvas = show.Canvas(200, 200)
    show.plane(canvas.axes[0], 2)
    return canvas


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def test_a_canvas_draws_what_it_is_given_and_forgets_it():
    canvas = plane()
    empty = canvas.paint(lambda: [])
    drawn = canvas.paint(lambda: show.arrows(canvas.axes[0], [[1, 1]], ["q1"]))
    blue = np.abs(pixels(drawn) - [0x00, 0x72, 0xB2]).sum(axis=-1) < 30
    assert blue.sum() > 100 and not (np.abs(pixels(empty) - [0x00, 0x72, 0xB2]).sum(axis=-1) < 30).any()
    assert canvas.paint(lambda: []) == empty
    assert pixels(empty)[0, 0].tolist() == [255, 255, 255]


def test_arrows_that_meet_share_a_label():
    canvas = plane()
    shapes, words = show.arrows(canvas.axes[0], [[1, 1], [1, 1.01], [0, 1]], ["a", "b", "c"])
    assert len(shapes.get_paths()) == 3 and len(words.get_paths()) == 2


def test_labels_of_arrows_that_nearly_meet_do_not_lie_on_each_other():
    canvas = plane()
    _, words = show.arrows(canvas.axes[0], [[1, 0.5], [1, 0.7], [1.1, 0.6]], ["k1", "k2", "k3"])
    places, height = words.get_offsets(), show._letter_size(canvas.axes[0])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        across, up = np.abs(places[i] - places[j])
        assert across >= 1.2 * height - 1e-9 or up >= height - 1e-9


def test_an_arrow_ends_at_its_point_and_a_label_stays_inside():
    canvas = plane()
    for vector in ([1.5, -0.5], [0, 0], [1e-9, 0], [40, -60]):
        shapes, words = show.arrows(canvas.axes[0], [vector], ["k1"])
        assert np.allclose(shapes.get_paths()[0].vertices[3], vector)
        assert np.abs(words.get_offsets()).max() < 2
    assert len(show.arrows(canvas.axes[0], np.zeros((0, 2)))) == 1
