  // Examples: the index (codes, verdicts, probabilities) is unpacked when the section opens and answers every filter in one
  // pass over typed arrays; texts and parses lie in blocks that are unpacked when a row of theirs is shown or searched.

  const PAGE = 20;
  const HASH = "#examples?";
  const KEPT_TEXTS = 24;
  const KEPT_PARSES = 4;
  const AT_ONCE = 4;

  async function unpacked(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    const engine = new DecompressionStream("gzip");
    const writer = engine.writable.getWriter();
    // A damaged piece is reported by the reading side.
    writer.write(bytes).catch(() => {});
    writer.close().catch(() => {});
    return new Response(engine.readable).arrayBuffer();
  }

  const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

  // The page may still be arriving: a piece is whole once something stands after it.
  async function piece(id) {
    for (;;) {
      const loading = document.readyState === "loading";
      const found = document.getElementById(id);
      if (found && (!loading || found.nextElementSibling)) return found.textContent;
      if (!loading) throw new Error(`${id} is missing`);
      await pause(20);
    }
  }

  function read(buffer) {
    const bytes = new Uint8Array(buffer);
    const end = bytes.indexOf(10);
    const data = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
    const kinds = { Uint8: Uint8Array, Uint16: Uint16Array, Uint32: Uint32Array, Int8: Int8Array, Int16: Int16Array };
    const array = ({ kind, at, length }) => new kinds[kind](buffer, end + 1 + at, length);
    const coded = ({ values, codes }) => ({ values, codes: array(codes) });
    data.suite = coded(data.suite);
    data.label = coded(data.label);
    for (const name in data.factors) data.factors[name] = coded(data.factors[name]);
    for (const model of data.models) {
      model.answer = coded(model.answer);
      model.correct = array(model.correct);
      model.p = model.p.map(array);
    }
    return data;
  }

  class Blocks {
    constructor(name, size, kept) {
      Object.assign(this, { name, size, kept, held: new Map() });
    }

    // Blocks used last are kept; one that is only walked through is not.
    block(number, keep = true) {
      let found = this.held.get(number);
      if (!found) found = piece(`${this.name}-${number}`).then(unpacked).then((buffer) => JSON.parse(new TextDecoder().decode(buffer)));
      if (keep) {
        this.held.delete(number);
        this.held.set(number, found);
        if (this.held.size > this.kept) this.held.delete(this.held.keys().next().value);
      }
      return found;
    }

    async row(i) {
      const block = await this.block(Math.floor(i / this.size));
      return Object.fromEntries(Object.entries(block).map(([name, values]) => [name, values[i % this.size]]));
    }
  }

  // A walk through all texts for some words; where the words were only added to, the rows found before are enough.
  class Search {
    constructor(texts, count, needle, before) {
      Object.assign(this, { texts, count, needle, blocks: Math.ceil(count / texts.size), walked: 0, stopped: false });
      this.matches = new Uint8Array(count);
      this.within = before && before.done && needle.includes(before.needle) ? before.matches : null;
    }

    get done() { return this.walked === this.blocks; }

    async run(report) {
      let told = performance.now();
      for (let first = 0; first < this.blocks && !this.stopped; first += AT_ONCE) {
        const numbers = Array.from({ length: Math.min(AT_ONCE, this.blocks - first) }, (_, k) => first + k);
        await Promise.all(numbers.map((number) => this.walk(number)));
        this.walked += numbers.length;
        if (!this.stopped && (this.done || performance.now() - told > 120)) {
          report();
          await pause(0);
          told = performance.now();
        }
      }
    }

    async walk(number) {
      const start = number * this.texts.size;
      const end = Math.min(start + this.texts.size, this.count);
      if (this.within && !this.within.subarray(start, end).includes(1)) return;
      const { id, premise, hypothesis } = await this.texts.block(number, false);
      for (let k = 0; k < id.length; k++) {
        const found = premise[k].toLowerCase().includes(this.needle) || hypothesis[k].toLowerCase().includes(this.needle)
          || id[k].toLowerCase().includes(this.needle);
        if (found) this.matches[start + k] = 1;
      }
    }
  }

  class Examples {
    constructor(data, place) {
      this.data = data;
      this.place = place;
      this.texts = new Blocks("texts", data.block, KEPT_TEXTS);
      this.parses = new Blocks("parses", data.block, KEPT_PARSES);
      this.found = new Uint32Array(data.count);
      this.orders = new Map();
      this.suites = data.suite.values;
      this.controls = element("form", { className: "controls" });
      this.count = element("span", { className: "count", role: "status" });
      this.progress = element("progress", { hidden: true });
      this.progress.setAttribute("aria-label", "texts searched");
      this.list = element("ol", { className: "examples" });
      this.pagers = [this.pager(), this.pager(true)];
      const reset = element("button", { type: "button", textContent: "Clear filters" });
      reset.addEventListener("click", () => this.go({}));
      const line = element("div", { className: "bar-line" }, this.count, this.progress, reset, this.pagers[0].box);
      place.append(this.controls, line, this.list, element("div", { className: "bar-line" }, this.pagers[1].box));
      this.controls.addEventListener("submit", (event) => event.preventDefault());
      this.controls.addEventListener("input", (event) => this.changed(event));
      addEventListener("hashchange", () => this.follow());
      addEventListener("resize", () => this.redraw());
    }

    follow(first = false) {
      const linked = location.hash.startsWith(HASH);
      let shown = null;
      if (linked && location.hash !== this.hash) {
        this.hash = location.hash;
        shown = this.go(Object.fromEntries(new URLSearchParams(location.hash.slice(HASH.length))), false);
      } else if (first) shown = this.go({}, false);
      if (linked) showExamples();
      return shown;
    }

    go(state, write = true) {
      this.state = state;
      if (this.suites.length === 1) this.state.suite = this.suites[0];
      this.build();
      return this.filter(write);
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
      const others = numbered.filter(([, name]) => name !== this.model.name)
        .flatMap(([number, name]) => ["right", "wrong"].map((verdict) => [`${number}:${verdict}`, `${name} ${verdict}`]));
      const parts = [
        this.suites.length > 1 ? this.choice("suite", "Suite", this.suites.map((name) => [name, name])) : null,
        this.choice("label", "Gold label", this.options(data.label)),
        several ? this.choice("model", "Judged model", numbered.slice(1), data.models[0].name) : null,
        this.choice("answer", "Answer", this.options(this.model.answer, "no answer")),
        this.choice("verdict", "Right or wrong", verdicts),
        several ? this.choice("other", "And another model", others) : null,
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
      const [number, verdict] = (state.other || "").split(":");
      const other = data.models[Number(number)];
      if (verdict && other) tests.push([other.correct, Number(verdict === "right")]);
      if (this.search) tests.push([this.search.matches, 1]);
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
        const answered = model.answer.values.map((value) => value !== null);
        const rank = new Uint16Array(count);
        const starts = new Uint32Array(2004);
        for (let i = 0; i < count; i++) {
          const code = model.answer.codes[i];
          const column = columns[code];
          const sure = column ? column[i] : !model.probabilities && answered[code] ? 1000 : -1;
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

    filter(write = true) {
      const needle = (this.state.q || "").trim().toLowerCase();
      if (needle !== (this.search ? this.search.needle : "")) {
        if (this.search) this.search.stopped = true;
        this.search = needle ? new Search(this.texts, this.data.count, needle, this.search) : null;
        if (this.search) this.search.run(() => this.choose(false)).catch((error) => this.failed(error));
      }
      return this.choose(write);
    }

    choose(write) {
      const start = performance.now();
      const tests = this.tests();
      const order = this.state.sort === "confident" ? this.order(this.model) : null;
      let size = 0;
      rows: for (let k = 0; k < this.data.count; k++) {
        const i = order ? order[k] : k;
        for (const [codes, wanted] of tests) if (codes[i] !== wanted) continue rows;
        this.found[size++] = i;
      }
      this.size = size;
      performance.measure("examples-filter", { start, end: performance.now() });
      return this.show(write);
    }

    async show(write = true) {
      const pages = Math.max(1, Math.ceil(this.size / PAGE));
      const page = Math.min(Math.max(1, parseInt(this.state.page, 10) || 1), pages);
      const first = (page - 1) * PAGE;
      const shown = this.found.slice(first, Math.min(first + PAGE, this.size));
      const walking = this.search && !this.search.done;
      this.progress.hidden = !walking;
      if (walking) Object.assign(this.progress, { max: this.search.blocks, value: this.search.walked });
      const so = walking ? `${counted(this.size)} found so far` : `${counted(this.size)} of ${counted(this.data.count)} examples`;
      if (this.count.textContent !== so) this.count.textContent = so;
      for (const pager of this.pagers) pager.update(page, pages);
      if (write) this.write();
      // A later call may overtake this one while texts are unpacked, and what is on the page may be right already.
      const key = shown.join();
      if (key === this.shown) return;
      this.shown = key;
      this.list.setAttribute("aria-busy", "true");
      try {
        const rows = await Promise.all(Array.from(shown, (i) => this.texts.row(i)));
        if (this.shown !== key) return;
        this.list.start = first + 1;
        this.list.replaceChildren(...rows.map((text, k) => this.row(shown[k], text)));
      } catch (error) {
        this.failed(error);
      }
      this.list.removeAttribute("aria-busy");
    }

    failed(error) {
      this.shown = null;
      this.list.replaceChildren(element("li", { className: "message", textContent: damaged(error) }));
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

    row(i, text) {
      const { data } = this;
      const suite = this.suites[data.suite.codes[i]];
      const gold = data.label.values[data.label.codes[i]];
      const facts = [];
      if (this.suites.length > 1) facts.push(["suite", suite]);
      for (const name of data.suites[suite] || []) {
        const value = data.factors[name] && data.factors[name].values[data.factors[name].codes[i]];
        if (value !== null && value !== undefined) facts.push([name, value]);
      }
      facts.push(["id", text.id]);
      const details = element("p", { className: "details" });
      for (const [name, value] of facts) {
        details.append(element("span", {}, `${name} `, element("span", { className: "fact", textContent: value })), " ");
      }
      const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
      button.addEventListener("click", () => copy(JSON.stringify(this.plain(i, text, { gold, ...Object.fromEntries(facts) })), button));
      details.append(" ", button);
      const lines = [["Premise", text.premise], ["Hypothesis", text.hypothesis], ["Gold", gold]];
      const texts = element("div", {}, element("dl", {}, ...lines.flatMap(([name, line]) => [
        element("dt", { textContent: name }), element("dd", { textContent: line })])), details);
      const item = element("li", { className: "example" }, texts, element("div", {}, ...data.models.map((model) => this.answer(model, i))));
      if (data.parsed.includes(suite)) this.addTrees(item, details, i);
      return item;
    }

    addTrees(item, details, i) {
      const box = element("div", { className: "trees", id: `trees-${i}`, hidden: true });
      const button = element("button", { type: "button", className: "copy", textContent: "Parse trees" });
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-controls", box.id);
      button.addEventListener("click", async () => {
        box.hidden = !box.hidden;
        button.setAttribute("aria-expanded", String(!box.hidden));
        if (box.hidden || box.parses) return;
        try {
          box.parses = await this.parses.row(i);
          drawTrees(box);
        } catch (error) {
          box.textContent = damaged(error);
        }
      });
      details.append(" ", button);
      item.append(box);
    }

    redraw() {
      clearTimeout(this.redrawing);
      this.redrawing = setTimeout(() => {
        for (const box of this.list.querySelectorAll(".trees:not([hidden])")) if (box.parses) drawTrees(box);
      }, 100);
    }

    plain(i, text, facts) {
      const answers = this.data.models.filter((model) => model.correct[i] >= 0).map((model) => ({
        model: model.name,
        answer: model.answer.values[model.answer.codes[i]],
        correct: model.correct[i] === 1,
        ...(!model.probabilities || model.p[0][i] < 0 ? {} : { probabilities: model.p.map((column) => column[i] / 1000) }),
      }));
      return { premise: text.premise, hypothesis: text.hypothesis, ...facts, answers };
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

  function drawTrees(box) {
    const views = [["Premise", box.parses.premise], ["Hypothesis", box.parses.hypothesis]].map(([name, text]) => {
      const view = text ? treeView(text, box.clientWidth) : element("p", { className: "quiet", textContent: "no parse" });
      return element("div", {}, element("h4", { textContent: name }), view);
    });
    box.replaceChildren(...views);
  }

  function damaged(error) {
    return `The examples could not be unpacked (${error.message}): the file may be damaged. Make it again with: acidtest report`;
  }

  async function prepareExamples() {
    const message = document.getElementById("examples-message");
    const place = document.getElementById("examples-browser");
    if (typeof DecompressionStream === "undefined") {
      message.textContent = "This browser cannot unpack the examples (it lacks DecompressionStream). Open the page in a browser "
        + "of 2023 or later; the rows are also in predictions.parquet, in the folder of the run.";
      return;
    }
    try {
      const data = read(await unpacked(await piece("examples-index")));
      if (!data.count) return;
      const browser = new Examples(data, place);
      await browser.follow(true);
      place.hidden = false;
      message.remove();
      if (location.hash.startsWith(HASH)) showExamples();
      performance.mark("examples-ready");
    } catch (error) {
      message.textContent = damaged(error);
    }
  }

  function showExamples() {
    const section = document.getElementById("examples");
    unfold(section);
    section.scrollIntoView();
  }

  // The first opening of the section, by hand or by a link, unpacks the examples; until then they cost nothing.
  document.querySelector("#examples > details").addEventListener("toggle", prepareExamples, { once: true });
  addEventListener("hashchange", () => { if (location.hash.startsWith(HASH)) showExamples(); });
  if (location.hash.startsWith(HASH)) showExamples();
