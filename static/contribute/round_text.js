/** Fills the page with what a round asks, who learns what, and an example. */

import { byId, make } from "./dom.js";
import { messagesOf } from "./encodings/encoding.js";
import { isOneOperator } from "./facts.js";
import { DRAWS, examplePicture, exampleWords, headPicture } from "./picture.js";
import { finestCell } from "./places.js";
import { systemWords } from "./random_words.js";
import { learnsLines, length, lossSentences, needsShuffler, number, span, whole } from "./words.js";

/** @typedef {import("./round.js").Round} Round */

/**
 * @param {Round} round
 * @param {import("./picture.js").Town[]} towns
 */
export async function fillRound({ facts, table }, towns) {
  const { analyser, shuffler } = facts;
  document.title = `${facts.title} · Hazemap`;
  byId("title-line").textContent = isOneOperator(facts)
    ? `${analyser.operator} asks`
    : `${analyser.operator} asks, ${shuffler.operator} mixes`;
  byId("title").textContent = facts.title;
  byId("question").textContent = facts.question;
  byId("moments").textContent = `Round ${whole(facts.number)}, ${span(facts.opens_at, facts.closes_at)}. `
    + `There is a result only with ${whole(facts.least_reports)} reports or more.`;
  byId("region-picture").replaceChildren(headPicture(facts, towns));
  byId("shuffler-name").textContent = `Shuffler: ${shuffler.operator}`;
  byId("analyser-name").textContent = `Analyser: ${analyser.operator}`;
  const lines = learnsLines(facts);
  byId("learns-device").textContent = lines.device;
  byId("learns-shuffler").textContent = lines.shuffler;
  byId("learns-analyser").textContent = lines.analyser;
  byId("loss").replaceChildren(...lossSentences(facts).map((words) => make("li", {}, words)));
  byId("exact").replaceChildren(...exactNumbers(facts).flatMap(([name, value]) => [
    make("dt", {}, name), make("dd", {}, value),
  ]));
  byId("consent-words").textContent = facts.reports_per_person > 1
    ? "I want to send one blurred report to this round. I know that it cannot be called back."
    : "I want to send my one blurred report to this round. I know that it cannot be called back.";
  showExample({ facts, table }, towns);
  byId("example-again").addEventListener("click", () => {
    showExample({ facts, table }, towns);
    byId("example-news").textContent = `Three others were drawn. ${byId("example-picture").textContent}`;
  });
}

/**
 * Draws of a fixed public place, the middle of the region: nothing of them depends on anybody.
 * @param {Pick<Round, "facts" | "table">} round
 * @param {import("./picture.js").Town[]} towns
 */
function showExample({ facts, table }, towns) {
  const [west, south, east, north] = facts.region.map(Number);
  const place = finestCell([west, south, east, north], (south + north) / 2, (west + east) / 2);
  const draws = Array.from({ length: DRAWS }, () => messagesOf(facts.encoding, table, [place], systemWords()));
  byId("example-words").textContent = exampleWords(facts);
  byId("example-picture").replaceChildren(examplePicture(facts, place, draws, towns));
}

/**
 * @param {import("./facts.js").Loss} loss
 * @returns {[name: string, value: string][]}
 */
function withoutMixing({ epsilon, record_epsilon: anywhere, delta }) {
  return [
    ["ε there, without the mixing", epsilon],
    ["ε anywhere, without the mixing", anywhere],
    ["δ, without the mixing", delta],
  ];
}

/**
 * @param {import("./facts.js").Facts} facts
 * @returns {[name: string, value: string][]}
 */
function exactNumbers(facts) {
  return [
    ["Within", length(number(facts.loss.radius_m))],
    ["ε there", facts.loss.epsilon],
    ["ε anywhere", facts.loss.record_epsilon],
    ["δ", facts.loss.delta],
    ...(needsShuffler(facts) ? withoutMixing(facts.loss_alone) : []),
    ["Reports each", whole(facts.reports_per_person)],
    ["Method", facts.mechanism],
    ["Trust", facts.trust],
    ["Counted on", `${whole(facts.least_honest)} honest reports, ${facts.dishonest_share} of all dishonest`],
    ["Messages", `${whole(facts.messages)} of ${whole(facts.message_bytes)} bytes`],
  ];
}
