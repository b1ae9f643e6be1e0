/** Cells of a lattice over the region, by column and row, from finest cells. */

import { bigEndian } from "../numbers.js";

/** @typedef {import("../places.js").Cell} Cell */
/** @typedef {{ columns: number, rows: number }} Lattice */

/**
 * A finest cell's column and row.
 * @param {Cell} cell
 * @param {Lattice} lattice
 */
export function onLattice({ x, y }, { columns, rows }) {
  return { column: scaled(x, columns), row: scaled(y, rows) };
}

/**
 * @param {number} column
 * @param {number} row
 * @param {Lattice} lattice
 */
export function cellMessage(column, row, { rows }) {
  return bigEndian(BigInt(column) * BigInt(rows) + BigInt(row), 4);
}

/**
 * A message's column and row.
 * @param {Uint8Array} message
 * @param {Lattice} lattice
 */
export function cellOf(message, { rows }) {
  const number = new DataView(message.buffer, message.byteOffset).getUint32(0);
  return { column: Math.floor(number / rows), row: number % rows };
}

/**
 * @param {number} finest
 * @param {number} count
 */
function scaled(finest, count) {
  return Number((BigInt(finest) * BigInt(count)) >> 31n); // a double holds no 62 bits
}

/**
 * @param {number} value
 * @param {number} count
 */
export function stopped(value, count) {
  return Math.min(Math.max(value, 0), count - 1);
}
