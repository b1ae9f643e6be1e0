/** `optimal`: every true cell has a law of reports of its own. */

import { integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";
import { cellMessage, onLattice } from "./lattice.js";
import { wholeTable } from "./running_sums.js";

/** @type {import("./encoding.js").Encode} */
export function rows(encoding, table, [cell], words) {
  const lattice = /** @type {import("./lattice.js").Lattice} */ (encoding);
  const cells = lattice.columns * lattice.rows;
  const { column, row } = onLattice(cell, lattice);
  const first = (column * lattice.rows + row) * cells;
  const law = wholeTable(table, 8, cells * cells).part(first, first + cells);
  const number = law.atMost(uniformBelow(words, integer(encoding.total)));
  return [cellMessage(Math.floor(number / lattice.rows), number % lattice.rows, lattice)];
}
