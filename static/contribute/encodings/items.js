/** `emd-itemwise`: samples of a person's places, each moved by noise. */

import { uniformBelow } from "../random_words.js";
import { axesOf, moved } from "./axes.js";

/** @type {import("./encoding.js").Encode} */
export function items(encoding, table, places, words) {
  const both = axesOf(encoding, table);
  return Array.from({ length: encoding.samples }, () => {
    const place = places[Number(uniformBelow(words, BigInt(places.length)))];
    return moved(encoding, both, place, words);
  });
}
