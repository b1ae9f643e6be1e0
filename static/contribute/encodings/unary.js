/** `geo-shuffle` and `sgdl-shuffle`: each axis as ones, then zeros, bit by bit, with noise from everybody. */

import { bitMessage, values } from "./plane.js";
import { wholeTable } from "./running_sums.js";

/** @type {import("./encoding.js").Encode} */
export function unary(encoding, table, [cell], words) {
  const { padding, places } = encoding;
  const sums = wholeTable(table, encoding.number_bytes, 2 * padding); // of −c … c, the last left out
  return values(encoding, cell).flatMap((value, axis) => {
    const ones = value + sums.entry(words); // the entry is noise + padding
    if (ones > places) throw new RangeError("a value does not fit into its bits");
    return Array.from({ length: places }, (_, place) => bitMessage(axis, place < ones));
  });
}
