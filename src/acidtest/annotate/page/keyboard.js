// Keys: digits and letters answer, Enter goes on, u and Backspace go back, ? tells which there are.

import { at } from "./view.js";

const TYPED = "textarea, input:not([type=radio]):not([type=checkbox])";

/** Let keys do what they say; `chooser` gives what a letter or digit does to the open question, or null. */
export function listen({ forward, back, chooser }) {
  const openKeys = () => {
    at("single-keys").checked = singleKeys();
    at("keys").showModal();
  };
  at("show-keys").addEventListener("click", openKeys);
  at("single-keys").addEventListener("change", () => remember(at("single-keys").checked ? "yes" : "no"));

  function keyAction(event) {
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const letters = singleKeys();
    const goesBack = pressed === "Backspace" || (pressed === "u" && letters);
    if (pressed === "?" && letters) return openKeys;
    if (!at("finished").hidden) return goesBack && !at("reopen").hidden ? back : null;
    if (at("work").hidden) return null;
    if (goesBack) return back;
    if (pressed === "Enter") return event.target.closest("button") ? null : forward;
    if (pressed === "ArrowDown" || pressed === "ArrowUp") return arrowAction(event.target, pressed);
    return letters ? chooser(pressed) : null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (at("keys").open) return;
    const typing = event.target.matches(TYPED);
    if (typing && event.key === "Escape") return void event.target.blur();
    const ends = typing && event.key === "Enter" && !event.shiftKey && event.target.matches("textarea");
    const action = typing ? (ends ? forward : null) : keyAction(event);
    if (!action) return;
    event.preventDefault();
    // A key held down must not rush through items.
    if (!event.repeat) action();
  });
}

/** Radio buttons know arrows themselves; boxes to tick, and a page with no answer in focus, do not. */
function arrowAction(target, pressed) {
  const inputs = [...at("options").querySelectorAll("input")];
  const place = inputs.indexOf(target);
  if (!inputs.length || target.type === "radio" || (place < 0 && target !== document.body)) return null;
  const step = pressed === "ArrowDown" ? 1 : -1;
  return () => inputs[place < 0 ? 0 : (place + step + inputs.length) % inputs.length].focus();
}

/** Whether letters and digits are keys; people who dictate turn them off. */
function singleKeys() {
  try {
    return localStorage.getItem("acidtest:keys") !== "no";
  } catch {
    return at("single-keys").checked;
  }
}

function remember(value) {
  try {
    localStorage.setItem("acidtest:keys", value);
  } catch {
    // The box itself remembers, as long as this window.
  }
}
