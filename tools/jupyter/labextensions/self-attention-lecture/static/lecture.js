/* The manners of lecture mode, on top of the deck of jupyterlab-slideshow, which arranges the slides.

Hand-written in the form in which JupyterLab loads extensions, so that nothing has to be built. What the deck does not do:
- every press shows something new (the deck stops at each cell), for Space, arrows, PageUp and PageDown of a clicker;
- it starts from the nearest slide, whatever cell is chosen, and a click on a cell hides nothing;
- no other key reaches the notebook; keys stay with a slider or a field, not with a button or a box that was clicked;
  b blanks the screen; Escape comes out;
- everything grows with the window; p opens a second window with the notes of the slide.
In a lecture (`make lecture`, told by the name of the workspace) the deck starts by itself and the cells run.
*/
(() => {
  const NAME = "self-attention-lecture";
  const LECTURE = location.pathname.includes("/workspaces/lecture");
  const STYLE = new URL("lecture.css", document.currentScript.src).href;
  const FORWARD = ["PageDown", " ", "ArrowRight", "ArrowDown"], BACK = ["PageUp", "ArrowLeft", "ArrowUp"];
  const CONTROL = ".jp-OutputArea :is(input, select, textarea, button, .noUi-handle), summary, a[href]";
  let shared, app, tracker, presenter, counter, shown; // shown: the step on the screen, and its notebook
  const place = new WeakMap(); // notebook -> number of its current step

  const sizes = new ResizeObserver(() => presenting() && fit());

  const panel = () => tracker.currentWidget;
  const presenting = () => document.body.dataset.jpDeckMode == "presenting" && panel();
  const kind = cell => cell.model.getMetadata("slideshow")?.slide_type ?? "-";

  /* The steps of a notebook: what each press shows. page: the cells of its slide, up to the last step; seen: those up
  to this step; notes: the lecturer's notes in the page. */
  function steps(notebook) {
    const pages = [];
    notebook.widgets.forEach((cell, i) => {
      const type = kind(cell), page = pages.at(-1);
      if (type == "skip") return;
      if (type == "notes") page?.notes.push(i);
      else if (type == "slide" || type == "subslide" || !page) pages.push({steps: [[i]], notes: []});
      else if (type == "fragment") page.steps.push([i]);
      else page.steps.at(-1).push(i);
    });
    return pages.flatMap(({steps, notes}) => steps.map((step, i) => (
      {page: steps.flat(), seen: steps.slice(0, i + 1).flat(), step, notes})));
  }

  /* Show a step; the deck does so by the active cell, whichever way that was chosen. */
  function show(notebook) {
    const all = steps(notebook), at = place.get(notebook) ?? 0;
    sizes.disconnect();
    shown = {notebook, ...all[at]};
    shown.page.forEach(i => sizes.observe(notebook.widgets[i].node));
    fit();
    notebook.node.scrollTop = 0;
    counter.children[1].textContent = `${at + 1} / ${all.length}`;
    tell(notebook, all, at);
  }

  function go(notebook, at) {
    const all = steps(notebook);
    place.set(notebook, Math.max(0, Math.min(at, all.length - 1)));
    const cell = all[place.get(notebook)].step.at(-1);
    notebook.mode = "command";
    notebook.activeCellIndex = cell;
    notebook.deselectAll();
    show(notebook);
    notebook.widgets[cell].node.focus({preventScroll: true});
  }

  const move = step => go(panel().content, place.get(panel().content) + step);

  /* The step in which a cell is, or the last one before it. */
  function nearest(notebook, cell) {
    return Math.max(0, steps(notebook).findLastIndex(({step}) => step[0] <= cell));
  }

  function activeChanged(notebook) {
    if (!presenting() || notebook != panel().content) return;
    const all = steps(notebook), active = notebook.activeCellIndex;
    if (!all[place.get(notebook)]?.seen.includes(active)) place.set(notebook, nearest(notebook, active));
    Promise.resolve().then(() => show(notebook)); // after the deck, which is told of it later
  }

  function started() {
    if (!presenting()) return;
    const {content} = panel(), all = steps(content);
    if (!all[place.get(content)]?.seen.includes(content.activeCellIndex))
      place.set(content, nearest(content, content.activeCellIndex));
    document.body.append(counter);
    go(content, place.get(content));
  }

  function ended() {
    const notebook = panel()?.content;
    blank(false);
    counter.remove();
    if (notebook) requestAnimationFrame(() => notebook.scrollToItem(notebook.activeCellIndex, "center"));
  }

  /* The slide keeps its proportions: what fits in 1280 by 720 fits in every window. When a slide fills up, also because
  a panel grows, what came first leaves; a single step that is too much is drawn smaller, not cut. */
  function fit() {
    const {notebook, page, seen, step} = shown, {style} = document.body;
    const zoom = Math.min(innerWidth / 1280, innerHeight / 720), room = innerHeight / zoom;
    const tall = cells => cells.reduce((sum, i) => sum + notebook.widgets[i].node.offsetHeight, 20);
    const arrange = cells => notebook.widgets.forEach((cell, i) => {
      cell.toggleClass("jp-deck-mod-onscreen", cells.includes(i));
      cell.toggleClass("jp-deck-mod-visible", cells.includes(i) && seen.includes(i));
    });
    style.setProperty("--lecture-zoom", zoom);
    arrange(page);
    if (tall(page) <= room) return;
    const first = seen.findIndex((_, i) => seen.length - i <= step.length || tall(seen.slice(i)) <= room);
    arrange(seen.slice(first));
    style.setProperty("--lecture-zoom", Math.min(zoom, innerHeight / tall(seen.slice(first))));
  }

  /* The lecturer's notes in a window of their own. */
  function tell(notebook, all, at) {
    if (!presenter || presenter.closed) return;
    const minutes = Math.floor((Date.now() - presenter.since) / 60000);
    const notes = all[at].notes.map(
      i => notebook.widgets[i].node.querySelector(".jp-RenderedMarkdown")?.innerHTML ?? "");
    presenter.document.body.innerHTML = `<p>Step ${at + 1} of ${all.length}, ${minutes} min since this window was
      opened; at 20 seconds a step it would be ${Math.floor(at / 3)}. Space and PageDown go on here too.</p>
      ${notes.join("") || "<p>No notes for this slide.</p>"}`;
  }

  function openPresenter() {
    presenter = window.open("", "lecture-notes", "width=900,height=700");
    if (!presenter) return;
    presenter.since ??= Date.now();
    presenter.document.title = "Lecturer's notes";
    presenter.document.head.innerHTML = `<link rel="stylesheet" href="${STYLE}">`;
    presenter.document.body.className = "lecture-notes";
    presenter.onkeydown = press;
    show(panel().content);
  }

  const blank = on => document.body.toggleAttribute("data-lecture-blank", on);

  function press(event) {
    if (!presenting()) return;
    const {key, target} = event, notebook = panel().content;
    const blanked = document.body.hasAttribute("data-lecture-blank");
    const stop = () => (event.preventDefault(), event.stopImmediatePropagation());
    const control = target.closest?.(CONTROL), editing = target.closest?.(".cm-editor");
    if (target.closest?.(".jp-Dialog, .lm-Menu")) return;
    if (key == "Enter" && (event.shiftKey || event.altKey)) // runs where it stands, neither goes on nor adds a cell
      return stop(), app.commands.execute("notebook:run-cell");
    if (editing || event.ctrlKey || event.metaKey) return;
    if (key == "Escape") {
      stop();
      return blanked ? blank(false) : app.commands.execute("deck:stop");
    }
    if (control && !key.startsWith("Page")) return control.toggleAttribute("data-lm-suppress-shortcuts", true);
    const step = FORWARD.includes(key) ? (key == " " && event.shiftKey ? -1 : 1) : BACK.includes(key) ? -1 : 0;
    if (key == "Tab" || /^F\d+$/.test(key)) return;
    stop();
    if (blanked) return (step || key == "b" || key == ".") && blank(false);
    if (step) move(step);
    else if (key == "Home") go(notebook, 0);
    else if (key == "End") go(notebook, Infinity);
    else if (key == "b" || key == ".") blank(true);
    else if (key == "p") openPresenter();
    else if (key == "Enter" && notebook.activeCell.model.type == "code") notebook.mode = "edit";
  }

  /* In a lecture: begin on the first slide, and run all cells: without a kernel's state no panel lives. */
  async function lecture(panel) {
    await Promise.all([panel.context.ready, panel.revealed, panel.sessionContext.ready]);
    panel.content.activeCellIndex = 0;
    if (!presenting()) await app.commands.execute("deck:start");
    const {NotebookActions} = await load("@jupyterlab/notebook");
    await NotebookActions.runCells(panel.content, [...panel.content.widgets], panel.sessionContext);
    show(panel.content);
  }

  function makeCounter() {
    const bar = document.createElement("nav");
    bar.id = "lecture-counter";
    bar.innerHTML = "<button title='back'>‹</button><span></span><button title='on'>›</button>";
    bar.onmousedown = event => event.preventDefault(); // the focus stays where it is
    bar.onclick = ({target}) => target.title && move(target.title == "on" ? 1 : -1);
    return bar;
  }

  const activate = (application, notebooks) => {
    [app, tracker, counter] = [application, notebooks, makeCounter()];
    document.head.insertAdjacentHTML("beforeend", `<link rel="stylesheet" href="${STYLE}">`);
    window.addEventListener("keydown", press, true);
    window.addEventListener("resize", () => presenting() && fit());
    // After a mouse drag the focus is with the slider, not with its cell.
    window.addEventListener("pointerup", ({target}) => presenting() &&
      setTimeout(() => target.closest?.(".noUi-target")?.querySelector(".noUi-handle").focus()), true);
    // After a click on a button or a box it is with the slide: Space goes on, and does not press that again.
    window.addEventListener("click", ({target, detail}) => presenting() && detail &&
      target.closest?.(".jp-OutputArea button, .widget-checkbox") &&
      setTimeout(() => panel().content.activeCell.node.focus({preventScroll: true})), true);
    window.addEventListener("dblclick", event => presenting() && // would open the source of a text
      event.target.closest?.(".jp-MarkdownOutput") && event.stopImmediatePropagation(), true);
    app.commands.commandExecuted.connect((_, {id, result}) => id.startsWith("deck:st") || id == "deck:toggle" ?
      result.then(() => presenting() ? started() : ended()) : 0);
    tracker.widgetAdded.connect((_, added) => {
      added.content.activeCellChanged.connect(activeChanged);
      if (LECTURE) lecture(added);
    });
    tracker.currentChanged.connect(() => setTimeout(started, 100));
  };

  const load = async name => (await Object.values(shared[name])[0].get())();
  (window._JUPYTERLAB ??= {})[NAME] = {
    init: scope => void (shared = scope),
    get: async () => {
      const {INotebookTracker} = await load("@jupyterlab/notebook");
      const plugin = {id: `${NAME}:plugin`, autoStart: true, requires: [INotebookTracker], activate};
      return () => ({__esModule: true, default: plugin});
    },
  };
})();
