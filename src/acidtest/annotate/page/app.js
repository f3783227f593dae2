// The annotation page: one item, one question at a time, by keyboard or hand.

import { asOf, keys, listed, path, ticked } from "./flow.js";
import { listen } from "./keyboard.js";
import { Failure, Shelf, Stopwatch, request, uuid } from "./server.js";
import { at, banner, make, paragraphs, say, show, showGuidelines, showItem, showProgress } from "./view.js";

const watch = new Stopwatch();
const LONGEST_PAUSE = 30;

let project = null;
let annotator = null;
let shelf = null;
let door = null; // what is kept before there is an annotator
let current = null; // what is being asked: { assignment, item, questions, answers, place }
let busy = false;
let joining = false;
let pause = 0;
let timer = null;

// --- getting in -----------------------------------------------------------------------------------------------------

let handed = new URLSearchParams(location.hash.slice(1)).get("token");
// The token must not stay in the address, which people copy and browsers remember.
if (handed !== null) history.replaceState(null, "", location.pathname + location.search);

async function start() {
  try {
    if (handed) await request("POST", "api/token", { token: handed });
    handed = null;
    project = await request("GET", "api/project");
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.lost) return retry(start, "The server does not answer.");
    handed = null;
    return failure.status === 401 ? askToken(failure.message) : banner(failure.message);
  }
  connected();
  banner("");
  if (project.needs_token) return askToken();
  at("title").textContent = document.title = project.title;
  at("first-instructions").replaceChildren(...paragraphs(project.instructions));
  return project.annotator ? enter(project.annotator) : askName();
}

function askToken(problem = "") {
  ask("token-form", "token", problem);
}

function askName(problem = "") {
  ask("join-form", "annotator", problem);
}

function ask(form, field, problem) {
  show(form);
  at(form).querySelector(".problem").textContent = problem;
  at(field).focus();
}

async function sendToken(event) {
  event.preventDefault();
  try {
    await request("POST", "api/token", { token: at("token").value.trim() });
  } catch (failure) {
    return askToken(failure.message);
  }
  at("token").value = "";
  return start();
}

async function join(event) {
  event.preventDefault();
  const name = at("annotator").value.trim();
  if (!name) return askName("Write a name or a code first.");
  if (joining) return;
  joining = true;
  door ??= new Shelf(project.id);
  try {
    const joined = await request("POST", "api/join", { annotator: name, proof: door.proof });
    door.forgetProof();
    showProgress(joined.progress);
    enter(joined.annotator);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.status === 401) askToken();
    else askName(failure.message);
  } finally {
    joining = false;
  }
}

function enter(name) {
  annotator = name;
  at("who").textContent = name;
  at("who").hidden = false;
  // Another project may be served at the same address tomorrow, with the same name in it.
  shelf = new Shelf(`${project.id}:${name}`);
  current = null;
  return advance();
}

// --- sending --------------------------------------------------------------------------------------------------------

/** Send what waits, oldest first, then show what the server says comes next; again and again until it answers. */
async function advance() {
  if (busy) return;
  setBusy(true);
  try {
    const sent = shelf.waiting.length > 0;
    const refused = [];
    const next = await flushed(refused);
    connected();
    const shown = next ?? (await request("GET", "api/next"));
    setBusy(false);
    showNext(shown);
    if (refused.length) banner(`An answer was not taken: ${refused.join("; ")}`);
    else if (sent && !shown.problem) say(`Saved. ${at("count").textContent}.`);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.status === 401 || failure.status === 403) return void start();
    if (!failure.lost) return void banner(failure.message);
    retry(advance, lostMessage(failure));
  } finally {
    setBusy(false);
  }
}

/** What comes next by the server's last word; null where nothing waited, or not all of it was taken. */
async function flushed(refused) {
  let next = null;
  for (let entry = shelf.waiting[0]; entry; entry = shelf.waiting[0]) {
    try {
      const { assignment, answers, seconds, key } = entry;
      const reply = await request("POST", "api/answers", { assignment, answers, seconds, key });
      shelf.confirm(entry);
      next = reply.next ?? null;
    } catch (failure) {
      if (failure.status === 401 || failure.lost || (failure.status === 403 && (await isStranger()))) throw failure;
      next = null;
      if (failure.status === 422) {
        shelf.takeBack(entry);
        if (current?.assignment === entry.assignment) return { ...current, problem: failure };
      } else {
        shelf.refuse(entry, failure.message);
      }
      refused.push(failure.message);
    }
  }
  return next;
}

/** Whether the server no longer knows this browser by the name under which it answers. */
async function isStranger() {
  return (await request("GET", "api/project")).annotator !== annotator;
}

function lostMessage(failure) {
  const trouble = failure.status ? "The server is in trouble." : "The server does not answer.";
  const waiting = shelf.waiting.length;
  const kept = waiting === 1 ? "Your answer is kept in this browser" : `${waiting} answers are kept in this browser`;
  return waiting ? `${trouble} ${kept} and will be sent.` : trouble;
}

function retry(task, message) {
  pause = Math.min(LONGEST_PAUSE, pause ? pause * 2 : 1);
  clearTimeout(timer);
  retry.now = () => {
    clearTimeout(timer);
    timer = null;
    task();
  };
  // Not all of a crowd at the same moment.
  timer = setTimeout(retry.now, pause * (750 + Math.random() * 500));
  banner(message, { text: "Try now", run: () => timer !== null && retry.now() });
}

function connected() {
  if (pause) say("The server answers again.");
  if (pause) banner("");
  pause = 0;
  clearTimeout(timer);
  timer = null;
}

function setBusy(now) {
  busy = now;
  at("main").setAttribute("aria-busy", String(now));
  // What is on its way cannot be changed: it can be taken back once it has arrived.
  const onItsWay = shelf?.waiting.some((entry) => entry.assignment === current?.assignment) ?? false;
  for (const id of ["asked", "next", "back"]) at(id).disabled = onItsWay;
}

// --- an item and its questions --------------------------------------------------------------------------------------

function showNext(next) {
  showProgress(next.progress);
  if (next.finished) return finish(next);
  if (next.problem) return openQuestion(next.problem);
  const draft = shelf.draft(next.assignment);
  const answers = draft?.answers ?? next.answers ?? {};
  const questions = asOf(project.questionnaire.questions, next.conditions);
  current = { assignment: next.assignment, item: next.item, questions, answers, place: draft?.place ?? 0 };
  watch.restart(draft?.seconds ?? next.seconds ?? 0);
  showItem(project.shows, next.item.fields);
  scrollTo(0, 0);
  openQuestion();
}

function finish({ reason, progress }) {
  current = null;
  show("finished");
  at("finished-title").textContent = progress.excluded ? "Your part is over, thank you" : "All done, thank you";
  at("finished-reason").textContent = `${reason} You can close this page.`;
  at("reopen").hidden = progress.excluded || !progress.done;
  at("finished-title").focus();
}

/** Show the question at the current place; after a refusal, the one that it is about. */
function openQuestion(refusal = null) {
  const { asked, kept } = path(current.questions, current.answers);
  const named = refusal ? asked.findIndex((question) => question.id === refusal.question) : -1;
  current.answers = kept;
  current.place = named >= 0 ? named : Math.max(0, Math.min(current.place, asked.length - 1));
  const question = asked[current.place];
  at("question-number").textContent = asked.length > 1 ? `${current.place + 1}. ` : "";
  at("question-text").textContent = question.text;
  at("question-help").replaceChildren(...paragraphs(question.help));
  at("asked").dataset.question = question.id;
  at("options").replaceChildren(...(question.kind === "text" ? [textField(question)] : optionFields(question)));
  at("question-problem").textContent = refusal?.message ?? "";
  showTrail(asked);
  showGuidelines(question, project.instructions);
  focusAnswer();
  keepDraft();
}

function focusAnswer() {
  const field = at("options").querySelector("input:checked, textarea") ?? at("options").querySelector("input");
  field.focus({ preventScroll: true });
  at("question").scrollIntoView({ block: "nearest" });
}

function optionFields(question) {
  const hints = keys(question);
  const several = question.kind === "several-of";
  const chosen = listed(current.answers, question.id);
  return question.options.map((option, place) => {
    const label = make("label", "", { class: "option" });
    const shortcuts = hints[place].length ? { "aria-keyshortcuts": hints[place].join(" ") } : {};
    const input = make("input", "", { type: several ? "checkbox" : "radio", name: "answer", ...shortcuts });
    Object.assign(input, { value: option.id, checked: chosen.includes(option.id) });
    input.addEventListener("change", () => choose(question, option));
    const hint = make("kbd", hints[place][0] ?? "", { "aria-hidden": "true" });
    label.append(input, hint, make("span", option.text));
    return label;
  });
}

function textField(question) {
  const attributes = { rows: "3", "aria-label": question.text, enterkeyhint: "next", maxlength: "10000" };
  const area = make("textarea", "", attributes);
  area.value = listed(current.answers, question.id)[0] ?? "";
  area.addEventListener("input", () => answer(question, area.value === "" ? [] : [area.value]));
  return area;
}

function choose(question, option) {
  answer(question, ticked(question, listed(current.answers, question.id), option));
  const chosen = listed(current.answers, question.id);
  for (const input of at("options").querySelectorAll("input")) input.checked = chosen.includes(input.value);
}

function answer(question, given) {
  current.answers = { ...current.answers, [question.id]: question.kind === "several-of" ? given : (given[0] ?? null) };
  at("question-problem").textContent = "";
  keepDraft();
}

function showTrail(asked) {
  const before = asked.slice(0, current.place).map((question, place) => {
    const chosen = listed(current.answers, question.id);
    const options = question.options.filter((option) => chosen.includes(option.id)).map((option) => option.text);
    const texts = question.kind === "text" ? chosen : options;
    const entry = make("li");
    const button = make("button", "", { type: "button" });
    button.append(make("span", question.text), make("strong", texts.join(" · ") || "–"));
    button.addEventListener("click", () => goTo(place));
    entry.append(button);
    return entry;
  });
  at("trail").replaceChildren(...before);
  at("trail").hidden = before.length === 0;
}

function goTo(place) {
  current.place = place;
  openQuestion();
}

function keepDraft() {
  if (!current) return;
  const { assignment, answers, place } = current;
  shelf.keep(assignment, { answers, place, seconds: watch.seconds });
}

// --- moving on and back ---------------------------------------------------------------------------------------------

function forward() {
  if (busy || timer !== null || !current) return;
  const { asked, kept } = path(current.questions, current.answers);
  const question = asked[current.place];
  if (question.required && !listed(kept, question.id).length) {
    const problem = question.kind === "text" ? "Write something first." : "Choose an answer first.";
    at("question-problem").textContent = problem;
    return focusAnswer();
  }
  if (current.place + 1 < asked.length) return goTo(current.place + 1);
  keepDraft();
  shelf.add({ assignment: current.assignment, answers: kept, seconds: watch.seconds, key: uuid() });
  banner("");
  return advance();
}

async function back() {
  if (busy || timer !== null) return;
  if (current?.place) return goTo(current.place - 1);
  setBusy(true);
  try {
    const before = await request("POST", "api/undo");
    const last = project.questionnaire.questions.length;
    shelf.keep(before.assignment, { answers: before.answers ?? {}, place: last, seconds: before.seconds ?? 0 });
    banner("");
    setBusy(false);
    showNext(before);
    say("Back at the item before.");
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.status === 401 || failure.status === 403) return void start();
    if (!failure.lost) return void banner(failure.message);
    retry(advance, "The server does not answer, so that nothing was taken back.");
  } finally {
    setBusy(false);
  }
}

/** What a key does to the question that is open; null where it means nothing. */
function chooser(pressed) {
  if (busy || timer !== null || !current) return null;
  const question = project.questionnaire.questions.find((each) => each.id === at("asked").dataset.question);
  const place = keys(question).findIndex((own) => own.includes(pressed));
  if (place < 0) return null;
  return () => {
    choose(question, question.options[place]);
    at("options").querySelectorAll("input")[place].focus({ preventScroll: true });
  };
}

// --- wiring ---------------------------------------------------------------------------------------------------------

at("token-form").addEventListener("submit", sendToken);
at("join-form").addEventListener("submit", join);
at("question").addEventListener("submit", (event) => {
  event.preventDefault();
  forward();
});
at("back").addEventListener("click", back);
at("reopen").addEventListener("click", back);
listen({ forward, back, chooser });
document.addEventListener("visibilitychange", () => {
  watch.follow();
  keepDraft();
  if (!document.hidden && timer !== null) retry.now();
});
addEventListener("online", () => timer !== null && retry.now());
addEventListener("pagehide", keepDraft);
start();
