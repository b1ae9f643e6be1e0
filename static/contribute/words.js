/** Says in plain words what facts promise; pure, so that it runs in node too. */

import { isOneOperator } from "./facts.js";
import { decimal } from "./numbers.js";

/** @typedef {import("./facts.js").Facts} Facts */

const LARGEST = 700; // a loss, whose factor is a number of a double

/**
 * e^ε for reading, rounded up; empty where it says nothing.
 * @param {number} epsilon
 */
export function factor(epsilon) {
  if (!(epsilon < LARGEST)) return "";
  const exact = Math.exp(epsilon);
  if (exact >= 1e6) return "";
  const unit = 10 ** (Math.floor(Math.log10(exact)) - 2); // three digits
  const rounded = Math.ceil(exact / unit - 1e-9) * unit;
  return rounded.toLocaleString("en", { maximumFractionDigits: Math.max(0, -Math.round(Math.log10(unit))) });
}

/** @param {number} metres */
export function length(metres) {
  if (metres < 1000) return `${Math.round(metres)} m`;
  return `${(metres / 1000).toLocaleString("en", { maximumFractionDigits: 1 })} km`;
}

/** @param {number} count */
export function whole(count) {
  return count.toLocaleString("en");
}

/**
 * A probability as one in so many, rounded so that it is never said to be smaller.
 * @param {number} delta
 */
export function chance(delta) {
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(1 / delta)) - 1);
  return `1 in ${whole(Math.max(1, Math.floor(1 / delta / digits + 1e-9) * digits))}`;
}

/** @param {string} loss */
export function number(loss) {
  return loss === "inf" ? Infinity : decimal(loss);
}

/** A report's round and loss at its radius. @typedef {{ round: string, epsilon: number, delta: number }} Cost */

/**
 * What reports cost together. Those of a round are mixed with each other: each change of one costs its δ, and on it
 * the loss of all before. δ = 1 promises nothing.
 * @param {Cost[]} reports
 */
export function together(reports) {
  /** @type {Map<string, number>} */
  const before = new Map();
  let delta = 0;
  for (const report of reports) {
    const loss = before.get(report.round) ?? 0;
    if (report.delta > 0) delta += report.delta * Math.exp(Math.min(loss, LARGEST));
    before.set(report.round, loss + report.epsilon);
  }
  return { epsilon: reports.reduce((sum, { epsilon }) => sum + epsilon, 0), delta: Math.min(delta, 1) };
}

/**
 * What one report and all reports of a person can reveal.
 * @param {Facts} facts
 * @returns {string[]}
 */
export function lossSentences(facts) {
  const [near, far, delta] = [facts.loss.epsilon, facts.loss.record_epsilon, facts.loss.delta].map(number);
  const radius = length(number(facts.loss.radius_m));
  const reports = facts.reports_per_person;
  const found = [
    `Compared with any place up to ${radius} away, your report changes the odds of anything that anyone could see `
      + `${factorWords(near)}.`,
    `Compared with anywhere else in the region, ${factorWords(far)}.`,
  ];
  if (reports > 1) {
    found.push(
      `You may send ${whole(reports)} reports. All of them together: ${factorWords(reports * near)} up to ${radius} `
        + `away, ${factorWords(reports * far)} anywhere else.`,
    );
  } else {
    found.push("You send one report to this round, so that is all.");
  }
  if (delta > 0) found.push(`Each report may miss this with a chance of at most ${chance(delta)}.`);
  const all = together(Array(reports).fill({ round: "", epsilon: near, delta }));
  if (delta > 0 && reports > 1) {
    found.push(all.delta < 1 ? `All of them together may miss it with a chance of at most ${chance(all.delta)}.`
      : "All of them together promise nothing.");
  }
  if (facts.trust === "shuffle") {
    found.push(`Your device cannot check these numbers. They hold if ${facts.analyser.operator} made the noise as it `
      + "says, which anyone can work out again from what is public.");
  }
  found.push(trustSentence(facts));
  if (needsShuffler(facts)) found.push(aloneSentence(facts));
  return found;
}

/** @param {number} epsilon */
function factorWords(epsilon) {
  const times = factor(epsilon);
  return times ? `by at most a factor of ${times}` : "without a useful limit";
}

/**
 * Whether more is promised than what is left without a shuffler.
 * @param {Facts} facts
 */
export function needsShuffler(facts) {
  return facts.trust === "shuffle" && !facts.open_link && !isOneOperator(facts);
}

/**
 * What one report can reveal to a shuffler and an analyser that work together.
 * @param {Facts} facts
 */
function aloneSentence({ loss_alone: alone }) {
  const [near, far, delta] = [alone.epsilon, alone.record_epsilon, alone.delta].map(number);
  const missed = delta > 0 ? `, missed with a chance of at most ${chance(delta)}` : "";
  return `If they do, your device’s own blur is left: a report changes the odds ${factorWords(near)} up to ${length(number(alone.radius_m))} away, and `
    + `${factorWords(far)} anywhere else${missed}.`;
}

/** @param {Facts} facts */
function trustSentence(facts) {
  const { analyser, shuffler } = facts;
  if (facts.trust === "local") return "You need to trust no one for this: your device does the blurring, and has checked these numbers.";
  // What is promised then is what is left without a shuffler.
  if (isOneOperator(facts)) {
    return `${analyser.operator} does both the mixing and the counting, so this counts on your device’s own blur `
      + "alone.";
  }
  if (facts.open_link) return "Anyone may send to this round, so this counts on your device’s own blur alone.";
  return `This needs ${whole(facts.least_honest)} reports of people who take part honestly, and ${shuffler.operator} and `
    + `${analyser.operator} not to work together against you.`;
}

/**
 * Who learns what, one line a role.
 * @param {Facts} facts
 */
export function learnsLines(facts) {
  const read = facts.trust === "local" ? "the blurred reports" : "everyone’s pieces";
  const sender = facts.open_link ? "your network address" : "this link";
  return {
    device: "knows your place, and blurs it. The place never leaves it.",
    shuffler: `mixes everyone’s reports. It sees that ${sender} sent something, and when, but not what.`,
    analyser: isOneOperator(facts)
      ? `reads ${read}. It runs the mixing, too, so it could see which are yours.`
      : `reads ${read}, mixed. It does not see which are yours, or if you took part.`,
  };
}

/**
 * @param {number} seconds since 1970
 * @param {string} [locale]
 */
export function moment(seconds, locale) {
  return new Date(1000 * seconds).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

/**
 * From one moment to another, naming a common day once.
 * @param {number} from seconds since 1970
 * @param {number} to
 * @param {string} [locale]
 */
export function span(from, to, locale) {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  return format.formatRange(1000 * from, 1000 * to);
}

/**
 * A time of day, with its day where that is another one.
 * @param {number} ms since 1970
 * @param {number} now
 */
export function clock(ms, now) {
  const isToday = new Date(ms).toDateString() === new Date(now).toDateString();
  return isToday ? new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : moment(ms / 1000);
}

const REFUSALS = new Map([
  ["round_closed", "The round closed before your report arrived. It was not taken."],
  ["unknown_invitation", "This link is not known to the shuffler. Your report was not taken."],
  ["invitation_used", "This link was used before, with another report. Yours was not taken."],
  ["unknown_round", "This round does not exist any more. Your report was not taken."],
  ["too_many_requests", "Too many people ask at this moment. Try again in a minute."],
]);

/** @param {string} code */
export function refusal(code) {
  return REFUSALS.get(code) ?? `Your report was not taken (${code}).`;
}
