/** Reads the facts of a round strictly: one spelling for one meaning, and nothing that is not expected. */

import { fromBase64url } from "./bytes.js";
import { canonical } from "./canonical_json.js";
import { exact, fraction, integer } from "./numbers.js";

/** What is wrong with a round's facts; `message` is for people, `code` as in other clients. */
export class FactsError extends Error {
  name = "FactsError";

  /**
   * @param {string} message
   * @param {string} [code]
   */
  constructor(message, code = "bad_facts") {
    super(message);
    this.code = code;
  }
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
 *   loss_alone: Loss, page_sha384: string,
 * }} Facts
 */

const KIND = "hazemap round";
const VERSION = 1;
const MOST_BYTES = 100_000;
const MOST_MESSAGES = 2 ** 16;
const LATEST = 253_402_300_799; // seconds since 1970, at the end of the year 9999

const ORDER_8 = [
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
];

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
/** A text from 2^53 on. @type {(least: bigint, most: bigint) => Test} */
const large = (least, most) => (value) => reads(() => integer(value)) && integer(value) >= least
  && integer(value) <= most && typeof value === (integer(value) < 2n ** 53n ? "number" : "string");
const weight = large(1n, 2n ** 64n);
/** @type {Test} */
const ratio = (value) => reads(() => fraction(value));
/** @type {(tests: Record<string, Test>) => Test} */
const object = (tests) => (value) => isObject(value) && misfit(value, tests) === null;
/** @type {Test} */
const anyText = text(/[^]/);
const slug = text(/^[a-zA-Z0-9_-]{1,200}$/);
const sha256 = text(/^[0-9a-f]{64}$/);
const degrees = text(/^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e-?[0-9]{1,3})?$/);
const decimal = text(/^(0|[1-9][0-9]{0,1999})(\/[1-9][0-9]{0,1999}|\.[0-9]{1,400})?$/);
/** @type {Test} */
const loss = (value) => value === "inf" || decimal(value);
/** @type {Test} */
const key = (value) => typeof value === "string" && value.length === 43 && reads(() => fromBase64url(value))
  && !isOfSmallOrder(fromBase64url(value));
/** @type {Test} */
const origin = (value) => typeof value === "string" && value.length <= 500 && reads(() => new URL(value))
  && /^https?:\/\/[!-~]+$/.test(value) && isPlain(new URL(value));

const LOSS = object({ epsilon: loss, delta: decimal, radius_m: decimal, record_epsilon: loss });

/** @type {Record<string, Test>} */
const FACTS = {
  kind: (value) => value === KIND,
  version: (value) => value === VERSION,
  round: text(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  collection: slug,
  number: whole(1),
  title: anyText,
  question: text(/^/),
  region: (value) => list(4, degrees)(value) && isRegion(/** @type {string[]} */ (value).map(Number)),
  mechanism: slug,
  trust: text(/^(local|shuffle)$/),
  encoding: (value) => isObject(value) && typeof value.kind === "string",
  table_sha256: sha256,
  messages: whole(1, MOST_MESSAGES),
  message_bytes: whole(1, 64),
  reports_per_person: whole(1, 10 ** 6),
  invitations: whole(0),
  invitations_sha256: sha256,
  open_link: (value) => typeof value === "boolean",
  least_honest: whole(1),
  dishonest_share: (value) => decimal(value) && String(value).length <= 200,
  least_reports: whole(1),
  opens_at: whole(0, LATEST),
  closes_at: whole(0, LATEST),
  analyser: object({ operator: anyText, url: origin, key }),
  shuffler: object({ operator: anyText, url: origin, key }),
  loss: LOSS,
  loss_alone: LOSS,
  page_sha384: text(/^([A-Za-z0-9+/]{64})?$/),
};

const LOCAL = ["offsets", "axes", "rows", "gkrr"]; // whose promise devices check themselves
// Sides and cells of lattices are those whose laws can be compared before a report.
/** @type {(most: number) => Record<"columns" | "rows", Test>} */
const cells = (most) => ({ columns: whole(1, most), rows: whole(1, most) });
const AXIS = object({ uniform: weight, total: weight });
const AXES = { ...cells(2 ** 10), across: AXIS, along: AXIS };
const STEPS = { width_um: whole(1), height_um: whole(1), cell_um: whole(1), domains: list(2, whole(1, 10 ** 4)) };

/** By kind; messages and bytes of one are what the encoding makes. @type {Record<string, Kind>} */
const KINDS = {
  offsets: {
    fields: { ...cells(2 ** 13), uniform: weight, total: weight }, messages: () => 1, bytes: () => 4,
    fits: ({ columns, rows }) => columns * rows <= 2 ** 13,
  },
  axes: { fields: AXES, messages: () => 1, bytes: () => 4 },
  rows: {
    fields: { ...cells(2 ** 8), total: weight }, messages: () => 1, bytes: () => 4,
    fits: ({ columns, rows }) => columns * rows <= 2 ** 8,
  },
  gkrr: {
    fields: {
      level: whole(0, 15), districts: whole(1, 4 ** 15), district_cells: whole(1, 4 ** 15),
      own: large(1n, 2n ** 63n), near: large(1n, 2n ** 63n), far: large(1n, 2n ** 63n),
    },
    messages: () => 1,
    bytes: () => 4,
    fits: ({ level, districts, district_cells: size, own, near, far }) => districts * size === 4 ** level
      && integer(own) >= integer(near) && integer(near) >= integer(far),
  },
  unary: {
    fields: {
      ...STEPS, domain: whole(1, 10 ** 4), padding: whole(1, 10 ** 6), places: whole(1), number_bytes: whole(1, 1024),
    },
    messages: ({ places }) => 2 * places,
    bytes: () => 1,
    fits: ({ domain, domains, padding, places }) => domain >= Math.max(...domains) && places === domain + 2 * padding,
  },
  flips: {
    fields: { ...STEPS, flips: list(2, whole(1, 2 ** 31 - 1)) },
    messages: ({ domains }) => domains[0] + domains[1],
    bytes: () => 1,
  },
  items: { fields: { ...AXES, samples: whole(1, 10 ** 6) }, messages: ({ samples }) => samples, bytes: () => 4 },
  shares: {
    fields: {
      levels: (value) => Array.isArray(value) && value.length > 0 && value.every(whole(0, 8)),
      parts: whole(1, 2 ** 16), shares: whole(2, 200), modulus: large(2n, 2n ** 62n), value_bytes: whole(1, 8),
      scales: (value) => Array.isArray(value) && value.every(ratio),
      cluster_entries: (value) => Array.isArray(value) && value.every(whole(1, 10 ** 6)),
      number_bytes: whole(1, 1024),
    },
    messages: ({ shares, levels }) =>
      levels.reduce((/** @type {number} */ sum, /** @type {number} */ level) => sum + shares * 4 ** level, 0),
    bytes: ({ value_bytes: value }) => 4 + value,
    fits: areShares,
  },
};
/**
 * @typedef {{
 *   fields: Record<string, Test>, messages: (encoding: any) => number, bytes: (encoding: any) => number,
 *   fits?: (encoding: any) => boolean,
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
  if (facts.analyser.key === facts.shuffler.key) {
    throw new FactsError("Both operators of this round have the same key: one of them could read who sent what.");
  }
  if (!isEnough(facts)) throw new FactsError("The number of reports that this round needs does not fit its numbers.");
  checkEncoding(facts);
  if (!isAloneSound(facts)) {
    throw new FactsError("What this round promises without its shuffler does not fit its method.");
  }
  if (facts.opens_at >= facts.closes_at) throw new FactsError("This round would close before it opens.");
  return facts;
}

/**
 * Whether `least_reports` is ⌈n_min / (1 − f)⌉.
 * @param {Facts} facts
 */
function isEnough({ least_honest: honest, dishonest_share: share, least_reports: reports }) {
  const [numerator, denominator] = exact(share);
  const rest = denominator - numerator;
  if (rest <= 0n) return false;
  return BigInt(reports) === (BigInt(honest) * denominator + rest - 1n) / rest;
}

/**
 * Whether one operator is declared for both roles.
 * @param {Pick<Facts, "analyser" | "shuffler">} facts
 */
export function isOneOperator({ analyser, shuffler }) {
  return analyser.operator.trim().toLowerCase() === shuffler.operator.trim().toLowerCase();
}

/**
 * Where no shuffler stands apart, as a device blurs by itself, anybody makes the crowd, or one party does all, what is
 * promised is what is left.
 * @param {Facts} facts
 */
function isAloneSound(facts) {
  const { loss, loss_alone: alone } = facts;
  const isAlone = facts.trust === "local" || facts.open_link || isOneOperator(facts);
  return isAlone ? canonical(alone) === canonical(loss) : alone.radius_m === loss.radius_m;
}

/** @param {Facts} facts */
function checkEncoding(facts) {
  const { kind, ...fields } = facts.encoding;
  if (!Object.hasOwn(KINDS, kind)) {
    throw new FactsError("This round uses a method that this page does not know. Load the page again.");
  }
  const wrong = misfit(fields, KINDS[kind].fields);
  if (wrong !== null) throw new FactsError(`The method of this round is not understood: ${wrong}.`);
  if (KINDS[kind].fits?.(facts.encoding) === false) {
    throw new FactsError("The numbers of this round’s method do not fit together.");
  }
  if ((facts.trust === "local") !== LOCAL.includes(kind)) {
    throw new FactsError("This round says that its method needs other trust than it does.");
  }
  const [messages, bytes] = [KINDS[kind].messages(facts.encoding), KINDS[kind].bytes(facts.encoding)];
  if (messages !== facts.messages || bytes !== facts.message_bytes) {
    throw new FactsError("The number or size of this round's messages does not fit its method.");
  }
}

/**
 * Consecutive levels with a law each, and a modulus that is a power of two and fits into its bytes.
 * @param {any} encoding
 */
function areShares({ levels, scales, cluster_entries: entries, modulus, value_bytes: bytes }) {
  const bound = integer(modulus);
  return levels.every((/** @type {number} */ level, /** @type {number} */ place) => level === levels[0] + place)
    && scales.length === levels.length && entries.length === levels.length
    && (bound & (bound - 1n)) === 0n && bound <= 1n << BigInt(8 * bytes);
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

/**
 * A point of X25519 that makes no secret with anybody's key.
 * @param {Uint8Array} key
 */
function isOfSmallOrder(key) {
  const field = 2n ** 255n - 19n;
  const u = key.reduceRight((sum, byte, place) => (sum << 8n) | BigInt(place === 31 ? byte & 127 : byte), 0n) % field;
  return [0n, 1n, field - 1n, ...ORDER_8].includes(u);
}

/** @param {number[]} region */
function isRegion([west, south, east, north]) {
  return west >= -180 && south >= -90 && east <= 180 && north <= 90 && Math.min(east - west, north - south) >= 1e-4;
}

/**
 * Encrypted, or of this machine; without a name, a query or a fragment.
 * @param {URL} url
 */
function isPlain({ protocol, hostname, username, password, search, hash }) {
  const isHere = ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
  return (protocol === "https:" || isHere) && !username && !password && !search && !hash;
}
