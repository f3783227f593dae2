  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  const counted = (number) => number.toLocaleString("en-US");

  async function copy(text, button) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // Pages opened from disk have no clipboard in some browsers; a selection always works.
      const area = element("textarea", { value: text });
      document.body.append(area);
      area.select();
      button.textContent = document.execCommand("copy") ? "Copied" : "Could not copy";
      area.remove();
    }
    setTimeout(() => { button.textContent = before; }, 1500);
  }

  function prepareCopies() {
    for (const button of document.querySelectorAll(".signature .copy")) {
      button.hidden = false;
      button.addEventListener("click", () => copy(button.previousElementSibling.textContent, button));
    }
  }

  // Tables: a click on a heading sorts, a second one turns the order round; rows without a value stay last.

  function sortBy(heading) {
    const table = heading.closest("table");
    const column = Number(heading.dataset.column);
    const numeric = heading.dataset.sort === "number";
    const before = heading.getAttribute("aria-sort") || (numeric ? "ascending" : "descending");
    const falling = before === "ascending";
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const sign = falling ? -1 : 1;
    for (const body of table.tBodies) {
      const keyed = [...body.rows].filter((row) => row.cells.length > column).map((row) => {
        const cell = row.cells[column];
        return [numeric ? parseFloat(cell.dataset.value) : cell.textContent, row];
      });
      keyed.sort(([one], [two]) => {
        if (!numeric) return sign * one.localeCompare(two, "en", { numeric: true });
        return Number.isNaN(one) - Number.isNaN(two) || sign * (one - two) || 0;
      });
      body.append(...keyed.map(([, row]) => row));
    }
  }

  function prepareTables() {
    for (const heading of document.querySelectorAll("table.sortable th[data-sort]")) {
      const button = element("button", { type: "button", title: "sort" }, ...heading.childNodes);
      button.addEventListener("click", () => sortBy(heading));
      heading.append(button);
    }
  }

  // Folding: a link opens what it leads to, and one button opens or closes everything.

  function unfold(target) {
    const inner = target.querySelector(":scope > details");
    if (inner) inner.open = true;
    for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  }

  function followAnchor() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    unfold(target);
    target.scrollIntoView();
  }

  function prepareFolds() {
    const button = document.getElementById("unfold");
    const folds = [...document.querySelectorAll("details.fold")].filter((fold) => !fold.closest("#examples"));
    button.hidden = folds.length === 0;
    button.addEventListener("click", () => {
      const open = folds.some((fold) => !fold.open);
      for (const fold of folds) fold.open = open;
      button.textContent = open ? "Fold all" : "Unfold all";
    });
    // A printed page holds every section and its numbers, but for the examples.
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open], .code)")].filter((fold) => !fold.closest("#examples"));
      for (const fold of opened) fold.open = true;
    });
    addEventListener("afterprint", () => {
      for (const fold of opened) fold.open = false;
      opened = [];
    });
    addEventListener("hashchange", followAnchor);
    // A second click on the same link changes no hash.
    addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      if (link && link.getAttribute("href") === location.hash) followAnchor();
    });
    followAnchor();
  }

  prepareCopies();
  prepareTables();
  prepareFolds();
