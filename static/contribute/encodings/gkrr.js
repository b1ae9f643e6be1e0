/** `frequency`: the true cell, one of its district, or any. */

import { bigEndian, integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";
import { morton } from "./morton.js";

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
