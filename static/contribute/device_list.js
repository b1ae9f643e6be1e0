/** Shows what was sent from this device, and what that adds up to. */

import { byId, make, show } from "./dom.js";
import { allRecords } from "./odometer.js";
import { chance, clock, factor, length, moment, number, refusal, together, whole } from "./words.js";

/** @typedef {import("./odometer.js").Record} Record */

/** Reads the list again. */
export async function showDevice() {
  const records = await allRecords();
  show(byId("device-none"), !records.length);
  show(byId("device-some"), records.length > 0);
  byId("records").replaceChildren(...records.map((record) => make("li", {}, ...recordWords(record))));
  byId("odometer").textContent = records.length ? odometerWords(records) : "";
}

/**
 * Every report that was begun counts, sent or not: more is never lost than this.
 * @param {Record[]} records
 */
export function odometerWords(records) {
  const { epsilon: sum, delta } = together(records.map(({ round, loss }) => (
    { round, epsilon: number(loss.epsilon), delta: number(loss.delta) })));
  const radii = records.map(({ loss }) => number(loss.radius_m));
  const many = records.length === 1 ? "1 report" : `${whole(records.length)} reports`;
  const times = delta < 1 ? factor(sum) : "";
  const radius = length(Math.min(...radii));
  const odds = times
    ? `for places up to ${radius} apart the odds change by at most ${times} times`
    : "together they have no useful limit";
  const epsilon = Number.isFinite(sum) ? sum.toLocaleString("en", { maximumFractionDigits: 4 }) : "∞";
  const missed = delta >= 1 ? ": no promise" : ` (${chance(delta)})`;
  return `${many} in all: ${odds} (ε ${epsilon}${delta > 0 ? `, δ ${delta.toPrecision(3)}${missed}` : ""}).`;
}

/** @param {Record} record */
function recordWords(record) {
  const title = make("strong", {}, `${record.title}, round ${whole(record.number)}`);
  return [title, `${stateWords(record)} Loss ε ${record.loss.epsilon}, δ ${record.loss.delta}.`];
}

/** @param {Record} record */
function stateWords({ state, sentAt, sendAt, begunAt, code }) {
  if (state === "sent") return `Sent ${moment((sentAt ?? begunAt) / 1000)}.`;
  if (state === "sealed") return `Waits to be sent, at about ${clock(sendAt ?? begunAt, Date.now())}.`;
  if (state === "refused") return refusal(code ?? "");
  return "Broke off before it was ready. Nothing was sent.";
}
