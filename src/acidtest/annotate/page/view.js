// The elements of the page. Texts are set as text, never as markup.

export const byId = (id) => document.getElementById(id);

export function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Lines as paragraphs; those of an example have a class of their own. */
export function paragraphs(text) {
  const lines = (text ?? "").split("\n").filter((line) => line.trim());
  return lines.map((line) => make("p", line, /^(Premise|Hypothesis): /.test(line) ? { class: "example" } : {}));
}

export function show(view) {
  for (const id of ["loading", "token-form", "join-form", "work", "finished"]) byId(id).hidden = id !== view;
  byId("guidelines").hidden = view !== "work";
  byId("main").setAttribute("aria-busy", String(view === "loading"));
}

export function announce(text) {
  byId("said").textContent = text;
}

/** Show an urgent message, with an action if there is one; a repeated message is not announced again. */
export function banner(text, action = null) {
  if (text && byId("banner").querySelector("p")?.textContent === text) return;
  const parts = text ? [make("p", text)] : [];
  if (action) {
    const button = make("button", action.text, { type: "button" });
    button.addEventListener("click", action.run);
    parts.push(button);
  }
  byId("banner").replaceChildren(...parts);
}

export function showProgress({ done, total } = {}) {
  if (total === undefined || total === null) return;
  byId("standing").hidden = false;
  byId("count").textContent = `${done} of ${total} done`;
  Object.assign(byId("bar"), { max: Math.max(total, 1), value: done });
}

/** Show the texts of an item, each under its name. */
export function showItem(names, fields) {
  const statements = names.map((name) => {
    const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
    const block = make("div", "", { class: "statement" });
    const text = make("div", fields[name] ?? "", { tabindex: "0", "aria-label": title, role: "group" });
    block.append(make("h2", title), text);
    return block;
  });
  byId("item").replaceChildren(...statements);
  show("work");
  // Only a text that must be scrolled can be reached with Tab.
  const texts = [...byId("item").querySelectorAll("[tabindex]")];
  for (const text of texts.filter(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 1)) {
    for (const name of ["tabindex", "role", "aria-label"]) text.removeAttribute(name);
  }
}

/** Show the guidelines: the meaning of each answer to a question, then the instructions of the whole task. */
export function showGuidelines(question, instructions) {
  const entries = question.options.filter((option) => option.help).map((option) => {
    const entry = make("div");
    const meaning = make("dd");
    meaning.append(...paragraphs(option.help));
    entry.append(make("dt", option.text), meaning);
    return entry;
  });
  byId("option-helps").replaceChildren(...entries);
  byId("option-helps").hidden = entries.length === 0;
  byId("instructions").replaceChildren(...paragraphs(instructions));
  byId("guidelines").hidden = entries.length === 0 && !instructions;
}
