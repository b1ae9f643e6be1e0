/** `geo-local`: column and row are moved each by itself. */

import { integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";
import { cellMessage, onLattice, stopped } from "./lattice.js";
import { signed } from "./offsets.js";
import { wholeTable } from "./running_sums.js";

/** @typedef {import("../random_words.js").Words} Words */
/** @typedef {import("./running_sums.js").RunningSums} RunningSums */
/** @typedef {{ sums: RunningSums, uniform: bigint, total: bigint }} Axis */

/** @type {import("./encoding.js").Encode} */
export function axes(encoding, table, [cell], words) {
  return [moved(encoding, axesOf(encoding, table), cell, words)];
}

/**
 * @param {any} encoding
 * @param {Uint8Array} table
 * @returns {{ across: Axis, along: Axis }}
 */
export function axesOf({ columns, rows, across, along }, table) {
  const sums = wholeTable(table, 8, columns + rows);
  /** @param {{ uniform: unknown, total: unknown }} law */
  const numbers = (law) => ({ uniform: integer(law.uniform), total: integer(law.total) });
  return {
    across: { sums: sums.part(0, columns), ...numbers(across) },
    along: { sums: sums.part(columns, columns + rows), ...numbers(along) },
  };
}

/**
 * @param {any} encoding
 * @param {{ across: Axis, along: Axis }} both
 * @param {import("../places.js").Cell} cell
 * @param {Words} words
 */
export function moved(encoding, { across, along }, cell, words) {
  const { column, row } = onLattice(cell, encoding);
  const reportedColumn = movedOn(across, column, encoding.columns, words);
  return cellMessage(reportedColumn, movedOn(along, row, encoding.rows, words), encoding);
}

/**
 * @param {Axis} axis
 * @param {number} index
 * @param {number} count
 * @param {Words} words
 */
function movedOn({ sums, uniform, total }, index, count, words) {
  const drawn = uniformBelow(words, total);
  if (drawn >= sums.last) return Number((drawn - sums.last) / uniform);
  return stopped(index + signed(sums.atMost(drawn), words), count);
}
