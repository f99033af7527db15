"""Every panel as pixels: its widths, its labels, its contrasts, and what a screen reader is told of it."""

import json

import pytest
from driver import ARGUMENTS, PANELS, changed, fresh_window, press, shown, write_notebook

NAMES = [*PANELS]
LONG = "unfortunately neighbourhoods disappointed photographers extraordinary circumstances"
# Width and height of the window, and whether the file browser is open; the second is a laptop at 200 % zoom.
WINDOWS = [
    (480, 800, False),
    (640, 360, False),
    (700, 800, False),
    (1000, 700, True),
    (1280, 720, True),
    (1920, 1080, False),
]


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebooks")
    long = f'explore.sentence("{LONG}")'
    write_notebook(folder / "00_start_here.ipynb", ARGUMENTS, *PANELS.values(), long)
    return folder


@pytest.fixture(scope="module")
def live(browser, lab):
    """One window for all tests here: all cells have run; a test leaves the panels as it found them."""
    with fresh_window(browser, lab) as window:
        window.open_notebook("00_start_here.ipynb")
        assert window.run_all() == []
        yield window


@pytest.fixture
def resized(live):
    """live, and a function that gives its window a size, with the file browser or without."""

    def resize(width, height, browser):
        live.page.set_viewport_size({"width": width, "height": height})
        for _ in range(20):
            if live.page.locator("#jp-left-stack").is_visible() == browser:
                return
            live.page.evaluate("document.activeElement.blur()")  # a panel's control keeps its keys
            live.menu("View", "File Browser") if browser else live.page.keyboard.press("Control+b")
            live.page.wait_for_timeout(500)  # a key that came while a menu closed is lost
        pytest.fail("the file browser does not obey")

    yield resize
    resize(1280, 720, True)


def reset(panel, begun):
    """Bring a panel back to what it showed first."""
    panel.get_by_role("button", name="reset").click()
    panel.page.wait_for_function(
        "([panel, begun]) => panel.querySelector('.course').innerHTML == begun",
        arg=[panel.element_handle(), begun],
    )


@pytest.mark.parametrize("size", WINDOWS, ids=lambda size: f"{size[0]}px")
def test_nothing_is_cut_off_or_covered(live, resized, size):
    resized(*size)
    for number, name in enumerate([*NAMES, "six long words"]):
        panel = live.panel(number)
        assert panel.evaluate("panel => measure.boxes(panel)") == [], name
        assert panel.get_by_role("status").is_visible()
        assert panel.locator("svg, table").count() >= 2


@pytest.mark.parametrize("size", WINDOWS, ids=lambda size: f"{size[0]}px")
def test_tracks_have_a_pixel_for_each_tenth(live, resized, size):
    resized(*size)
    tracks = live.panel(0).locator(".noUi-base")
    widths = tracks.evaluate_all("tracks => tracks.map(track => track.getBoundingClientRect().width)")
    assert len(widths) == 18 and min(widths) >= 61


@pytest.mark.parametrize("name", NAMES)
def test_labels_keep_off_each_other_for_every_choice(live, name):
    panel = live.panel(NAMES.index(name))
    begun, faults = shown(panel), panel.evaluate("panel => measure.words(panel)")
    for dropdown in panel.locator("select").all():
        options = dropdown.locator("option").all_inner_texts()
        first = dropdown.evaluate("dropdown => dropdown.selectedIndex")
        for place in [i for i in range(len(options)) if i != first and "own" not in options[i]]:
            before = shown(panel)
            dropdown.select_option(index=place)
            changed(panel, before)
            found = panel.evaluate("panel => measure.words(panel)")
            faults += [f"{options[place]}: {fault}" for fault in found]
        reset(panel, begun)
    assert faults == []


def test_labels_keep_off_each_other_with_positions(live):
    panel = live.panel(NAMES.index("order"))
    begun = shown(panel)
    for _ in range(10):
        press(panel)
        assert panel.evaluate("panel => measure.words(panel)") == []
    reset(panel, begun)


def test_labels_keep_off_each_other_for_random_matrices(live):
    panel = live.panel(0)
    begun, seed = shown(panel), panel.get_by_role("spinbutton", name="seed")
    for number in ("1", "2", "3", "4", "5"):
        before = shown(panel)
        seed.fill(number)
        seed.press("Enter")
        changed(panel, before)
        assert panel.evaluate("panel => measure.words(panel)") == []
    reset(panel, begun)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_all_is_seen_in_both_themes(browser, lab, theme):
    settings = lab.folder / ".lab/settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"theme": theme}))
    with fresh_window(browser, lab) as window:
        window.open_notebook("00_start_here.ipynb")
        window.run_all()
        assert window.page.locator(f"body[data-jp-theme-name='{theme}']").count() == 1
        for number, name in enumerate(NAMES):
            found = window.panel(number).evaluate("panel => measure.faint(panel)")
            assert found["faults"] == [], name
            assert found["text"] > 30 and found["drawn"] >= 5
        panel = window.panel(0)
        before = shown(panel)
        panel.get_by_label("causal").check()
        changed(panel, before)
        cells = panel.evaluate("panel => measure.salience(panel, 'weights')")
        assert len(cells) == 16 and min(cells)[0] == 0 and max(cells)[0] == 1
        for (small, faint), (large, strong) in zip(sorted(cells), sorted(cells)[1:]):
            assert faint == strong if small == large else faint < strong, (small, large)
        assert min(cells)[1] == 1 and max(cells)[1] > 3
    settings.unlink()


def test_a_screen_reader_is_told_everything(live):
    for number, name in enumerate(NAMES):
        panel = live.panel(number)
        assert panel.evaluate("panel => measure.unsaid(panel)") == [], name
        begun = shown(panel)
        if panel.locator(".noUi-handle").count():
            press(panel)
            assert panel.evaluate("panel => measure.unsaid(panel)") == [], name
            reset(panel, begun)


def test_a_slider_says_its_matrix_row_and_column_and_its_number(live):
    panel = live.panel(0)
    names = panel.evaluate("panel => measure.names(panel)")
    wanted = [
        f"{W}, {row}, column {column}"
        for W in ("W_q", "W_k", "W_v")
        for row in ("deed", "being", "thing")
        for column in (1, 2)
    ]
    assert [name for name in names if "column" in name] == wanted
    d_k = live.panel(NAMES.index("scale")).get_by_role("slider", name="d_k")
    assert d_k.get_attribute("aria-valuetext") == "64"  # not the place of 64 among the numbers to choose from


def test_tab_stops_once_at_every_control(live):
    panel = live.panel(0)
    names = panel.evaluate("panel => measure.names(panel)")
    panel.locator("select").first.focus()
    stops = []
    while panel.evaluate("panel => panel.contains(document.activeElement)") and len(stops) < 50:
        stops.append(live.page.evaluate("measure.named(document.activeElement)"))
        live.page.keyboard.press("Tab")
    assert stops == names and len(stops) == 24


def test_the_mouse_reaches_every_tenth(live):  # the last one: a drag sends more after its end
    panel = live.panel(0)
    begun, readout = shown(panel), panel.locator(".widget-readout").first
    track = panel.locator(".noUi-base").first.bounding_box()
    handle = panel.locator(".noUi-handle").first.bounding_box()
    across, mouse = handle["y"] + handle["height"] / 2, live.page.mouse
    mouse.move(handle["x"] + handle["width"] / 2, across)
    mouse.down()
    reached = set()
    for pixel in range(-2, int(track["width"]) + 4):
        mouse.move(track["x"] + pixel, across)
        reached.add(readout.inner_text().replace("−", "-"))
    mouse.up()
    assert reached == {f"{tenth / 10:.1f}" for tenth in range(-30, 31)}
    reset(panel, begun)
