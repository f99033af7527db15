"""Tables and pictures: what is written, how it is colored, where labels lie, what is refused."""

import re
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import show

PAGES = {
    "light": ((255, 255, 255), (0, 0, 0), 0.87),
    "dark": ((17, 17, 17), (255, 255, 255), 1.0),
}  # JupyterLab's


def cells(table):
    """(strength of the color, its parts, the number shown) of each cell."""
    found = re.findall(
        r'<td(?: style="background:rgb\((\d+) (\d+) (\d+)/([\d.]+)\)")?>([^<]+)</td>', table.html
    )
    return [(float(a or 0), tuple(int(part or 0) for part in (r, g, b)), word) for r, g, b, a, word in found]


def luminance(color):
    parts = np.array(color) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


def over(color, strength, page):
    return strength * np.array(color) + (1 - strength) * np.array(page)


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def color(name):
    return tuple(int(show.COLORS[name][i : i + 2], 16) for i in (1, 3, 5))


# Tables


def test_numbers_are_rounded_and_zero_has_no_sign():
    table = show.table([[-0.001, 1.239], [np.nan, -np.inf]])
    assert [word for *_, word in cells(table)] == ["0.00", "1.24", "nan", "-inf"]
    assert "-0.00" not in table.html + table.text


@pytest.mark.parametrize(
    "number, word",
    [(123456.7, "1.2e5"), (-8.9e21, "-8.9e21"), (99999.4, "99999.40"), (1e-9, "0.00"), (0.995, "1.00")],
)
def test_huge_numbers_are_short(number, word):
    assert show.number_text(number) == word and len(word) <= 8


@given(st.floats(-1e300, 1e300))
def test_no_number_is_longer_than_a_cell(number):
    word = show.number_text(number)
    assert len(word) <= 9 and word != "-0.00"
    assert float(word) == pytest.approx(number, abs=0.0051, rel=0.05)


def test_the_plain_text_holds_every_number_and_label():
    table = show.table([[1, 2], [3, 4]], ["I", "saw"], ["left", "right"], caption="X", decimals=0)
    assert repr(table) == str(table) == "X\n     left  right\n  I     1      2\nsaw     3      4"


def test_labels_are_escaped_and_headers_have_their_scope():
    table = show.table([[1]], ["<b onclick=x>"], ["&"], caption="<script>")
    assert "<b onclick" not in table.html and "<script>" not in table.html and "&lt;script&gt;" in table.html
    assert table.html.count('scope="row"') == table.html.count('scope="col"') == 1


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(
    "kind, values",
    [
        ("signed", np.append(np.linspace(-9, 9, 73), [1e6, -1e6, np.inf, -np.inf])),
        ("weights", np.linspace(-1, 2, 61)),
    ],
)
def test_every_cell_is_readable_in_both_themes(kind, values, page):
    paper, ink, strength = PAGES[page]
    for share, tint, word in cells(show.table(values, kind=kind)):
        back = over(tint, share, paper)
        assert contrast(over(ink, strength, back), back) >= 4.5, word


@pytest.mark.parametrize("page", PAGES)
def test_larger_stands_out_more_in_both_themes(page):
    paper = PAGES[page][0]
    for kind, values in (("weights", np.linspace(0, 1, 21)), ("signed", np.linspace(0, 9, 21))):
        seen = [
            contrast(over(tint, share, paper), paper)
            for share, tint, _ in cells(show.table(values, kind=kind))
        ]
        assert seen[0] == 1 and (np.diff(seen) >= 0).all() and seen[-1] > 3


@pytest.mark.parametrize("name", show.COLORS)
def test_every_color_can_be_seen_in_both_themes(name):
    assert all(contrast(color(name), paper) >= 3 for paper in ((255, 255, 255), (17, 17, 17), (33, 33, 33)))


def test_no_two_colors_are_alike():
    inks = np.array([color(name) for name in show.COLORS if name not in ("ghost", "weight")])
    distances = np.abs(inks[:, None] - inks).sum(axis=-1) + 999 * np.eye(len(inks))
    assert distances.min() > 60


def test_the_same_number_has_the_same_color_in_every_table():
    assert cells(show.table([1.0]))[0] == cells(show.table([0.5, 1.0, 40.0]))[1]
    positive, negative = cells(show.table([2.0, -2.0]))
    assert positive[0] == negative[0] and (positive[1], negative[1]) == (color("score"), color("minus"))
    assert {tint for _, tint, _ in cells(show.table([0.2, 0.8], kind="weights"))} == {color("weight")}
    assert not any(share for share, *_ in cells(show.table([0.2, 0.8], kind="plain")))


@given(st.lists(st.floats(-9, 9).map(lambda x: round(x, 2)), min_size=1, max_size=6))
def test_a_difference_in_the_last_bit_changes_nothing(values):
    values = np.array(values) + 0.001
    assert show.table(values).html == show.table(values * (1 + 1e-15)).html == show.table(values + 1e-12).html


def test_pick_marks_one_row():
    table = show.table(np.eye(3), pick=1)
    assert table.html.count("◀") == table.html.count('class="picked"') == 1
    assert table.html.index("◀") > table.html.index(">2")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(values=np.ones((2, 2, 2))), r"\(2, 2, 2\)"),
        (dict(values=np.eye(2), rows=["a", "b", "c"]), "3 labels for 2 rows"),
        (dict(values=np.eye(2), columns=["a"]), "1 labels for 2 columns"),
        (dict(values=np.eye(2), kind="weight"), "'weight'"),
        (dict(values=np.eye(2), pick=2), "row 2"),
    ],
)
def test_wrong_tables_are_answered(arguments, words):
    with pytest.raises(ValueError, match=words):
        show.table(**arguments)


def test_side_by_side_and_stacked_show_all():
    parts = show.table([1.0]), show.plane(2, "a plane").arrows([[1, 1]], ["q1"], "query")
    for both in (show.side_by_side(*parts), show.stacked(*parts)):
        assert both.html.count("<table") == both.html.count("<svg") == 1
        assert "1.00" in repr(both) and "q1 to (1.0, 1.0)" in repr(both)
        assert "<style>" in both._repr_html_() and "<style>" not in both.html


# Pictures


def drawing(picture):
    """The parsed svg element: it is well formed."""
    return ElementTree.fromstring(re.search(r"<svg.*</svg>", picture.html).group())


def boxes(picture):
    """(left, right, top, bottom) of each label, as generous as a bold letter of 11 pixels is wide."""
    found = []
    for text in drawing(picture).iter("text"):
        if text.get("class") == "tip":
            x, y, half = float(text.get("x")), float(text.get("y")), 3.5 * len(text.text)
            found.append((x - half, x + half, y - 9, y + 2))
    return found


def free(picture):
    """Whether no label lies on another or outside."""
    found = boxes(picture)
    inside = all(b[0] >= 0 and b[1] <= picture.width and b[2] >= 0 and b[3] <= picture.height for b in found)
    pairs = [(a, b) for i, a in enumerate(found) for b in found[:i]]
    return inside and not any(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3] for a, b in pairs)


def test_an_arrow_ends_at_its_point_with_one_scale_for_both_axes():
    plane = show.plane(2).arrows([[1, 0], [0, 1]])
    right, up = [
        re.match(r"M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)", m.split('d="')[1]) for m in plane.marks[-2:]
    ]
    x0, y0, x, y = map(float, right.groups())
    assert (x0, y0) == (100, 100) and y == y0 and x > x0
    assert float(up.group(4)) == y0 - (x - x0)


def test_colors_are_those_of_the_course():
    picture = show.plane(2).arrows([[1, 1]], ["k1"], "key")
    assert show.COLORS["key"] in picture.html
    with pytest.raises(KeyError):
        show.plane(2).arrows([[1, 1]], ["k1"], "orange")


def test_what_is_drawn_is_said():
    picture = show.plane(2, "queries").arrows([[1, -0.04]], ["q1"], "query")
    picture.line([[0, 0], [1, 1]], "weight", says="a line to (1, 1)").bars([1], "score", says="one bar: 1.00")
    assert repr(picture) == "queries; q1 to (1.0, 0.0); a line to (1, 1); one bar: 1.00"
    assert drawing(picture).get("role") == "img" and drawing(picture).get("aria-label") == picture.text


def test_text_of_a_learner_is_plain_text():
    evil = '<img src=x onerror="alert(1)">'
    pictures = [
        show.plane(2, evil).arrows([[1, 1]], [evil]),
        show.links([[1.0]], [evil], [evil], evil),
        show.Picture((0, 1), (0, 1), evil, xticks={0: evil}, yticks={0: evil}).bars(
            [0.5], "score", says=evil
        ),
    ]
    for picture in pictures:
        assert "<img" not in picture.html and evil in picture.text
        drawing(picture)


@pytest.mark.parametrize(
    "vectors",
    [
        [[1, 0.5], [1, 0.7], [1.1, 0.6]],
        [[2, 0], [2, 0.1], [2, -0.1], [1.9, 0.2]],
        [[0, 0], [0, 0.01], [0.01, 0]],
        [[1, 1], [2, 2], [0.5, 0.5], [-1, -1]],
        [[0, 2], [0.2, 1.6], [-0.2, 1.8]],
    ],
)
def test_labels_keep_off_each_other(vectors):
    assert free(show.plane(2).arrows(vectors, [f"v{i}" for i in range(1, len(vectors) + 1)], "value"))


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=5))
def test_labels_of_five_arrows_anywhere_keep_off_each_other(vectors):
    assert free(show.plane(3).arrows(vectors, [f"k{i}" for i in range(1, len(vectors) + 1)], "key"))


def test_a_label_keeps_off_arrows_too():
    plane = show.plane(2).arrows([[1, 0], [1.6, 0]], ["a", "b"], "query")
    (*_, top, bottom) = boxes(plane)[0]
    assert bottom < 100 or top > 100  # a's label, not on b's shaft


def test_arrows_that_meet_share_a_label():
    words = [
        text.text for text in drawing(show.plane(2).arrows([[1, 1], [1, 1], [0, 1]], "abc")).iter("text")
    ]
    assert {"a b", "c"} <= set(words)


@pytest.mark.parametrize("vectors", [np.ones((4, 3)), np.ones(2), np.ones((2, 2, 2))])
def test_what_is_no_arrow_of_a_plane_is_refused(vectors):
    with pytest.raises(ValueError, match=re.escape(str(vectors.shape))):
        show.plane(2).arrows(vectors)


def test_no_arrows_and_arrows_without_length_are_drawn():
    show.plane(2).arrows(np.zeros((0, 2)))
    assert "nan" not in show.plane(2).arrows([[0, 0]], ["o"]).html


def test_a_plane_has_room_for_what_it_shows():
    assert show.room(np.array([[0.5, -2.9]])) == 3 and show.room(np.array([3.1]), np.array([-7.0])) == 9
    assert show.room(np.array([1000.0])) > 1000


def test_bars_beyond_the_frame_end_in_a_head_and_nan_has_none():
    picture = show.Picture((-1, 4), (-1, 1)).bars([0.5, 7, -7, np.nan], "score")
    assert picture.html.count("▲") == picture.html.count("▼") == 1
    heights = [float(v) for v in re.findall(r"V([\d.]+)H", picture.html)]
    (_, zero), (_, top) = picture._pixel(0, 0), picture._pixel(0, 1)
    assert heights == [(zero + top) / 2, top, pytest.approx(2 * zero - top), zero]


def test_links_are_as_thick_as_their_weights_and_the_picked_row_is_full():
    picture = show.links([[0.25, 0.75], [0.5, 0.5]], ["I", "saw"], ["I", "saw"], pick=0)
    thick = [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', picture.html)]
    assert thick[1] == pytest.approx(3 * thick[0], rel=0.05) and thick[2] == thick[3] < thick[0]
    assert picture.text == "I: I 0.25, saw 0.75"
    words = ["I", "saw"]
    page = show.links(np.eye(2), words, words, pick=1).html
    assert page.count(">looks<") == page.count(">is looked at<") == page.count('class="tip"') == 1


def test_a_difference_in_the_last_bit_moves_nothing():
    vectors = np.random.default_rng(0).normal(size=(5, 2)).round(2)
    first = show.plane(3).arrows(vectors, "abcde", "query").html
    assert first == show.plane(3).arrows(vectors * (1 + 4e-16), "abcde", "query").html


# Figures of ordinary cells


def test_a_figure_has_the_courses_look_whatever_the_learner_set(monkeypatch):
    def drawn():
        figure, axes = show.figure()
        axes.plot([0, 1], [0, 1])
        axes.set_title("title")
        return show.image(figure, "a rising line").html

    before = drawn()
    matplotlib.rcParams.update({"text.usetex": True, "figure.facecolor": "black", "text.color": "white"})
    monkeypatch.setenv("MPLBACKEND", "Agg")
    assert drawn() == before
    assert 'alt="a rising line"' in before and repr(show.image(show.figure()[0], "x")) == "x"
