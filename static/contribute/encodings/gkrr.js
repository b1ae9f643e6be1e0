/** `frequency`: the true cell, one of its district, or any. */

import { bigEndian, integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";

/** @type {import("./encoding.js").Encode} */
export function gkrr(encoding, table, [cell], words) {
  if (table.length) throw new RangeError("this round has no table");
  const districtCells = integer(encoding.district_cells);
  const cells = integer(encoding.districts) * districtCells;
  const [own, near, far] = [encoding.own, encoding.near, encoding.far].map(integer);
  const everywhere = cells * far;
  const district = districtCells * (near - far);
  const code = morton(cell, encoding.level);
  const drawn = uniformBelow(words, own - near + district + everywhere);
  if (drawn < everywhere) return [bigEndian(drawn / far, 4)];
  const within = drawn - everywhere;
  if (within < district) return [bigEndian(code - (code % districtCells) + within / (near - far), 4)];
  return [bigEndian(code, 4)];
}

/**
 * The code of the cell of a level that holds a finest cell; y gives the higher bit of each pair.
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
