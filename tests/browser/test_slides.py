"""Every slide of every notebook, as in a lecture: each press shows something new, nothing is cut or small."""

from pathlib import Path

import pytest
from driver import Lab, fresh_window

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
LIGHT, DARK = ("JupyterLab Light", 1280, 720), ("JupyterLab Dark", 1920, 1080)
# What leaves the window, what is wider than its place (an image has its own width), and the words that are
# smallest: at 1280 by 720 wanted are 24 pixels in prose, 18 in code, 16 in a panel; an index may be smaller.
FAULTS = """() => {
  const found = [], scale = Math.min(innerWidth / 1280, innerHeight / 720);
  let [share, small] = [0.99, ''];
  const say = node => `${node.tagName} ${node.textContent.trim().slice(0, 40)}`;
  for (const cell of document.querySelectorAll('.jp-Deck .jp-deck-mod-visible')) {
    const {top, bottom, right, height} = cell.getBoundingClientRect();
    if (height && (top < -1 || bottom > innerHeight + 1 || right > innerWidth + 1))
      found.push(`${Math.round(top)} to ${Math.round(bottom)}: ${say(cell)}`);
    for (const part of cell.querySelectorAll(
        '.jp-OutputArea-output, .jp-RenderedMarkdown, .cm-scroller, table'))
      if (part.checkVisibility() && (part.scrollWidth > part.clientWidth + 2
          || part.getBoundingClientRect().right > innerWidth + 1)) found.push(`too wide: ${say(part)}`);
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode, at = text.parentElement;
      if (!text.data.trim() || !at.checkVisibility({visibilityProperty: true}) || !at.getClientRects().length
          || at.closest('sub, sup, mjx-container, .jp-InputPrompt, .jp-OutputPrompt, style')) continue;
      const size = parseFloat(getComputedStyle(at).fontSize);
      const pixels = size * (at.closest('svg')?.getScreenCTM().a ?? at.currentCSSZoom) / scale;
      const wanted = at.closest('.course, .course-panel, .jupyter-widgets') ? 16
        : at.closest('code, pre, .cm-editor') ? 18 : 24;
      if (pixels / wanted < share)
        [share, small] = [pixels / wanted, `${pixels.toFixed(1)} pixels, not ${wanted}: ${say(at)}`];
    }
  }
  return small ? [...found, small] : found;
}"""


@pytest.fixture(scope="module", params=[LIGHT, DARK], ids=["light", "dark"])
def window(browser, request, tmp_path_factory):
    theme, width, height = request.param
    lab = Lab(ROOT / "notebooks", tmp_path_factory.mktemp("home"), app="lecture")
    settings = lab.folder / ".lab/settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'{{"theme": "{theme}"}}', encoding="utf-8")
    with fresh_window(browser, lab) as window:
        window.page.set_viewport_size({"width": width, "height": height})
        yield window
    lab.end()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_press_shows_something_new_and_nothing_is_cut_or_small(window, name):
    window.open_lecture(name)
    window.page.keyboard.press("Home")
    shown, faults = "", []
    for step in range(1, window.step[1] + 1):
        assert window.step[0] == step
        before, shown = shown, window.slide
        found = window.page.evaluate(FAULTS)
        found += ["nothing new"] * (shown == before)
        found += ["an unsolved exercise"] * ("still a stub" in shown)
        faults += [f"step {step}: {fault}" for fault in found]
        window.page.keyboard.press("PageDown")
    assert not faults, "\n".join(faults)
