"""Handouts in a real Chromium: on a phone, and printed."""

import pytest
from driver import ROOT

from course_lib.classroom import handout

NAMES = [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
PAGES = [*NAMES, *(f"{name}_answers" for name in NAMES), "article", "glossary"]
TOO_WIDE = """width => [...document.querySelectorAll('main *')].filter(each => each.checkVisibility()
  && each.getBoundingClientRect().right > width + 1 && !each.closest('.output'))
  .map(each => each.tagName + each.textContent.slice(0, 40))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("handouts")
    handout.write(ROOT / "notebooks", target)
    return target


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    yield page
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_on_a_phone_and_prints_on_a4(page, folder, name):
    strangers = []
    page.on(
        "request", lambda request: request.url.startswith(("file:", "data:")) or strangers.append(request.url)
    )
    page.goto((folder / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(TOO_WIDE, 360) == []
    formulas = page.locator("math").all()
    assert all(each.bounding_box()["height"] > 8 for each in formulas)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 672, "height": 1000})  # A4 less its margins
    assert page.evaluate("document.documentElement.scrollWidth") == 672, "wider than A4"
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": 360, "height": 740})
    assert strangers == []
