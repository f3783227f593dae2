// Requests, and what must survive a reload or a lost server.

/** A request that did not succeed; `lost` where the server cannot have said its last word. */
export class Failure extends Error {
  constructor(status, data) {
    super(typeof data.error === "string" ? data.error : `the server answered ${status}`);
    this.status = status;
    this.question = data.question ?? null;
    this.lost = status === 0 || status === 408 || status === 429 || status >= 500;
  }
}

const PATIENCE = 20_000;

/** What the server answers to a request. */
export async function request(method, path, body) {
  const headers = method === "GET" ? {} : { "Content-Type": "application/json", "X-Acidtest": "1" };
  const options = { method, headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
  let response;
  try {
    response = await fetch(path, method === "GET" ? options : { ...options, body: JSON.stringify(body ?? {}) });
  } catch {
    throw new Failure(0, { error: "the server does not answer" });
  }
  const data = await response.json().catch(() => null);
  // A page that is no JSON comes from something between here and the server.
  if (response.ok && data === null) throw new Failure(0, { error: "the server's answer cannot be read" });
  if (!response.ok) throw new Failure(response.status, data ?? {});
  return data;
}

/** What this browser keeps for one annotator of one project: answers not sent yet, and half-filled forms. */
export class Shelf {
  #name;
  #memory = new Map();
  #unstored = new Set(); // what is newer in memory, for want of room

  constructor(name) {
    this.#name = `acidtest:${name}`;
  }

  /** Answers the server has not confirmed, oldest first. */
  get waiting() {
    return this.#read("waiting", []);
  }

  add(entry) {
    this.#write("waiting", [...this.waiting, entry]);
  }

  /** Forget answers that the server has, whichever window sent them. */
  confirm(entry) {
    this.#write("waiting", this.waiting.filter((each) => each.key !== entry.key));
    this.drop(entry.assignment);
  }

  /** Put answers away that the server will never take; they stay in this browser. */
  refuse(entry, reason) {
    this.#write("refused", [...this.#read("refused", []), { ...entry, reason }]);
    this.confirm(entry);
  }

  /** Take answers back that the server found wrong; the form that made them is still here. */
  takeBack(entry) {
    this.#write("waiting", this.waiting.filter((each) => each.key !== entry.key));
  }

  draft(assignment) {
    return this.#read("drafts", {})[assignment] ?? null;
  }

  keep(assignment, draft) {
    this.#write("drafts", { ...this.#read("drafts", {}), [assignment]: draft });
  }

  drop(assignment) {
    const { [assignment]: _, ...others } = this.#read("drafts", {});
    this.#write("drafts", others);
  }

  /** A word by which the server knows this browser again that joined when its reply got lost. */
  get proof() {
    const word = this.#read("proof", null) ?? uuid();
    this.#write("proof", word);
    return word;
  }

  forgetProof() {
    this.#write("proof", null);
  }

  #read(part, otherwise) {
    if (!this.#unstored.has(part)) {
      try {
        const text = localStorage.getItem(`${this.#name}:${part}`);
        if (text !== null) this.#memory.set(part, JSON.parse(text));
      } catch {
        // Forbidden, or spoilt: what this window remembers is all there is.
      }
    }
    return this.#memory.get(part) ?? otherwise;
  }

  #write(part, value) {
    this.#memory.set(part, value);
    try {
      localStorage.setItem(`${this.#name}:${part}`, JSON.stringify(value));
      this.#unstored.delete(part);
    } catch {
      this.#unstored.add(part);
    }
  }
}

/** A name for one submission, so that the server knows it again; crypto.randomUUID is missing without https. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Seconds during which the page could be seen. */
export class Stopwatch {
  #before = 0;
  #since = null;

  restart(seconds = 0) {
    this.#before = seconds;
    this.#since = document.hidden ? null : performance.now();
  }

  /** Run while the page is visible, stand still while it is not. */
  follow() {
    this.restart(this.seconds);
  }

  get seconds() {
    const running = this.#since === null ? 0 : (performance.now() - this.#since) / 1000;
    return Math.round((this.#before + running) * 1000) / 1000;
  }
}
