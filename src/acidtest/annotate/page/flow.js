// Which questions the answers so far lead to. The tests compare it with annotate/conditions.py.

/** Whether a condition of the questionnaire holds of answers; none always does. */
export function holds(when, answers) {
  return Object.entries(when ?? {}).every(([name, value]) => part(name, value, answers));
}

function part(name, value, answers) {
  if (name === "all") return value.every((each) => holds(each, answers));
  if (name === "any") return value.some((each) => holds(each, answers));
  if (name === "not") return !holds(value, answers);
  const given = listed(answers, name);
  if (typeof value === "boolean") return (given.length > 0) === value;
  return [value].flat().some((answer) => given.includes(answer));
}

/** Questions with the conditions that hold of one item, where what is asked depends on it. */
export function asOf(questions, conditions) {
  return conditions ? questions.map((question) => ({ ...question, when: conditions[question.id] })) : questions;
}

/** What was answered to a question, as a list; nothing written or ticked is empty. */
export function listed(answers, name) {
  // A question may be called "constructor".
  const given = Object.hasOwn(answers, name) ? answers[name] : null;
  return given === null || given === "" ? [] : [given].flat();
}

/** The questions to ask, in order, and the answers that stay: one to a question no longer asked is none. */
export function path(questions, answers) {
  const kept = {};
  const asked = questions.filter((question) => {
    if (!holds(question.when, kept)) return false;
    const given = listed(answers, question.id).filter((answer) => fits(question, answer));
    if (given.length) kept[question.id] = question.kind === "several-of" ? given : given[0];
    return true;
  });
  return { asked, kept };
}

function fits(question, answer) {
  if (question.kind === "text") return typeof answer === "string" && answer.trim() !== "";
  return question.options.some((option) => option.id === answer);
}

/** What is ticked after one more tick: options that exclude others stand alone. */
export function ticked(question, before, option) {
  if (question.kind !== "several-of") return [option.id];
  if (before.includes(option.id)) return before.filter((id) => id !== option.id);
  const alone = new Set(question.options.filter((each) => each.exclusive).map((each) => each.id));
  const chosen = new Set(option.exclusive ? [option.id] : [...before.filter((id) => !alone.has(id)), option.id]);
  return question.options.map((each) => each.id).filter((id) => chosen.has(id));
}

/** The keys that choose each option: its digit, y and n, and letters from the tenth on. "u" takes back. */
export function keys(question) {
  const single = "123456789abcdefghijklmnopqrstvwxyz";
  return question.options.map((option, place) => {
    const own = place < single.length ? [single[place]] : [];
    return question.kind === "yes-no" ? [option.id[0], ...own] : own;
  });
}
