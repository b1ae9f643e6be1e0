/** Reads the facts of a round strictly: one spelling for one meaning, and nothing that is not expected. */

import { fromBase64url } from "./bytes.js";
import { canonical } from "./canonical_json.js";
import { fraction, integer } from "./numbers.js";

/** What is wrong with a round's facts; `message` is for people. */
export class FactsError extends Error {
  name = "FactsError";
}

/** @typedef {{ operator: string, url: string, key: string }} Role */
/** @typedef {{ epsilon: string, delta: string, radius_m: string, record_epsilon: string }} Loss */
/**
 * @typedef {{
 *   round: string, collection: string, number: number, title: string, question: string,
 *   region: string[], mechanism: string, trust: "local" | "shuffle", encoding: any, table_sha256: string,
 *   messages: number, message_bytes: number, reports_per_person: number, invitations: number,
 *   invitations_sha256: string, open_link: boolean, least_honest: number, dishonest_share: string,
 *   least_reports: number, opens_at: number, closes_at: number, analyser: Role, shuffler: Role, loss: Loss,
 *   page_sha384: string,
 * }} Facts
 */

const KIND = "hazemap round";
const VERSION = 1;
const MOST_BYTES = 100_000;
const MOST_MESSAGES = 2 ** 21;

/** @typedef {(value: unknown) => boolean} Test */

/** @type {(pattern: RegExp) => Test} */
const text = (pattern) => (value) => typeof value === "string" && pattern.test(value);
/** @type {(least: number, most?: number) => Test} */
const whole = (least, most = Number.MAX_SAFE_INTEGER) => (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most;
/** @type {(length: number, test: Test) => Test} */
const list = (length, test) => (value) =>
  Array.isArray(value) && value.length === length && value.every(test);
/** @type {(test: () => unknown) => boolean} */
const reads = (test) => {
  try {
    test();
    return true;
  } catch {
    return false;
  }
};
/** @type {Test} */
const number = (value) => reads(() => integer(value)) && integer(value) >= 0n;
/** @type {Test} */
const ratio = (value) => reads(() => fraction(value));
/** @type {(tests: Record<string, Test>) => Test} */
const object = (tests) => (value) => isObject(value) && misfit(value, tests) === null;
/** @type {Test} */
const anyText = text(/[^]/);
const sha256 = text(/^[0-9a-f]{64}$/);
const degrees = text(/^-?[0-9]+(\.[0-9]+)?(e-[0-9]+)?$/);
const decimal = text(/^[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?$/);
/** @type {Test} */
const loss = (value) => value === "inf" || decimal(value);
/** @type {Test} */
const key = (value) => typeof value === "string" && reads(() => fromBase64url(value)) && value.length === 43;
/** @type {Test} */
const origin = (value) => typeof value === "string" && reads(() => new URL(value)) && /^https?:/.test(value);

/** @type {Record<string, Test>} */
const FACTS = {
  kind: (value) => value === KIND,
  version: (value) => value === VERSION,
  round: text(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  collection: anyText,
  number: whole(1),
  title: anyText,
  question: text(/^/),
  region: (value) => list(4, degrees)(value) && isRegion(/** @type {string[]} */ (value).map(Number)),
  mechanism: anyText,
  trust: text(/^(local|shuffle)$/),
  encoding: (value) => isObject(value) && typeof value.kind === "string",
  table_sha256: sha256,
  messages: whole(1, MOST_MESSAGES),
  message_bytes: whole(1, 64),
  reports_per_person: whole(1),
  invitations: whole(0),
  invitations_sha256: sha256,
  open_link: (value) => typeof value === "boolean",
  least_honest: whole(1),
  dishonest_share: text(/^0(\.[0-9]+)?$|^[0-9]+\/[0-9]+$/),
  least_reports: whole(1),
  opens_at: whole(0),
  closes_at: whole(0),
  analyser: object({ operator: anyText, url: origin, key }),
  shuffler: object({ operator: anyText, url: origin, key }),
  loss: object({ epsilon: loss, delta: loss, radius_m: decimal, record_epsilon: loss }),
  page_sha384: text(/^([A-Za-z0-9+/]{64})?$/),
};

const CELLS = { columns: whole(1, 2 ** 16), rows: whole(1, 2 ** 16) };
const AXIS = object({ uniform: number, total: number });
const AXES = { ...CELLS, across: AXIS, along: AXIS };
const STEPS = { width_um: ratio, height_um: ratio, cell_um: ratio, domains: list(2, whole(1)) };

/** By kind; messages and bytes of one are what the encoding makes. @type {Record<string, Kind>} */
const KINDS = {
  offsets: { fields: { ...CELLS, uniform: number, total: number }, messages: () => 1, bytes: () => 4 },
  axes: { fields: AXES, messages: () => 1, bytes: () => 4 },
  rows: { fields: { ...CELLS, total: number }, messages: () => 1, bytes: () => 4 },
  gkrr: {
    fields: {
      level: whole(0, 16), districts: whole(1), district_cells: whole(1), own: number, near: number, far: number,
    },
    messages: () => 1,
    bytes: () => 4,
  },
  unary: {
    fields: { ...STEPS, domain: whole(1), padding: whole(1), places: whole(1), number_bytes: whole(1, 4096) },
    messages: ({ places }) => 2 * places,
    bytes: () => 1,
  },
  flips: {
    fields: { ...STEPS, flips: list(2, whole(0, 2 ** 32)) },
    messages: ({ domains }) => domains[0] + domains[1],
    bytes: () => 1,
  },
  items: { fields: { ...AXES, samples: whole(1) }, messages: ({ samples }) => samples, bytes: () => 4 },
  shares: {
    fields: {
      levels: (value) => Array.isArray(value) && value.length > 0 && value.every(whole(0, 12)),
      parts: whole(1), shares: whole(2), modulus: number, value_bytes: whole(1, 8),
      scales: (value) => Array.isArray(value) && value.every(ratio),
      cluster_entries: (value) => Array.isArray(value) && value.every(whole(0)),
      number_bytes: whole(1, 4096),
    },
    messages: ({ shares, levels }) =>
      levels.reduce((/** @type {number} */ sum, /** @type {number} */ level) => sum + shares * 4 ** level, 0),
    bytes: ({ value_bytes: value }) => 4 + value,
  },
};
/**
 * @typedef {{
 *   fields: Record<string, Test>, messages: (encoding: any) => number, bytes: (encoding: any) => number,
 * }} Kind
 */

/**
 * The facts that these bytes are. Errors: `FactsError`.
 * @param {Uint8Array} bytes
 * @returns {Facts}
 */
export function readFacts(bytes) {
  if (bytes.length > MOST_BYTES) throw new FactsError("The facts of this round are too long.");
  const words = new TextDecoder("utf-8").decode(bytes);
  let found;
  try {
    found = JSON.parse(words);
  } catch {
    throw new FactsError("The facts of this round are not JSON.");
  }
  if (!isObject(found) || canonical(found) !== words) {
    throw new FactsError("The facts of this round are not written in their one exact spelling.");
  }
  const wrong = misfit(found, FACTS);
  if (wrong !== null) throw new FactsError(`The facts of this round are not understood: ${wrong}.`);
  const facts = /** @type {Facts} */ (/** @type {unknown} */ (found));
  checkEncoding(facts);
  if (facts.opens_at >= facts.closes_at) throw new FactsError("This round would close before it opens.");
  return facts;
}

/** @param {Facts} facts */
function checkEncoding(facts) {
  const { kind, ...fields } = facts.encoding;
  if (!Object.hasOwn(KINDS, kind)) {
    throw new FactsError("This round uses a method that this page does not know. Load the page again.");
  }
  const wrong = misfit(fields, KINDS[kind].fields);
  if (wrong !== null) throw new FactsError(`The method of this round is not understood: ${wrong}.`);
  const [messages, bytes] = [KINDS[kind].messages(facts.encoding), KINDS[kind].bytes(facts.encoding)];
  if (messages !== facts.messages || bytes !== facts.message_bytes) {
    throw new FactsError("The number or size of this round's messages does not fit its method.");
  }
}

/**
 * The first key that is missing, unknown or has an unfit value.
 * @param {Record<string, unknown>} found
 * @param {Record<string, Test>} tests
 */
function misfit(found, tests) {
  const unknown = Object.keys(found).find((name) => !Object.hasOwn(tests, name));
  return unknown ?? Object.keys(tests).find((name) => !Object.hasOwn(found, name) || !tests[name](found[name])) ?? null;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {number[]} region */
function isRegion([west, south, east, north]) {
  return west >= -180 && south >= -90 && east <= 180 && north <= 90 && west < east && south < north;
}
