// The questions that the answers so far lead to. The tests compare this with annotate/conditions.py.

/** Whether a condition of the questionnaire holds for the answers; a missing one always does. */
export function holds(when, answers) {
  return Object.entries(when ?? {}).every(([name, value]) => entryHolds(name, value, answers));
}

function entryHolds(name, value, answers) {
  if (name === "all") return value.every((part) => holds(part, answers));
  if (name === "any") return value.some((part) => holds(part, answers));
  if (name === "not") return !holds(value, answers);
  const given = answerList(answers, name);
  if (typeof value === "boolean") return (given.length > 0) === value;
  return [value].flat().some((answer) => given.includes(answer));
}

/** The questions with the conditions for one item, if the questionnaire depends on its gold label. */
export function withConditions(questions, conditions) {
  return conditions ? questions.map((question) => ({ ...question, when: conditions[question.id] })) : questions;
}

/** The answers to a question as a list, which is empty if nothing was written or ticked. */
export function answerList(answers, name) {
  // A question may be called "constructor".
  const given = Object.hasOwn(answers, name) ? answers[name] : null;
  return given === null || given === "" ? [] : [given].flat();
}

/** The questions to ask, in order, and the answers to keep: those to questions that are still asked. */
export function followQuestions(questions, answers) {
  const kept = {};
  const asked = questions.filter((question) => {
    if (!holds(question.when, kept)) return false;
    const given = answerList(answers, question.id).filter((answer) => fits(question, answer));
    if (given.length) kept[question.id] = question.kind === "several-of" ? given : given[0];
    return true;
  });
  return { asked, kept };
}

function fits(question, answer) {
  if (question.kind === "text") return typeof answer === "string" && answer.trim() !== "";
  return question.options.some((option) => option.id === answer);
}

/** The ticked options after a click on one; an exclusive option is never ticked with others. */
export function toggleOption(question, before, option) {
  if (question.kind !== "several-of") return [option.id];
  if (before.includes(option.id)) return before.filter((id) => id !== option.id);
  const alone = new Set(question.options.filter(({ exclusive }) => exclusive).map(({ id }) => id));
  const chosen = new Set(option.exclusive ? [option.id] : [...before.filter((id) => !alone.has(id)), option.id]);
  return question.options.map(({ id }) => id).filter((id) => chosen.has(id));
}

/** The keys for each option: digits, then letters without "u", which goes back; also y and n for yes and no. */
export function shortcutKeys(question) {
  const single = "123456789abcdefghijklmnopqrstvwxyz";
  return question.options.map((option, place) => {
    const key = place < single.length ? [single[place]] : [];
    return question.kind === "yes-no" ? [option.id[0], ...key] : key;
  });
}
