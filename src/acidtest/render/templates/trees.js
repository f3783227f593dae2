  // Parse trees, from Penn bracketing or from binary bracketing without labels: drawn top down where there is room for
  // it, else as an outline, one word a line.

  const SVG = "http://www.w3.org/2000/svg";
  const LEVEL = 38;
  const GAP = 14;

  // A node is { label, children }, a leaf { word }; null when the brackets do not fit together.
  function parsedTree(text) {
    const open = [];
    let root = null;
    for (const [token] of text.matchAll(/[()]|[^\s()]+/g)) {
      if (token === "(") {
        const node = { label: "", children: [] };
        if (open.length) open[open.length - 1].children.push(node);
        else if (root) return null;
        else root = node;
        open.push(node);
      } else if (token === ")") {
        if (!open.length) return null;
        open.pop();
      } else {
        if (!open.length) return null;
        const node = open[open.length - 1];
        node.children.push({ word: token });
      }
    }
    if (!root || open.length) return null;
    // Binary bracketing, "( ( A man ) sleeps )", has a space after its brackets and no labels.
    if (!/\(\s+[^\s(]/.test(text)) labelled(root);
    return root;
  }

  function labelled(node) {
    if (node.children.length > 1 && node.children[0].word !== undefined) node.label = node.children.shift().word;
    for (const child of node.children) if (child.children) labelled(child);
  }

  function textWidths(font) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = font;
    return (text) => context.measureText(text).width;
  }

  // Leaves stand side by side at the bottom of their own branch; a node stands over the middle of its children.
  function placed(node, left, depth, width) {
    if (node.word !== undefined) {
      const own = width(node.word);
      return { text: node.word, leaf: true, x: left + own / 2, depth, right: left + own, deepest: depth, children: [] };
    }
    let edge = left;
    const children = node.children.map((child) => {
      const made = placed(child, edge, depth + 1, width);
      edge = made.right + GAP;
      return made;
    });
    const own = width(node.label);
    let right = Math.max(edge - GAP, left);
    let x = children.length ? (children[0].x + children[children.length - 1].x) / 2 : left + own / 2;
    const lacking = own / 2 - (x - left);
    if (lacking > 0) {
      for (const child of children) moved(child, lacking);
      x += lacking;
      right += lacking;
    }
    right = Math.max(right, x + own / 2);
    const deepest = Math.max(depth, ...children.map((child) => child.deepest));
    return { text: node.label, leaf: false, x, depth, right, deepest, children };
  }

  function moved(node, by) {
    node.x += by;
    node.right += by;
    for (const child of node.children) moved(child, by);
  }

  function svgElement(tag, attributes, text = null) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  function drawing(root, label) {
    const height = (root.deepest + 1) * LEVEL;
    const svg = svgElement("svg", { width: Math.ceil(root.right) + 8, height, class: "tree", role: "img", "aria-label": label });
    const top = (node) => node.depth * LEVEL + 14;
    const draw = (node) => {
      for (const child of node.children) {
        const from = node.text ? top(node) + 5 : top(node) - 4;
        svg.append(svgElement("line", { x1: node.x, y1: from, x2: child.x, y2: top(child) - 13 }));
        draw(child);
      }
      if (node.text) svg.append(svgElement("text", { x: node.x, y: top(node), class: node.leaf ? "word" : "label" }, node.text));
      else svg.append(svgElement("circle", { cx: node.x, cy: top(node) - 4, r: 2.5 }));
    };
    draw(root);
    return svg;
  }

  // A bracket around words only is one line; others open a level.
  function outline(node) {
    if (node.word !== undefined) return element("li", {}, element("span", { className: "word", textContent: node.word }));
    const label = element("span", { className: "label", textContent: node.label || "•" });
    if (node.children.every((child) => child.word !== undefined)) {
      const words = node.children.map((child) => child.word).join(" ");
      return element("li", {}, label, " ", element("span", { className: "word", textContent: words }));
    }
    return element("li", {}, label, element("ul", {}, ...node.children.map(outline)));
  }

  function treeView(text, width) {
    const tree = parsedTree(text);
    if (!tree) return element("p", { className: "brackets", textContent: text });
    const style = getComputedStyle(document.body);
    const root = placed(tree, 0, 0, textWidths(`600 14px ${style.fontFamily}`));
    if (root.right + 8 <= width) return drawing(root, text);
    return element("ul", { className: "outline" }, outline(tree));
  }
