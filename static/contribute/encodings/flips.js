/** `rr-shuffle`: each axis as ones, then zeros, each bit flipped with one probability. */

import { integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";
import { bitMessage, values } from "./plane.js";

/** @type {import("./encoding.js").Encode} */
export function flips(encoding, table, [cell], words) {
  if (table.length) throw new RangeError("this round has no table");
  return values(encoding, cell).flatMap((value, axis) => {
    const chance = integer(encoding.flips[axis]);
    return Array.from({ length: encoding.domains[axis] }, (_, place) => {
      const isFlipped = uniformBelow(words, 1n << 32n) < chance;
      return bitMessage(axis, place < value !== isFlipped);
    });
  });
}
