/** Checks what a round promises on the integers that reports are drawn with, before anything is asked. */

import { FactsError } from "./facts.js";
import { decimal, integer } from "./numbers.js";
import { lossesByMove, lossesOnBoth, reach } from "./encodings/events.js";
import { RunningSums, wholeTable } from "./encodings/running_sums.js";

/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {import("./encodings/events.js").Ground} Ground */
/** @typedef {import("./encodings/events.js").Losses} Losses */
/** @typedef {(encoding: any, table: Uint8Array, ground: Ground) => Losses} Measure */

const TOLERANCE = 1e-6; // relative; far more than logarithms lose, far less than matters
const NEVER = -1e9; // for the logarithm of 0: what one cell alone reports tells it apart

const EQUATOR_RADIUS_M = 6_378_137; // WGS84
const ECCENTRICITY_SQUARED = 0.00669437999014;

/** By kind, of those that nobody has to be trusted for. @type {Record<string, Measure>} */
const MEASURES = { offsets, axes, rows, gkrr };

/**
 * Errors: `FactsError` (`false_promise`) where a report costs more than the facts say: of local kinds between any
 * two cells, and between cells whose centres are at most the radius apart. Of shuffled kinds only where a table is
 * no law at all: what they promise depends on the noise of everybody.
 * @param {Facts} facts
 * @param {Uint8Array} table
 */
export function checkPromise({ encoding, region, loss }, table) {
  if (!Object.hasOwn(MEASURES, encoding.kind)) return checkLaws(encoding, table);
  const [west, south, east, north] = region.map(Number);
  const found = losses(encoding, table, { ...metres([west, south, east, north]), radiusM: decimal(loss.radius_m) });
  if (isAbove(found.anywhere, loss.record_epsilon) || isAbove(found.near, loss.epsilon)) {
    throw new FactsError("A report would give away more than this round says. Do not take part, and tell them.",
      "false_promise");
  }
}

/**
 * What one report of a local kind costs. Errors: `FactsError` where the table is no law.
 * @type {Measure}
 */
export function losses(encoding, table, ground) {
  return MEASURES[encoding.kind](encoding, table, ground);
}

/**
 * @param {number} found
 * @param {string} claimed
 */
function isAbove(found, claimed) {
  return claimed !== "inf" && found > decimal(claimed) * (1 + TOLERANCE);
}

/**
 * Metres of a region from west to east at the middle latitude, and from south to north.
 * @param {import("./places.js").Region} region
 */
export function metres([west, south, east, north]) {
  const radians = Math.PI / 180;
  const phi = ((south + north) / 2) * radians;
  const w = 1 - ECCENTRICITY_SQUARED * Math.sin(phi) ** 2;
  const meridian = (EQUATOR_RADIUS_M * (1 - ECCENTRICITY_SQUARED)) / w ** 1.5;
  const parallel = (EQUATOR_RADIUS_M * Math.cos(phi)) / Math.sqrt(w);
  return { widthM: (east - west) * radians * parallel, heightM: (north - south) * radians * meridian };
}

/**
 * @param {any} encoding
 * @param {Uint8Array} table
 */
function checkLaws(encoding, table) {
  if (encoding.kind === "unary") {
    checkLaw(wholeTable(table, encoding.number_bytes, 2 * encoding.padding));
  } else if (encoding.kind === "items") {
    for (const { sums } of axisLaws(encoding, table)) checkLaw(sums); // and not what one place costs
  } else if (encoding.kind === "shares") {
    const all = new RunningSums(table, encoding.number_bytes);
    let from = 0;
    for (const entries of encoding.cluster_entries) checkLaw(all.part(from, (from += entries)));
    if (from !== all.length) throw noLaw();
  }
}

/** @param {RunningSums} sums */
function checkLaw(sums) {
  const weights = weightsOf(sums);
  if (sums.length > 1 && weights.slice(1).every((weight) => weight === 0n)) throw noLaw();
}

/** @type {Measure} */
function offsets({ columns, rows, uniform, total }, table, ground) {
  const sums = wholeTable(table, 8, columns * rows);
  checkTotal(sums, integer(uniform), integer(total));
  const weights = weightsOf(sums);
  // Four times what one pair of signs has, so that all are whole.
  const quadrant = Array.from({ length: columns }, (_, column) => Array.from({ length: rows }, (_, row) =>
    BigInt((column ? 1 : 2) * (row ? 1 : 2)) * weights[column * rows + row]));
  return lossesOnBoth(quadrant, 4n * integer(uniform), ground);
}

/** @type {Measure} */
function axes(encoding, table, { widthM, heightM, radiusM }) {
  const [across, along] = axisLaws(encoding, table).map(({ sums, uniform }) =>
    // Twice what one sign has, so that all are whole.
    lossesByMove(weightsOf(sums).map((weight, place) => (place ? weight : 2n * weight)), 2n * uniform));
  const [acrossM, alongM] = [widthM / encoding.columns, heightM / encoding.rows];
  let near = 0;
  for (let columns = 0; columns < encoding.columns && columns * acrossM <= radiusM; columns += 1) {
    near = Math.max(near, across[columns] + along[reach(columns * acrossM, alongM, radiusM, encoding.rows)]);
  }
  return { near, anywhere: across[encoding.columns - 1] + along[encoding.rows - 1] };
}

/**
 * @param {any} encoding
 * @param {Uint8Array} table
 */
function axisLaws({ columns, rows, across, along }, table) {
  const sums = wholeTable(table, 8, columns + rows);
  const laws = [
    { sums: sums.part(0, columns), uniform: integer(across.uniform), total: integer(across.total) },
    { sums: sums.part(columns, columns + rows), uniform: integer(along.uniform), total: integer(along.total) },
  ];
  for (const law of laws) checkTotal(law.sums, law.uniform, law.total);
  return laws;
}

/** Compares the rows of all pairs of true cells, report by report. @type {Measure} */
function rows({ columns, rows: high, total }, table, { widthM, heightM, radiusM }) {
  const size = columns * high;
  const all = wholeTable(table, 8, size * size);
  const logs = Array.from({ length: size }, (_, cell) => {
    const sums = all.part(cell * size, (cell + 1) * size);
    if (sums.last !== integer(total)) throw noLaw();
    return weightsOf(sums).map((weight) => (weight ? Math.log(Number(weight)) : NEVER));
  });
  let [near, anywhere] = [0, 0];
  for (let one = 0; one < size; one += 1) {
    for (let other = 0; other < one; other += 1) {
      const loss = logs[one].reduce((most, log, place) => Math.max(most, Math.abs(log - logs[other][place])), 0);
      anywhere = Math.max(anywhere, loss);
      const across = (Math.floor(one / high) - Math.floor(other / high)) * (widthM / columns);
      if (Math.hypot(across, ((one % high) - (other % high)) * (heightM / high)) <= radiusM) near = Math.max(near, loss);
    }
  }
  return { near, anywhere };
}

/** Of the own cell's weight beside another's: of the own district, or of another. @type {Measure} */
function gkrr({ level, district_cells: cells, own, near, far }, table, { widthM, heightM, radiusM }) {
  if (table.length) throw noLaw();
  const bits = Math.log2(cells);
  const [side, wide, high] = [2 ** level, 2 ** Math.ceil(bits / 2), 2 ** Math.floor(bits / 2)]; // of a district
  const [within, beyond] = [near, far].map((other) => Math.log(Number(integer(own)) / Number(integer(other))));
  /** Neighbours' distances, and what a move to one costs. @type {[metres: number, loss: number, is: boolean][]} */
  const all = [
    [widthM / side, within, wide > 1], [heightM / side, within, high > 1],
    [widthM / side, beyond, wide < side], [heightM / side, beyond, high < side],
  ];
  const moves = all.filter(([, , is]) => is);
  return {
    near: Math.max(0, ...moves.filter(([metres]) => metres <= radiusM).map(([, loss]) => loss)),
    anywhere: Math.max(0, ...moves.map(([, loss]) => loss)),
  };
}

/**
 * What each entry adds to the sum before it.
 * @param {RunningSums} sums
 */
function weightsOf(sums) {
  let before = 0n;
  return Array.from({ length: sums.length }, (_, place) => {
    const weight = sums.at(place) - before;
    if (weight < 0n) throw noLaw();
    before += weight;
    return weight;
  });
}

/**
 * @param {RunningSums} sums
 * @param {bigint} uniform
 * @param {bigint} total
 */
function checkTotal(sums, uniform, total) {
  if (sums.last + uniform * BigInt(sums.length) !== total) throw noLaw();
}

function noLaw() {
  return new FactsError("The round’s table is no law of reports and does not blur. Do not take part, and tell them.",
    "false_promise");
}
