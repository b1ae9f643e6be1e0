/** Codes of quadtree cells: the bits of column and row by turns, the row's above the column's. */

/**
 * Finds the code of the cell of a level that holds a finest cell.
 * @param {import("../places.js").Cell} cell
 * @param {number} level
 * @returns {bigint}
 */
export function morton({ x, y }, level) {
  let code = 0n;
  for (let bit = 30; bit > 30 - level; bit -= 1) {
    code = (code << 2n) | BigInt(((y >>> bit) & 1) * 2 + ((x >>> bit) & 1));
  }
  return code;
}
