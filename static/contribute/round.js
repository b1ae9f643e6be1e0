/** Fetches a round: its facts from both roles, which must be the same bytes, and its table. */

import { digest, hexadecimal } from "./bytes.js";
import { FactsError, readFacts } from "./facts.js";
import { checkPromise } from "./promise.js";

/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {{ facts: Facts, factsSha256: Uint8Array, table: Uint8Array }} Round */

/** A role could not be reached; `role` says which. */
export class Unreachable extends Error {
  name = "Unreachable";

  /** @param {"shuffler" | "analyser"} role */
  constructor(role) {
    super(`the ${role} cannot be reached`);
    this.role = role;
  }
}

/**
 * Errors: `Unreachable`; `FactsError` with words for people.
 * @param {string} round its UUID
 * @returns {Promise<Round>}
 */
export async function loadRound(round) {
  const bytes = await fetched(`/rounds/${round}/facts.json`, "shuffler");
  if (!bytes) throw new FactsError("This round does not exist here. Check the link.");
  const facts = readFacts(bytes);
  if (facts.round !== round) throw new FactsError("These are the facts of another round.");
  if (facts.closes_at * 1000 <= Date.now()) {
    // Its table and key are forgotten by now: nothing of it is compared any more.
    throw new FactsError(`This round is over. It closed ${new Date(facts.closes_at * 1000).toLocaleString()}.`, "over");
  }
  const theirs = await fetched(new URL(`/rounds/${round}/facts.json`, facts.analyser.url).href, "analyser");
  if (!theirs) {
    throw new FactsError("This round was cancelled, or its analyser does not know it. Nothing can be sent.");
  }
  if (hexadecimal(theirs) !== hexadecimal(bytes)) {
    throw new FactsError(
      "The two operators of this round say different things about it. One of them may be telling you something "
      + "that it tells nobody else. Nothing can be sent.",
    );
  }
  const table = await fetched(`/rounds/${round}/table.bin`, "shuffler");
  if (!table || hexadecimal(await digest(table)) !== facts.table_sha256) {
    throw new FactsError("The table of this round is not the one that its facts name. Nothing can be sent.");
  }
  checkPromise(facts, table);
  return { facts, factsSha256: await digest(bytes), table };
}

/**
 * Null where there is no such thing.
 * @param {string} address
 * @param {"shuffler" | "analyser"} role
 */
async function fetched(address, role) {
  let response;
  try {
    response = await fetch(address, { credentials: "omit", cache: "no-cache", referrerPolicy: "no-referrer" });
    if (response.ok) return new Uint8Array(await response.arrayBuffer());
  } catch {
    throw new Unreachable(role);
  }
  if (response.status >= 500 || response.status === 429) throw new Unreachable(role);
  return null;
}
