// The annotation page: one item and one question at a time, by keyboard or mouse.

import { answerList, followQuestions, shortcutKeys, toggleOption, withConditions } from "./flow.js";
import { listen } from "./keyboard.js";
import { AnswerStorage, Failure, Stopwatch, request, uuid } from "./server.js";
import { announce, banner, byId, make, paragraphs, show, showGuidelines, showItem, showProgress } from "./view.js";

const watch = new Stopwatch();
const LONGEST_PAUSE = 30;

let project = null;
let annotator = null;
let storage = null;
let joinStorage = null; // used before there is an annotator
let current = null; // the open item: { assignment, item, questions, answers, place }
let busy = false;
let joining = false;
let pause = 0;
let timer = null;

let linkToken = new URLSearchParams(location.hash.slice(1)).get("token");
// The token must not stay in the address, which people copy and browsers store.
if (linkToken !== null) history.replaceState(null, "", location.pathname + location.search);

async function start() {
  try {
    if (linkToken) await request("POST", "api/token", { token: linkToken });
    linkToken = null;
    project = await request("GET", "api/project");
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.lost) return retry(start, "The server does not answer.");
    linkToken = null;
    return failure.status === 401 ? askToken(failure.message) : banner(failure.message);
  }
  connected();
  banner("");
  if (project.needs_token) return askToken();
  byId("title").textContent = document.title = project.title;
  byId("first-instructions").replaceChildren(...paragraphs(project.instructions));
  return project.annotator ? enter(project.annotator) : askName();
}

const askToken = (problem = "") => openForm("token-form", "token", problem);
const askName = (problem = "") => openForm("join-form", "annotator", problem);

function openForm(form, field, problem) {
  show(form);
  byId(form).querySelector(".problem").textContent = problem;
  byId(field).focus();
}

async function sendToken(event) {
  event.preventDefault();
  try {
    await request("POST", "api/token", { token: byId("token").value.trim() });
  } catch (failure) {
    return askToken(failure.message);
  }
  byId("token").value = "";
  return start();
}

async function join(event) {
  event.preventDefault();
  const name = byId("annotator").value.trim();
  if (!name) return askName("Write a name or a code first.");
  if (joining) return;
  joining = true;
  joinStorage ??= new AnswerStorage(project.id);
  try {
    const joined = await request("POST", "api/join", { annotator: name, proof: joinStorage.proof });
    joinStorage.forgetProof();
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
  byId("who").textContent = name;
  byId("who").hidden = false;
  // Another project may be served at the same address tomorrow, with an annotator of the same name.
  storage = new AnswerStorage(`${project.id}:${name}`);
  current = null;
  return advance();
}

/** Send the waiting answers, oldest first, then show what comes next; retry until the server responds. */
async function advance() {
  if (busy) return;
  setBusy(true);
  try {
    const sent = storage.waiting.length > 0;
    const refused = [];
    const next = await sendWaiting(refused);
    connected();
    const shown = next ?? (await request("GET", "api/next"));
    setBusy(false);
    showNext(shown);
    if (refused.length) banner(`An answer was not taken: ${refused.join("; ")}`);
    else if (sent && !shown.problem) announce(`Saved. ${byId("count").textContent}.`);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.status === 401 || failure.status === 403) return void start();
    if (!failure.lost) return void banner(failure.message);
    retry(advance, lostMessage(failure));
  } finally {
    setBusy(false);
  }
}

/** What comes next, as the server's last reply says; null if nothing was waiting or an answer was refused. */
async function sendWaiting(refused) {
  let next = null;
  for (let entry = storage.waiting[0]; entry; entry = storage.waiting[0]) {
    try {
      const { assignment, answers, seconds, key } = entry;
      const reply = await request("POST", "api/answers", { assignment, answers, seconds, key });
      storage.confirm(entry);
      next = reply.next ?? null;
    } catch (failure) {
      if (failure.status === 401 || failure.lost || (failure.status === 403 && (await isUnknown()))) throw failure;
      next = null;
      if (failure.status === 422) {
        storage.takeBack(entry);
        if (current?.assignment === entry.assignment) return { ...current, problem: failure };
      } else {
        storage.refuse(entry, failure.message);
      }
      refused.push(failure.message);
    }
  }
  return next;
}

/** Whether the server no longer recognises this browser as its annotator. */
async function isUnknown() {
  return (await request("GET", "api/project")).annotator !== annotator;
}

function lostMessage(failure) {
  const trouble = failure.status ? "The server is in trouble." : "The server does not answer.";
  const waiting = storage.waiting.length;
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
  // Randomised, so that many browsers do not retry at the same moment.
  timer = setTimeout(retry.now, pause * (750 + Math.random() * 500));
  banner(message, { text: "Try now", run: () => timer !== null && retry.now() });
}

function connected() {
  if (pause) announce("The server answers again.");
  if (pause) banner("");
  pause = 0;
  clearTimeout(timer);
  timer = null;
}

function setBusy(now) {
  busy = now;
  byId("main").setAttribute("aria-busy", String(now));
  // An answer that is being sent cannot be changed; it can be taken back once it has arrived.
  const sending = storage?.waiting.some((entry) => entry.assignment === current?.assignment) ?? false;
  for (const id of ["asked", "next", "back"]) byId(id).disabled = sending;
}

function showNext(next) {
  showProgress(next.progress);
  if (next.finished) return finish(next);
  if (next.problem) return openQuestion(next.problem);
  const draft = storage.draft(next.assignment);
  const answers = draft?.answers ?? next.answers ?? {};
  const questions = withConditions(project.questionnaire.questions, next.conditions);
  current = { assignment: next.assignment, item: next.item, questions, answers, place: draft?.place ?? 0 };
  watch.restart(draft?.seconds ?? next.seconds ?? 0);
  showItem(project.shows, next.item.fields);
  scrollTo(0, 0);
  openQuestion();
}

function finish({ reason, progress }) {
  current = null;
  show("finished");
  byId("finished-title").textContent = progress.excluded ? "Your part is over, thank you" : "All done, thank you";
  byId("finished-reason").textContent = `${reason} You can close this page.`;
  byId("reopen").hidden = progress.excluded || !progress.done;
  byId("finished-title").focus();
}

/** Show the question at the current place; after a refusal, the question it is about. */
function openQuestion(refusal = null) {
  const { asked, kept } = followQuestions(current.questions, current.answers);
  const named = refusal ? asked.findIndex((question) => question.id === refusal.question) : -1;
  current.answers = kept;
  current.place = named >= 0 ? named : Math.max(0, Math.min(current.place, asked.length - 1));
  const question = asked[current.place];
  byId("question-number").textContent = asked.length > 1 ? `${current.place + 1}. ` : "";
  byId("question-text").textContent = question.text;
  byId("question-help").replaceChildren(...paragraphs(question.help));
  byId("asked").dataset.question = question.id;
  byId("options").replaceChildren(...(question.kind === "text" ? [textField(question)] : optionFields(question)));
  byId("question-problem").textContent = refusal?.message ?? "";
  showTrail(asked);
  showGuidelines(question, project.instructions);
  focusAnswer();
  keepDraft();
}

function focusAnswer() {
  const field = byId("options").querySelector("input:checked, textarea") ?? byId("options").querySelector("input");
  field.focus({ preventScroll: true });
  byId("question").scrollIntoView({ block: "nearest" });
}

function optionFields(question) {
  const hints = shortcutKeys(question);
  const several = question.kind === "several-of";
  const chosen = answerList(current.answers, question.id);
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
  area.value = answerList(current.answers, question.id)[0] ?? "";
  area.addEventListener("input", () => answer(question, area.value === "" ? [] : [area.value]));
  return area;
}

function choose(question, option) {
  answer(question, toggleOption(question, answerList(current.answers, question.id), option));
  const chosen = answerList(current.answers, question.id);
  for (const input of byId("options").querySelectorAll("input")) input.checked = chosen.includes(input.value);
}

function answer(question, given) {
  current.answers = { ...current.answers, [question.id]: question.kind === "several-of" ? given : (given[0] ?? null) };
  byId("question-problem").textContent = "";
  keepDraft();
}

function showTrail(asked) {
  const before = asked.slice(0, current.place).map((question, place) => {
    const chosen = answerList(current.answers, question.id);
    const options = question.options.filter((option) => chosen.includes(option.id)).map((option) => option.text);
    const texts = question.kind === "text" ? chosen : options;
    const entry = make("li");
    const button = make("button", "", { type: "button" });
    button.append(make("span", question.text), make("strong", texts.join(" · ") || "–"));
    button.addEventListener("click", () => goTo(place));
    entry.append(button);
    return entry;
  });
  byId("trail").replaceChildren(...before);
  byId("trail").hidden = before.length === 0;
}

function goTo(place) {
  current.place = place;
  openQuestion();
}

function keepDraft() {
  if (!current) return;
  const { assignment, answers, place } = current;
  storage.keep(assignment, { answers, place, seconds: watch.seconds });
}

function forward() {
  if (busy || timer !== null || !current) return;
  const { asked, kept } = followQuestions(current.questions, current.answers);
  const question = asked[current.place];
  if (question.required && !answerList(kept, question.id).length) {
    const problem = question.kind === "text" ? "Write something first." : "Choose an answer first.";
    byId("question-problem").textContent = problem;
    return focusAnswer();
  }
  if (current.place + 1 < asked.length) return goTo(current.place + 1);
  keepDraft();
  storage.add({ assignment: current.assignment, answers: kept, seconds: watch.seconds, key: uuid() });
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
    storage.keep(before.assignment, { answers: before.answers ?? {}, place: last, seconds: before.seconds ?? 0 });
    banner("");
    setBusy(false);
    showNext(before);
    announce("Back at the previous item.");
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    if (failure.status === 401 || failure.status === 403) return void start();
    if (!failure.lost) return void banner(failure.message);
    retry(advance, "The server does not answer, so nothing was taken back.");
  } finally {
    setBusy(false);
  }
}

/** The action of a key on the open question; null if it has none. */
function choiceAction(pressed) {
  if (busy || timer !== null || !current) return null;
  const question = project.questionnaire.questions.find(({ id }) => id === byId("asked").dataset.question);
  const place = shortcutKeys(question).findIndex((names) => names.includes(pressed));
  if (place < 0) return null;
  return () => {
    choose(question, question.options[place]);
    byId("options").querySelectorAll("input")[place].focus({ preventScroll: true });
  };
}

byId("token-form").addEventListener("submit", sendToken);
byId("join-form").addEventListener("submit", join);
byId("question").addEventListener("submit", (event) => {
  event.preventDefault();
  forward();
});
byId("back").addEventListener("click", back);
byId("reopen").addEventListener("click", back);
listen({ forward, back, choiceAction });
document.addEventListener("visibilitychange", () => {
  watch.follow();
  keepDraft();
  if (!document.hidden && timer !== null) retry.now();
});
addEventListener("online", () => timer !== null && retry.now());
addEventListener("pagehide", keepDraft);
start();
