// What is on the page. Texts are set as text, never as markup.

export const at = (id) => document.getElementById(id);

export function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Lines as paragraphs; those of an example stand apart. */
export function paragraphs(text) {
  const lines = (text ?? "").split("\n").filter((line) => line.trim());
  return lines.map((line) => make("p", line, /^(Premise|Hypothesis): /.test(line) ? { class: "example" } : {}));
}

export function show(view) {
  for (const id of ["loading", "token-form", "join-form", "work", "finished"]) at(id).hidden = id !== view;
  at("guidelines").hidden = view !== "work";
  at("main").setAttribute("aria-busy", String(view === "loading"));
}

export function say(text) {
  at("said").textContent = text;
}

/** What must be seen at once; the same again is not said again. */
export function banner(text, action = null) {
  if (text && at("banner").querySelector("p")?.textContent === text) return;
  const parts = text ? [make("p", text)] : [];
  if (action) {
    const button = make("button", action.text, { type: "button" });
    button.addEventListener("click", action.run);
    parts.push(button);
  }
  at("banner").replaceChildren(...parts);
}

export function showProgress({ done, total } = {}) {
  if (total === undefined || total === null) return;
  at("standing").hidden = false;
  at("count").textContent = `${done} of ${total} done`;
  Object.assign(at("bar"), { max: Math.max(total, 1), value: done });
}

/** The texts of an item, each under its name. */
export function showItem(names, fields) {
  const statements = names.map((name) => {
    const title = name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
    const block = make("div", "", { class: "statement" });
    const text = make("div", fields[name] ?? "", { tabindex: "0", "aria-label": title, role: "group" });
    block.append(make("h2", title), text);
    return block;
  });
  at("item").replaceChildren(...statements);
  show("work");
  // Only a text that must be scrolled takes part in the order of Tab.
  const texts = [...at("item").querySelectorAll("[tabindex]")];
  for (const text of texts.filter((each) => each.scrollHeight <= each.clientHeight + 1)) {
    for (const name of ["tabindex", "role", "aria-label"]) text.removeAttribute(name);
  }
}

/** The guidelines: what each answer to a question means, then what is said of the whole task. */
export function showGuidelines(question, instructions) {
  const entries = question.options.filter((option) => option.help).map((option) => {
    const entry = make("div");
    const meaning = make("dd");
    meaning.append(...paragraphs(option.help));
    entry.append(make("dt", option.text), meaning);
    return entry;
  });
  at("option-helps").replaceChildren(...entries);
  at("option-helps").hidden = entries.length === 0;
  at("instructions").replaceChildren(...paragraphs(instructions));
  at("guidelines").hidden = entries.length === 0 && !instructions;
}
