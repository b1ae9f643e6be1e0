/** `planar-geometric`: the place's cell plus an offset of either sign on both axes, or a uniform cell. */

import { integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";
import { cellMessage, onLattice, stopped } from "./lattice.js";
import { wholeTable } from "./running_sums.js";

/** @type {import("./encoding.js").Encode} */
export function offsets(encoding, table, [cell], words) {
  const lattice = /** @type {import("./lattice.js").Lattice} */ (encoding);
  const { columns, rows } = lattice;
  const sums = wholeTable(table, 8, columns * rows);
  const drawn = uniformBelow(words, integer(encoding.total));
  if (drawn >= sums.last) {
    const number = Number((drawn - sums.last) / integer(encoding.uniform));
    return [cellMessage(Math.floor(number / rows), number % rows, lattice)];
  }
  const place = sums.atMost(drawn);
  const across = signed(Math.floor(place / rows), words);
  const along = signed(place % rows, words);
  const { column, row } = onLattice(cell, lattice);
  return [cellMessage(stopped(column + across, columns), stopped(row + along, rows), lattice)];
}

/**
 * An offset with a random sign, which is drawn for 0, too.
 * @param {number} offset
 * @param {import("../random_words.js").Words} words
 */
export function signed(offset, words) {
  return uniformBelow(words, 2n) ? -offset : offset;
}
