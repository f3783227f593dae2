// Requests, and the data that must survive a reload or an unreachable server.

/** A request that failed; `lost` if it is worth sending again. */
export class Failure extends Error {
  constructor(status, data) {
    super(typeof data.error === "string" ? data.error : `the server answered ${status}`);
    this.status = status;
    this.question = data.question ?? null;
    this.lost = status === 0 || status === 408 || status === 429 || status >= 500;
  }
}

const TIMEOUT = 20_000;

/** The server's response to a request. */
export async function request(method, path, body) {
  const headers = method === "GET" ? {} : { "Content-Type": "application/json", "X-Acidtest": "1" };
  const options = { method, headers, cache: "no-store", signal: AbortSignal.timeout(TIMEOUT) };
  let response;
  try {
    response = await fetch(path, method === "GET" ? options : { ...options, body: JSON.stringify(body ?? {}) });
  } catch {
    throw new Failure(0, { error: "the server does not answer" });
  }
  const data = await response.json().catch(() => null);
  // A response that is not JSON comes from a proxy in between.
  if (response.ok && data === null) throw new Failure(0, { error: "the server's answer cannot be read" });
  if (!response.ok) throw new Failure(response.status, data ?? {});
  return data;
}

/** The data that this browser keeps for one annotator of one project: unsent answers and unfinished forms. */
export class AnswerStorage {
  #name;
  #memory = new Map();
  #unstored = new Set(); // parts that are newer in memory, because the storage is full

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

  /** Forget answers that the server has received, from whichever window. */
  confirm(entry) {
    this.#write("waiting", this.waiting.filter(({ key }) => key !== entry.key));
    this.drop(entry.assignment);
  }

  /** Set answers aside that the server will never accept; they stay in this browser. */
  refuse(entry, reason) {
    this.#write("refused", [...this.#read("refused", []), { ...entry, reason }]);
    this.confirm(entry);
  }

  /** Stop sending answers in which the server found a mistake; the form is still open. */
  takeBack(entry) {
    this.#write("waiting", this.waiting.filter(({ key }) => key !== entry.key));
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

  /** A random word by which the server recognises this browser if the reply to joining got lost. */
  get proof() {
    const word = this.#read("proof", null) ?? uuid();
    this.#write("proof", word);
    return word;
  }

  forgetProof() {
    this.#write("proof", null);
  }

  #read(part, fallback) {
    if (!this.#unstored.has(part)) {
      try {
        const text = localStorage.getItem(`${this.#name}:${part}`);
        if (text !== null) this.#memory.set(part, JSON.parse(text));
      } catch {
        // Storage is forbidden or damaged: use what this window has in memory.
      }
    }
    return this.#memory.get(part) ?? fallback;
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

/** A unique key for one submission; crypto.randomUUID does not exist without https. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** The seconds for which the page was visible. */
export class Stopwatch {
  #before = 0;
  #since = null;

  restart(seconds = 0) {
    this.#before = seconds;
    this.#since = document.hidden ? null : performance.now();
  }

  /** Run while the page is visible, pause while it is not. */
  follow() {
    this.restart(this.seconds);
  }

  get seconds() {
    const running = this.#since === null ? 0 : (performance.now() - this.#since) / 1000;
    return Math.round((this.#before + running) * 1000) / 1000;
  }
}
