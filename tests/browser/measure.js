// What the browser shows of a panel, measured: each function returns the faults it finds, in words.
window.measure = (() => {
  const parts = '.widget-label, .course-matrix > .widget-html, .slider-container, .widget-readout, select, input, '
    + 'button, table, figcaption, svg, [role=status]';
  const controls = '.noUi-handle, select, input, button';
  const seen = (panel, selector) => [...panel.querySelectorAll(selector)].filter(
    element => element.checkVisibility() && element.getBoundingClientRect().width);
  const who = element => (element.tagName + '.' + (element.className.baseVal ?? element.className) + ' "'
    + element.textContent.trim().slice(0, 25) + '"').replace('. ', ' ');
  const overlap = (a, b, slack) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack;
  const inside = (a, b, slack) => a.left >= b.left - slack && a.right <= b.right + slack
    && a.top >= b.top - slack && a.bottom <= b.bottom + slack;
  const pairs = (list, test) => list.flatMap((a, i) => list.slice(i + 1).filter(b => test(a, b)).map(b => [a, b]));

  // Everything lies in the panel, beside and not upon each other, and the panel in its cell.
  function boxes(panel) {
    const box = element => element.getBoundingClientRect(), own = box(panel), faults = [];
    for (let at = panel; !at.matches('.jp-Cell'); at = at.parentElement)
      if (at.scrollWidth > at.clientWidth + 1 || (at == panel && at.scrollHeight > at.clientHeight + 1))
        faults.push(`${who(at)}: ${at.scrollWidth} in ${at.clientWidth}`);
    if (own.width > 1100.5) faults.push(`the panel is ${own.width} wide`);
    const all = seen(panel, parts);
    for (const part of all) {
      if (!inside(box(part), own, 1)) faults.push(`${who(part)} leaves the panel`);
      if (!part.matches('svg, input, select') && part.scrollWidth > part.clientWidth + 1 && part.clientWidth)
        faults.push(`${who(part)} has ${part.scrollWidth} in ${part.clientWidth}`);
    }
    for (const [a, b] of pairs(all, (a, b) => overlap(box(a), box(b), 1)))
      faults.push(`${who(a)} lies upon ${who(b)}`);
    return faults;
  }

  // The words of every picture lie in it and not upon each other.
  function words(panel) {
    return seen(panel, 'svg').flatMap(svg => {
      const frame = svg.viewBox.baseVal, about = svg.getAttribute('aria-label').slice(0, 30);
      const view = {left: frame.x, top: frame.y, right: frame.x + frame.width, bottom: frame.y + frame.height};
      const texts = [...svg.querySelectorAll('text')].map(text => {
        const {x, y, width, height} = text.getBBox();  // the line of the font: letters fill three quarters of it
        return {word: text.textContent, left: x, right: x + width, top: y + height / 8, bottom: y + height * 7 / 8};
      });
      return [
        ...texts.filter(text => !inside(text, view, 1)).map(text => `${about}: ${text.word} leaves the picture`),
        ...pairs(texts, (a, b) => overlap(a, b, 0.5)).map(([a, b]) => `${about}: ${a.word} lies upon ${b.word}`)];
    });
  }

  // Colors as [red, green, blue, alpha]; what stands before what.
  function color(text) {
    const numbers = text.match(/[\d.]+/g).map(Number);
    if (text.startsWith('color(srgb')) numbers.splice(0, 3, ...numbers.slice(0, 3).map(x => x * 255));
    return [...numbers.slice(0, 3), numbers[3] ?? 1];
  }
  const over = (top, ground) => [0, 1, 2].map(i => top[i] * top[3] + ground[i] * (1 - top[3]));
  function ground(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(color(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  }
  function light(rgb) {
    const [r, g, b] = rgb.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  function contrast(a, b) {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }
  function stands(element, ink, floor) {  // the contrast of an ink, as solid as its elements are, with its ground
    const top = color(ink);
    for (let at = element; at; at = at.parentElement) top[3] *= getComputedStyle(at).opacity;
    return contrast(over(top, floor), floor);
  }

  // Text stands out at 4.5:1 at least; lines, bars, tracks and handles at 3:1.
  function faint(panel) {
    const faults = [], page = ground(panel), counts = {text: 0, drawn: 0};
    const judge = (element, ink, floor, least, what) => {
      const found = stands(element, ink, floor);
      if (found < least) faults.push(`${who(element)}: ${what} at ${found.toFixed(2)}`);
    };
    const walk = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode());) {
      const element = node.parentElement, style = getComputedStyle(element);
      if (!node.data.trim() || !element.checkVisibility() || element.matches('style, option')) continue;
      counts.text += 1;
      judge(element, element.closest('svg') ? style.fill : style.color, ground(element), 4.5, 'text');
    }
    for (const box of seen(panel, 'select, input')) judge(box, getComputedStyle(box).color, ground(box), 4.5, 'text');
    for (const mark of seen(panel, 'svg path, svg g')) {
      const style = getComputedStyle(mark);
      if (style.stroke != 'none' && parseFloat(style.strokeWidth)) judge(mark, style.stroke, page, 3, 'line');
      else if (style.fill != 'none' && style.fillOpacity == 1) judge(mark, style.fill, page, 3, 'bar');
      counts.drawn += 1;
    }
    for (const edge of seen(panel, '.noUi-target, .noUi-handle, select, input, button'))
      judge(edge, getComputedStyle(edge).borderTopColor, page, 3, 'edge');
    return {faults, ...counts};
  }

  // How far each cell of a table of weights stands out from the page: [number shown, contrast].
  function salience(panel, caption) {
    const page = ground(panel);
    return seen(panel, 'table').filter(table => table.caption.textContent.startsWith(caption)).flatMap(
      table => [...table.querySelectorAll('td')].filter(cell => cell.textContent).map(
        cell => [Number(cell.textContent), contrast(ground(cell), page)]));
  }

  // What a screen reader is told.
  const named = element => element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent.trim()
    ?? element.textContent.trim();
  function unsaid(panel) {
    const faults = [], names = seen(panel, controls).map(named);
    names.forEach((name, i) => {
      if (!name || /null|undefined|\[object/.test(name)) faults.push(`control ${i} is called "${name}"`);
      if (names.indexOf(name) < i) faults.push(`two controls are called ${name}`);
    });
    for (const element of seen(panel, '[title]'))
      if (element.title == 'null') faults.push(`${who(element)} has the title null`);
    for (const slider of seen(panel, '.widget-slider')) {
      const said = slider.querySelector('.noUi-handle').getAttribute('aria-valuetext');
      const shown = slider.querySelector('.widget-readout');
      if (shown.checkVisibility() && said != shown.textContent) faults.push(`${said} is said, ${shown.textContent} shown`);
    }
    for (const svg of seen(panel, 'svg'))
      if (svg.getAttribute('role') != 'img' || !/\d/.test(svg.getAttribute('aria-label')))
        faults.push(`a picture without a description: ${svg.getAttribute('aria-label')}`);
    for (const table of seen(panel, 'table')) {
      if (!table.caption?.textContent) faults.push('a table without a caption');
      for (const head of table.querySelectorAll('th'))
        if (head.scope != (head.closest('thead') ? 'col' : 'row')) faults.push(`${who(head)} heads nothing`);
    }
    return faults;
  }

  return {boxes, words, faint, salience, unsaid, names: panel => seen(panel, controls).map(named), named};
})();
