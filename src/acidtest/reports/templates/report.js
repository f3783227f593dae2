"use strict";
(() => {
  const PAGE = 20;
  const HASH = "#examples?";

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
    const column = heading.rowSpan > 1 ? 0 : heading.cellIndex + 1;
    const numeric = heading.dataset.sort === "number";
    const before = heading.getAttribute("aria-sort") || (numeric ? "ascending" : "descending");
    const falling = before === "ascending";
    for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const sign = falling ? -1 : 1;
    const keyed = [...table.tBodies[0].rows].map((row) => {
      const cell = row.cells[column];
      return [numeric ? parseFloat(cell.dataset.value) : cell.textContent, row];
    });
    keyed.sort(([one], [two]) => {
      if (!numeric) return sign * one.localeCompare(two, "en", { numeric: true });
      return Number.isNaN(one) - Number.isNaN(two) || sign * (one - two) || 0;
    });
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  }

  function prepareTables() {
    for (const heading of document.querySelectorAll("table.sortable th[data-sort]")) {
      const button = element("button", { type: "button", title: "sort" }, ...heading.childNodes);
      button.addEventListener("click", () => sortBy(heading));
      heading.append(button);
    }
  }

  function preparePrinting() {
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = [...document.querySelectorAll("details:not([open])")];
      for (const each of closed) each.open = true;
    });
    addEventListener("afterprint", () => { for (const each of closed) each.open = false; });
  }

  // Examples: columns in typed arrays, one pass over them for a change of filters, one page of rows in the document.

  async function unpacked(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    const engine = new DecompressionStream("gzip");
    const writer = engine.writable.getWriter();
    writer.write(bytes);
    writer.close();
    return JSON.parse(await new Response(engine.readable).text());
  }

  function typed(column) {
    const Kind = column.values.length < 256 ? Uint8Array : column.values.length < 65536 ? Uint16Array : Uint32Array;
    return { values: column.values, codes: Kind.from(column.codes) };
  }

  function prepared(data) {
    data.suite = typed(data.suite);
    data.label = typed(data.label);
    for (const name in data.factors) data.factors[name] = typed(data.factors[name]);
    for (const model of data.models) {
      model.answer = typed(model.answer);
      model.correct = Int8Array.from(model.correct);
      model.p = model.p.map((column) => Int16Array.from(column));
    }
    return data;
  }

  class Examples {
    constructor(data, place) {
      this.data = data;
      this.place = place;
      this.found = new Uint32Array(data.count);
      this.orders = new Map();
      this.suites = data.suite.values;
      this.controls = element("form", { className: "controls" });
      this.count = element("span", { className: "count", role: "status" });
      this.list = element("ol", { className: "examples" });
      this.pagers = [this.pager(), this.pager(true)];
      const reset = element("button", { type: "button", textContent: "Clear filters" });
      reset.addEventListener("click", () => this.go({}));
      const line = element("div", { className: "bar-line" }, this.count, reset, this.pagers[0].box);
      place.append(this.controls, line, this.list, element("div", { className: "bar-line" }, this.pagers[1].box));
      this.controls.addEventListener("submit", (event) => event.preventDefault());
      this.controls.addEventListener("input", (event) => this.changed(event));
      addEventListener("hashchange", () => this.follow());
      this.follow(true);
    }

    follow(first = false) {
      const linked = location.hash.startsWith(HASH);
      if (linked && location.hash !== this.hash) {
        this.hash = location.hash;
        this.go(Object.fromEntries(new URLSearchParams(location.hash.slice(HASH.length))), false);
      } else if (first) this.go({}, false);
      if (linked) this.place.closest("section").scrollIntoView();
    }

    go(state, write = true) {
      this.state = state;
      if (this.suites.length === 1) this.state.suite = this.suites[0];
      this.build();
      this.filter(write);
    }

    get model() { return this.data.models[Number(this.state.model)] || this.data.models[0]; }

    get factors() { return this.data.suites[this.state.suite] || []; }

    changed(event) {
      const { name, value } = event.target;
      const any = event.target.tagName === "SELECT" ? event.target.selectedIndex === 0 : value === "";
      if (any) delete this.state[name];
      else this.state[name] = value;
      delete this.state.page;
      if (name === "suite") {
        for (const key of Object.keys(this.state)) if (key.startsWith("f.")) delete this.state[key];
      }
      if (name === "suite" || name === "model") this.build();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.filter(), event.target.type === "search" ? 150 : 0);
    }

    build() {
      const { data, state } = this;
      const focused = document.activeElement && document.activeElement.name;
      const several = data.models.length > 1;
      const numbered = data.models.map((model, number) => [String(number), model.name]);
      const verdicts = [["right", "right"], ["wrong", "wrong"], ...(several ? [["differs", "models differ"]] : [])];
      const parts = [
        this.suites.length > 1 ? this.choice("suite", "Suite", this.suites.map((name) => [name, name])) : null,
        this.choice("label", "Gold label", this.options(data.label)),
        several ? this.choice("model", "Judged model", numbered.slice(1), data.models[0].name) : null,
        this.choice("answer", "Answer", this.options(this.model.answer, "no answer")),
        this.choice("verdict", "Right or wrong", verdicts),
        ...this.factors.filter((name) => data.factors[name])
          .map((name) => this.choice(`f.${name}`, name, this.options(data.factors[name], "none", true))),
        this.choice("sort", "Order", [["confident", "most confident mistakes first"]], "as in the suite"),
      ];
      const placeholder = "words in premise, hypothesis or id";
      const search = element("input", { type: "search", name: "q", value: state.q || "", placeholder });
      const hint = this.suites.length > 1 && !state.suite ? " (choose a suite to filter by its factors)" : "";
      this.controls.replaceChildren(element("label", { className: "search" }, `Search${hint}`, search), ...parts.filter(Boolean));
      if (focused && this.controls.elements[focused]) this.controls.elements[focused].focus();
    }

    options(column, none = "none", own = false) {
      let values = column.values.map((value, code) => [value ?? "", value ?? `(${none})`, code]);
      if (own && this.suites.length > 1) {
        const suite = this.suites.indexOf(this.state.suite);
        const used = new Set();
        column.codes.forEach((code, i) => { if (this.data.suite.codes[i] === suite) used.add(code); });
        values = values.filter(([, , code]) => used.has(code));
      }
      return values;
    }

    choice(name, title, options, first = "any") {
      const select = element("select", { name }, element("option", { value: "", textContent: first }));
      for (const [value, text] of options) {
        select.append(element("option", { value, textContent: text, selected: this.state[name] === value }));
      }
      return element("label", {}, title, select);
    }

    tests() {
      const { data, state } = this;
      const model = this.model;
      const columns = { suite: data.suite, label: data.label, answer: model.answer };
      for (const name of this.factors) columns[`f.${name}`] = data.factors[name];
      const tests = [];
      for (const [name, column] of Object.entries(columns)) {
        if (state[name] === undefined || !column) continue;
        const code = column.values.findIndex((value) => (value ?? "") === state[name]);
        tests.push([column.codes, code]);
      }
      if (state.verdict === "right" || state.verdict === "wrong") tests.push([model.correct, Number(state.verdict === "right")]);
      if (state.verdict === "differs") tests.push([this.differing(), 1]);
      return tests;
    }

    differing() {
      if (!this.differs) {
        const [first, ...rest] = this.data.models.map((model) => model.correct);
        this.differs = Uint8Array.from(first, (value, i) => Number(rest.some((other) => value >= 0 && other[i] === 1 - value)));
      }
      return this.differs;
    }

    // Wrong rows by falling, then right rows by rising probability of the answer: a counting sort over thousandths.
    order(model) {
      if (!this.orders.has(model)) {
        const { count } = this.data;
        const columns = model.answer.values.map((value) => model.p[model.labels.indexOf(value)]);
        const rank = new Uint16Array(count);
        const starts = new Uint32Array(2004);
        for (let i = 0; i < count; i++) {
          const column = columns[model.answer.codes[i]];
          const sure = column ? column[i] : -1;
          rank[i] = sure < 0 ? 2002 : model.correct[i] === 0 ? 1000 - sure : 1001 + sure;
          starts[rank[i] + 1]++;
        }
        for (let k = 1; k < starts.length; k++) starts[k] += starts[k - 1];
        const order = new Uint32Array(count);
        for (let i = 0; i < count; i++) order[starts[rank[i]]++] = i;
        this.orders.set(model, order);
      }
      return this.orders.get(model);
    }

    texts() {
      const { premise, hypothesis, id } = this.data;
      this.lower ??= premise.map((text, i) => `${text}\n${hypothesis[i]}\n${id[i]}`.toLowerCase());
      return this.lower;
    }

    filter(write = true) {
      const start = performance.now();
      const tests = this.tests();
      const needle = (this.state.q || "").trim().toLowerCase();
      const texts = needle ? this.texts() : null;
      const order = this.state.sort === "confident" ? this.order(this.model) : null;
      let size = 0;
      rows: for (let k = 0; k < this.data.count; k++) {
        const i = order ? order[k] : k;
        for (const [codes, wanted] of tests) if (codes[i] !== wanted) continue rows;
        if (needle && !texts[i].includes(needle)) continue;
        this.found[size++] = i;
      }
      this.size = size;
      this.show(write);
      performance.measure("examples-filter", { start, end: performance.now() });
    }

    show(write = true) {
      const pages = Math.max(1, Math.ceil(this.size / PAGE));
      const page = Math.min(Math.max(1, parseInt(this.state.page, 10) || 1), pages);
      const first = (page - 1) * PAGE;
      const shown = this.found.subarray(first, Math.min(first + PAGE, this.size));
      this.count.textContent = `${counted(this.size)} of ${counted(this.data.count)} examples`;
      this.list.start = first + 1;
      this.list.replaceChildren(...Array.from(shown, (row) => this.row(row)));
      for (const pager of this.pagers) pager.update(page, pages);
      if (write) this.write();
    }

    write() {
      const chosen = { ...this.state };
      if (this.suites.length === 1) delete chosen.suite;
      this.hash = HASH + new URLSearchParams(chosen);
      history.replaceState(null, "", this.hash);
    }

    pager(below = false) {
      const status = element("span", { className: "quiet" });
      const steps = [["First", () => 1], ["Previous", (page) => page - 1], ["Next", (page) => page + 1], ["Last", (_, pages) => pages]];
      let page = 1;
      let pages = 1;
      const buttons = steps.map(([textContent, target]) => {
        const button = element("button", { type: "button", textContent });
        button.addEventListener("click", () => {
          this.state.page = String(target(page, pages));
          this.show();
          if (below) this.count.scrollIntoView();
        });
        return button;
      });
      const update = (now, last) => {
        [page, pages] = [now, last];
        status.textContent = `page ${counted(now)} of ${counted(last)}`;
        buttons.forEach((button, number) => { button.disabled = number < 2 ? now === 1 : now === last; });
      };
      return { box: element("div", { className: "pager" }, status, ...buttons), update };
    }

    row(i) {
      const { data } = this;
      const suite = this.suites[data.suite.codes[i]];
      const gold = data.label.values[data.label.codes[i]];
      const facts = [];
      if (this.suites.length > 1) facts.push(["suite", suite]);
      for (const name of data.suites[suite] || []) {
        const value = data.factors[name] && data.factors[name].values[data.factors[name].codes[i]];
        if (value !== null && value !== undefined) facts.push([name, value]);
      }
      facts.push(["id", data.id[i]]);
      const details = element("p", { className: "details" });
      for (const [name, value] of facts) {
        details.append(element("span", {}, `${name} `, element("span", { className: "fact", textContent: value })), " ");
      }
      const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
      button.addEventListener("click", () => copy(JSON.stringify(this.plain(i, { gold, ...Object.fromEntries(facts) })), button));
      details.append(" ", button);
      const lines = [["Premise", data.premise[i]], ["Hypothesis", data.hypothesis[i]], ["Gold", gold]];
      const texts = element("div", {}, element("dl", {}, ...lines.flatMap(([name, text]) => [
        element("dt", { textContent: name }), element("dd", { textContent: text })])), details);
      return element("li", { className: "example" }, texts, element("div", {}, ...data.models.map((model) => this.answer(model, i))));
    }

    plain(i, facts) {
      const { data } = this;
      const answers = data.models.filter((model) => model.correct[i] >= 0).map((model) => ({
        model: model.name,
        answer: model.answer.values[model.answer.codes[i]],
        correct: model.correct[i] === 1,
        ...(!model.probabilities || model.p[0][i] < 0 ? {} : { probabilities: model.p.map((column) => column[i] / 1000) }),
      }));
      return { premise: data.premise[i], hypothesis: data.hypothesis[i], ...facts, answers };
    }

    answer(model, i) {
      const named = element("span", { className: "role", textContent: this.data.models.length > 1 ? model.name : "Answer" });
      if (model.correct[i] < 0) return element("div", { className: "answer" }, element("p", {}, named, " not asked"));
      const given = model.answer.values[model.answer.codes[i]];
      const right = model.correct[i] === 1;
      const verdict = element("span", { className: right ? "right" : "wrong", textContent: right ? "right" : "wrong" });
      const line = element("p", {}, named, " ", element("b", { textContent: given ?? "none" }), ", ", verdict);
      if (!model.probabilities || model.p[0][i] < 0) return element("div", { className: "answer" }, line);
      const bars = element("div", { className: "bars" });
      model.p.forEach((column, k) => {
        const fill = element("i");
        fill.style.width = `${column[i] / 10}%`;
        const track = element("span", { className: model.labels[k] === given ? "track chosen" : "track" }, fill);
        const value = element("span", { className: "value", textContent: (column[i] / 1000).toFixed(3) });
        bars.append(element("span", { textContent: model.labels[k] }), track, value);
      });
      return element("div", { className: "answer" }, line, bars);
    }
  }

  async function prepareExamples() {
    const message = document.getElementById("examples-message");
    const place = document.getElementById("examples-browser");
    const packed = document.getElementById("examples-data");
    if (typeof DecompressionStream === "undefined") {
      message.textContent = "This browser cannot unpack the examples (it lacks DecompressionStream). Open the page in a browser "
        + "of 2023 or later; the rows are also in predictions.parquet, in the folder of the run.";
      return;
    }
    try {
      const data = prepared(await unpacked(packed.textContent));
      packed.remove();
      if (!data.count) return;
      new Examples(data, place);
      place.hidden = false;
      message.remove();
      performance.mark("examples-ready");
    } catch (error) {
      message.textContent = `The examples could not be unpacked (${error.message}): the file may be damaged. `
        + "Make it again with: acidtest report";
    }
  }

  prepareCopies();
  prepareTables();
  preparePrinting();
  // After the first paint, so that a large report can be read before its examples are there.
  requestAnimationFrame(() => setTimeout(prepareExamples, 0));
})();
