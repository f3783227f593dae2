  // Maps of layers: points to hover, colour and toggle; nothing here is loaded from anywhere.

  const PALETTE = ["#2f7ed8", "#e8590c", "#2b9348", "#9c36b5", "#c99700", "#0c8599", "#d6336c", "#7a5195",
    "#74b816", "#a0522d", "#4263eb", "#f06595", "#1098ad", "#868e00", "#c92a2a", "#5f7d95"];
  const GREY = "#9aa3ad";
  const MOST = 2; // Points of more values than this are one colour: combinations of up to two, as in the paper.
  const NEAR = 14;
  const MOVE = 350;

  async function unpackedPoints() {
    const text = document.getElementById("points").textContent;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const content = await new Response(stream).arrayBuffer();
    const length = new DataView(content).getUint32(0, true);
    const data = JSON.parse(new TextDecoder().decode(new Uint8Array(content, 4, length)));
    data.places = new Uint16Array(content, 4 + length + (length % 2));
    return data;
  }

  class LayerMaps {
    constructor(data) {
      this.data = data;
      this.count = data.premise.length;
      this.layer = data.layers.length - 1;
      this.current = -1;
      this.canvas = document.getElementById("map");
      this.slider = document.getElementById("layer");
      this.choice = document.getElementById("colouring");
      this.details = document.getElementById("pair");
      this.shown = this.places(this.layer);
      data.colourings.forEach((each, i) => this.choice.append(element("option", { value: i, textContent: each.name })));
      this.slider.max = data.layers.length - 1;
      this.slider.value = this.layer;
      this.listen();
      this.makeThumbnails();
      this.colour(0);
      this.go(this.layer);
    }

    places(layer) {
      const start = layer * 2 * this.count;
      return this.data.places.subarray(start, start + 2 * this.count);
    }

    listen() {
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
      this.choice.addEventListener("change", () => this.colour(Number(this.choice.value)));
      document.getElementById("all-on").addEventListener("click", () => this.switchAll(true));
      document.getElementById("all-off").addEventListener("click", () => this.switchAll(false));
      this.canvas.addEventListener("pointermove", (event) => this.look(event));
      this.canvas.addEventListener("pointerdown", (event) => this.look(event));
      this.canvas.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawAll());
    }

    key(event) {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const turns = { PageUp: -1, PageDown: 1 };
      if (event.key in steps) this.step(...steps[event.key]);
      else if (event.key in turns) this.go(this.layer + turns[event.key]);
      else if (event.key === "Escape") this.show(-1);
      else return;
      event.preventDefault();
    }

    // The nearest point in a direction, points off to the side counting as farther.
    step(right, down) {
      let best = -1, least = Infinity;
      const from = this.current < 0 ? [32768, 32768] : [this.x(this.current), this.y(this.current)];
      for (let i = 0; i < this.count; i++) {
        if (i === this.current || !this.visible(i)) continue;
        const x = this.x(i) - from[0], y = this.y(i) - from[1];
        const ahead = x * right + y * down, aside = Math.abs(x * down) + Math.abs(y * right);
        if (this.current >= 0 && ahead <= 0) continue;
        const far = Math.abs(ahead) + 3 * aside;
        if (far < least) [best, least] = [i, far];
      }
      if (best >= 0) this.show(best);
    }

    x(i) { return this.shown[i]; }
    y(i) { return this.shown[this.count + i]; }

    colour(number) {
      const way = this.data.colourings[number];
      const names = [...way.values];
      const extra = { none: names.push("none") - 1, more: names.push("three or more") - 1 };
      this.codes = way.rows.map((own) => (!own.length ? [extra.none] : own.length > MOST ? [extra.more] : own));
      const counts = names.map(() => 0);
      for (const codes of this.codes) for (const code of codes) counts[code]++;
      this.colours = names.map((_, i) => (i < way.values.length ? PALETTE[i % PALETTE.length] : GREY));
      this.on = names.map((_, i) => i !== extra.more);
      this.makeLegend(names, counts);
      this.drawAll();
    }

    makeLegend(names, counts) {
      const legend = document.getElementById("legend");
      this.buttons = names.map((name, i) => {
        const swatch = element("span", { className: "swatch" });
        swatch.style.background = this.colours[i];
        const count = element("small", { textContent: ` ${counted(counts[i])}` });
        const button = element("button", { type: "button", title: "on or off; with Shift, or by the key o, this one only" }, swatch, name, count);
        button.addEventListener("click", (event) => this.toggle(i, event.shiftKey));
        button.addEventListener("keydown", (event) => { if (event.key === "o") this.toggle(i, true); });
        return button;
      });
      const used = this.buttons.filter((_, i) => counts[i]);
      legend.replaceChildren(...used.map((button) => element("li", {}, button)));
      this.showLegend();
    }

    toggle(i, only) {
      if (only) this.on = this.on.map((_, other) => other === i);
      else this.on[i] = !this.on[i];
      this.showLegend();
      this.drawAll();
    }

    switchAll(on) {
      this.on.fill(on);
      this.showLegend();
      this.drawAll();
    }

    showLegend() {
      this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", this.on[i]));
    }

    visible(i) { return this.codes[i].some((code) => this.on[code]); }

    go(layer) {
      layer = Math.max(0, Math.min(this.data.layers.length - 1, layer));
      this.layer = layer;
      this.slider.value = layer;
      this.slider.setAttribute("aria-valuetext", this.data.layers[layer]);
      document.getElementById("layer-name").textContent = this.data.layers[layer];
      this.thumbnails.forEach((button, i) => button.setAttribute("aria-pressed", i === layer));
      this.move(this.places(layer));
    }

    move(target) {
      cancelAnimationFrame(this.frame);
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
        this.shown = target;
        this.draw();
        return;
      }
      const from = Float32Array.from(this.shown), start = performance.now();
      const tick = (now) => {
        const part = Math.min(1, Math.max(0, (now - start) / MOVE)), eased = part * part * (3 - 2 * part);
        this.shown = part < 1 ? from.map((value, i) => value + (target[i] - value) * eased) : target;
        this.draw();
        if (part < 1) this.frame = requestAnimationFrame(tick);
      };
      this.frame = requestAnimationFrame(tick);
    }

    look(event) {
      const box = this.canvas.getBoundingClientRect();
      const side = this.side(box.width);
      let best = -1, least = NEAR * NEAR;
      for (let i = 0; i < this.count; i++) {
        if (!this.visible(i)) continue;
        const x = side(this.x(i)) - (event.clientX - box.left), y = side(this.y(i)) - (event.clientY - box.top);
        if (x * x + y * y < least) [best, least] = [i, x * x + y * y];
      }
      if (best >= 0 || event.pointerType === "mouse") this.show(best);
    }

    show(i) {
      if (i === this.current) return;
      this.current = i;
      this.draw();
      if (i < 0) return;
      const facts = this.data.colourings.map((way) => {
        const own = way.rows[i].map((code) => way.values[code]).join(", ") || "none";
        return [element("dt", { textContent: way.name }), element("dd", { textContent: own })];
      });
      const said = (role, text) => element("p", {}, element("span", { className: "role", textContent: role }), " ", text);
      this.details.replaceChildren(said("Premise", this.data.premise[i]), said("Hypothesis", this.data.hypothesis[i]),
        element("dl", {}, ...facts.flat()));
    }

    side(width) {
      const margin = Math.max(6, width * 0.015);
      return (value) => margin + (value / 65535) * (width - 2 * margin);
    }

    draw() {
      const width = this.canvas.clientWidth;
      if (!width) return;
      this.paint(this.canvas, width, this.shown, width < 500 ? 2.2 : 3.2);
      if (this.current < 0) return;
      const context = this.canvas.getContext("2d"), side = this.side(width);
      context.strokeStyle = getComputedStyle(document.body).color;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(side(this.x(this.current)), side(this.y(this.current)), 7, 0, 2 * Math.PI);
      context.stroke();
    }

    paint(canvas, width, places, radius) {
      const ratio = devicePixelRatio || 1;
      canvas.width = canvas.height = Math.round(width * ratio);
      const context = canvas.getContext("2d"), side = this.side(width);
      context.scale(ratio, ratio);
      context.globalAlpha = 0.8;
      for (let i = 0; i < this.count; i++) {
        const codes = this.codes[i].filter((code) => this.on[code]);
        const x = side(places[i]), y = side(places[this.count + i]);
        codes.forEach((code, k) => {
          // A point of two values is two half discs.
          const start = codes.length < 2 ? 0 : Math.PI * (k + 0.5);
          context.fillStyle = this.colours[code];
          context.beginPath();
          context.arc(x, y, radius, start, start + (2 * Math.PI) / codes.length);
          context.fill();
        });
      }
      context.globalAlpha = 1;
    }

    makeThumbnails() {
      this.thumbnails = this.data.layers.map((name, layer) => {
        const button = element("button", { type: "button" }, element("canvas"), element("span", { textContent: name }));
        button.addEventListener("click", () => this.go(layer));
        return button;
      });
      document.getElementById("thumbnails").replaceChildren(...this.thumbnails);
    }

    drawAll() {
      this.draw();
      this.thumbnails.forEach((button, layer) => this.paint(button.firstChild, 104, this.places(layer), 1.1));
    }
  }

  async function prepareMaps() {
    const message = document.getElementById("maps-message");
    if (!message) return;
    if (typeof DecompressionStream === "undefined") {
      message.textContent = "This browser cannot unpack the maps (it lacks DecompressionStream); use one of 2023 or later.";
      return;
    }
    try {
      const data = await unpackedPoints();
      document.getElementById("maps-view").hidden = false;
      new LayerMaps(data);
      message.remove();
    } catch (error) {
      message.textContent = `The maps could not be unpacked (${error.message}): the file may be damaged. Make it again.`;
    }
  }

  prepareCopies();
  prepareTables();
  preparePrinting();
  prepareMaps();
