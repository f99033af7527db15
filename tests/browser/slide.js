// The words on the slide that is shown.
window.slide = {
  shown: () => [...document.querySelectorAll('.jp-Deck .jp-Cell.jp-deck-mod-visible')]
    .map(cell => cell.innerText.trim()).filter(Boolean).join('\n'),
};
