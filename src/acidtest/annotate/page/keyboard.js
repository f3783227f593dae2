// Keys: digits and letters answer, Enter goes on, u and Backspace go back, ? lists the keys.

import { byId } from "./view.js";

const TYPED = "textarea, input:not([type=radio]):not([type=checkbox])";

/** Handle the keys; `choiceAction` returns the action of a letter or digit on the open question, or null. */
export function listen({ forward, back, choiceAction }) {
  const openKeys = () => {
    byId("single-keys").checked = singleKeys();
    byId("keys").showModal();
  };
  byId("show-keys").addEventListener("click", openKeys);
  byId("single-keys").addEventListener("change", () => storeSingleKeys(byId("single-keys").checked ? "yes" : "no"));

  function keyAction(event) {
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const letters = singleKeys();
    const goesBack = pressed === "Backspace" || (pressed === "u" && letters);
    if (pressed === "?" && letters) return openKeys;
    if (!byId("finished").hidden) return goesBack && !byId("reopen").hidden ? back : null;
    if (byId("work").hidden) return null;
    if (goesBack) return back;
    if (pressed === "Enter") return event.target.closest("button") ? null : forward;
    if (pressed === "ArrowDown" || pressed === "ArrowUp") return arrowAction(event.target, pressed);
    return letters ? choiceAction(pressed) : null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (byId("keys").open) return;
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

/** Arrow keys for checkboxes and for a page without focus; radio buttons handle them themselves. */
function arrowAction(target, pressed) {
  const inputs = [...byId("options").querySelectorAll("input")];
  const place = inputs.indexOf(target);
  if (!inputs.length || target.type === "radio" || (place < 0 && target !== document.body)) return null;
  const step = pressed === "ArrowDown" ? 1 : -1;
  return () => inputs[place < 0 ? 0 : (place + step + inputs.length) % inputs.length].focus();
}

/** Whether letters and digits are shortcuts; people who dictate turn them off. */
function singleKeys() {
  try {
    return localStorage.getItem("acidtest:keys") !== "no";
  } catch {
    return byId("single-keys").checked;
  }
}

function storeSingleKeys(value) {
  try {
    localStorage.setItem("acidtest:keys", value);
  } catch {
    // Without storage the checkbox itself keeps the choice while this window is open.
  }
}
