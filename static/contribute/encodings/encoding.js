/** Turns a person's places into the messages of one report. */

import { axes } from "./axes.js";
import { flips } from "./flips.js";
import { gkrr } from "./gkrr.js";
import { items } from "./items.js";
import { offsets } from "./offsets.js";
import { rows } from "./rows.js";
import { shares } from "./shares.js";
import { unary } from "./unary.js";

/** @typedef {import("../places.js").Cell} Cell */
/** @typedef {import("../random_words.js").Words} Words */
/**
 * @typedef {(
 *   encoding: any, table: Uint8Array, places: Cell[], words: Words
 * ) => Uint8Array[]} Encode `encoding` is as the facts have it, checked by `facts.js`
 */

/** @type {Record<string, Encode>} */
export const ENCODINGS = { offsets, axes, rows, gkrr, unary, flips, items, shares };

/**
 * The messages of one report; drawing again gives others, so that this is called once for what is sent.
 * @param {{ kind: string }} encoding
 * @param {Uint8Array} table
 * @param {Cell[]} places of the person: one, but for `items` and `shares`
 * @param {Words} words
 */
export function messagesOf(encoding, table, places, words) {
  if (!places.length) throw new RangeError("a report is of a place");
  return ENCODINGS[encoding.kind](encoding, table, places, words);
}
