  // Maps: points of one layer on a canvas, coloured and switched on or off by value; pointing at one shows its texts.

  const FINEST = 9999;
  const GREY = "#9aa3ad";
  const MOST = 2; // Points of more values than this are one colour: combinations of up to two, as in the paper.
  const NEAR = 14;

  async function unpackedMap(script) {
    const bytes = Uint8Array.from(atob(script.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  class PointMap {
    constructor(figure, data) {
      this.data = data;
      this.current = -1;
      this.layer = this.select("Layer", data.layers, () => this.draw());
      this.colouring = this.select("Colours", data.colourings, () => this.colour());
      this.layer.value = data.layers.length - 1;
      this.canvas = element("canvas", { tabIndex: 0 });
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", "Map of a layer: arrow keys go from point to point, Page Up and Page Down from layer to layer");
      this.legend = element("div", { className: "legend" });
      this.legend.setAttribute("role", "group");
      this.legend.setAttribute("aria-label", "Values, on or off");
      this.details = element("output", {}, "Point at a pair, or move to one with the arrow keys, to read it.");
      const hint = element("p", { className: "quiet" }, "A point of two values is of two colours; those of three or more are grey and off at first. Shift and a click, or the key o, shows one value only.");
      const side = element("div", {}, this.layer.parentNode, this.colouring.parentNode, this.legend, hint, this.details);
      figure.prepend(element("div", { className: "points" }, this.canvas, side));
      this.canvas.addEventListener("pointermove", (event) => this.point(event));
      this.canvas.addEventListener("pointerdown", (event) => this.point(event));
      this.canvas.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      this.colour();
    }

    select(title, choices, changed) {
      const options = choices.map((choice, i) => element("option", { value: i, textContent: choice.name }));
      const select = element("select", {}, ...options);
      select.addEventListener("change", changed);
      element("label", {}, title, " ", select);
      return select;
    }

    get positions() { return this.data.layers[this.layer.value].positions; }

    colour() {
      const { values, points } = this.data.colourings[this.colouring.value];
      const names = [...values, ["none", GREY], ["three or more", GREY]];
      const none = values.length, more = none + 1;
      this.colours = names.map(([, colour]) => colour);
      this.codes = points.map((codes) => (!codes.length ? [none] : codes.length > MOST ? [more] : codes));
      this.on = names.map((_, i) => i !== more);
      const counts = names.map(() => 0);
      for (const codes of this.codes) for (const code of codes) counts[code]++;
      this.buttons = names.map(([name, colour], i) => this.button(i, name, colour, counts[i]));
      this.legend.replaceChildren(...this.buttons.filter((_, i) => counts[i]));
      this.draw();
    }

    button(i, name, colour, count) {
      const swatch = element("span", { className: "swatch" });
      swatch.style.background = colour;
      const button = element("button", { type: "button" }, swatch, `${name} ${counted(count)}`);
      button.setAttribute("aria-pressed", this.on[i]);
      button.addEventListener("click", (event) => this.toggle(i, event.shiftKey));
      button.addEventListener("keydown", (event) => { if (event.key === "o") this.toggle(i, true); });
      return button;
    }

    toggle(i, only) {
      this.on = this.on.map((on, other) => (only ? other === i : other === i ? !on : on));
      this.buttons.forEach((button, other) => button.setAttribute("aria-pressed", this.on[other]));
      this.draw();
    }

    visible(i) { return this.codes[i].some((code) => this.on[code]); }

    key(event) {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const turn = { PageUp: -1, PageDown: 1 }[event.key];
      if (event.key in steps) this.step(...steps[event.key]);
      else if (turn) {
        this.layer.value = Math.max(0, Math.min(this.data.layers.length - 1, Number(this.layer.value) + turn));
        this.draw();
      } else return;
      event.preventDefault();
    }

    // The nearest point in a direction, points off to the side counting as farther.
    step(right, down) {
      const from = this.current < 0 ? [FINEST / 2, FINEST / 2] : this.positions[this.current];
      this.show(this.nearest((x, y) => {
        const ahead = (x - from[0]) * right + (y - from[1]) * down;
        const aside = Math.abs((x - from[0]) * down) + Math.abs((y - from[1]) * right);
        return this.current >= 0 && ahead <= 0 ? Infinity : Math.abs(ahead) + 3 * aside;
      }, Infinity));
    }

    point(event) {
      const box = this.canvas.getBoundingClientRect(), place = this.scale(box.width);
      const best = this.nearest((x, y) => Math.hypot(place(x) - event.clientX + box.left, place(y) - event.clientY + box.top), NEAR);
      this.show(best);
    }

    nearest(distance, least) {
      let best = -1;
      this.positions.forEach(([x, y], i) => {
        const far = i !== this.current || least === NEAR ? distance(x, y) : Infinity;
        if (far < least && this.visible(i)) [best, least] = [i, far];
      });
      return best;
    }

    show(i) {
      if (i < 0 || i === this.current) return;
      this.current = i;
      this.draw();
      const facts = this.data.colourings.map(({ name, values, points }) => [name, points[i].map((code) => values[code][0]).join(", ") || "none"]);
      const texts = Object.entries(this.data.texts).map(([title, all]) => [title, all[i]]);
      const lines = [...texts, ...facts].flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]);
      this.details.replaceChildren(element("dl", {}, ...lines));
    }

    scale(width) { return (value) => 8 + (value / FINEST) * (width - 16); }

    draw() {
      const width = this.canvas.clientWidth, ratio = devicePixelRatio || 1;
      if (!width) return;
      this.canvas.width = this.canvas.height = Math.round(width * ratio);
      const context = this.canvas.getContext("2d"), place = this.scale(width), radius = width < 500 ? 2.2 : 3.2;
      context.scale(ratio, ratio);
      context.globalAlpha = 0.8;
      this.positions.forEach(([x, y], i) => {
        const codes = this.codes[i].filter((code) => this.on[code]);
        codes.forEach((code, k) => {
          // A point of two values is two half discs.
          const start = codes.length < 2 ? 0 : Math.PI * (k + 0.5);
          context.fillStyle = this.colours[code];
          context.beginPath();
          context.arc(place(x), place(y), radius, start, start + (2 * Math.PI) / codes.length);
          context.fill();
        });
      });
      if (this.current < 0) return;
      const [x, y] = this.positions[this.current];
      context.strokeStyle = getComputedStyle(document.body).color;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(place(x), place(y), 7, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  async function prepareMaps() {
    for (const script of document.querySelectorAll(".map-data")) {
      const figure = script.closest("figure");
      try {
        new PointMap(figure, await unpackedMap(script));
      } catch (error) {
        figure.prepend(element("p", { className: "message" }, `This map cannot be explored here (${error.message}); the pictures below show all layers.`));
      }
    }
  }

  prepareMaps();
