/** `shuffle-emd`: a map of the person's places with noise, each of its numbers in random shares. */

import { joinedBytes } from "../bytes.js";
import { bigEndian, fraction, integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";
import { morton } from "./morton.js";
import { polya } from "./polya.js";
import { RunningSums } from "./running_sums.js";

/** @typedef {import("../numbers.js").Fraction} Fraction */
/** @typedef {import("../random_words.js").Words} Words */

/** @type {import("./encoding.js").Encode} */
export function shares(encoding, table, places, words) {
  const modulus = integer(encoding.modulus);
  const messages = [];
  let coordinate = 0n;
  for (const { level, scale, sums } of laws(encoding, table)) {
    const parts = partsOf(encoding, places, level);
    for (let code = 0n; code < 4n ** BigInt(level); code += 1n, coordinate += 1n) {
      const noise = polya(sums, scale, words) - polya(sums, scale, words);
      const value = (parts.get(code) ?? 0n) + noise;
      for (const share of split(value, modulus, encoding.shares, words)) {
        messages.push(joinedBytes([bigEndian(coordinate, 4), bigEndian(share, encoding.value_bytes)]));
      }
    }
  }
  return messages;
}

/**
 * By level: the noise's scale and the law of the number of clusters.
 * @param {any} encoding
 * @param {Uint8Array} table
 */
function laws(encoding, table) {
  const all = new RunningSums(table, encoding.number_bytes);
  let from = 0;
  const found = encoding.levels.map((/** @type {number} */ level, /** @type {number} */ place) => {
    const to = from + encoding.cluster_entries[place];
    const sums = all.part(from, to);
    from = to;
    return { level, scale: fraction(encoding.scales[place]), sums };
  });
  if (from !== all.length) throw new RangeError("the table does not have the size that the round says");
  return /** @type {{ level: number, scale: Fraction, sums: RunningSums }[]} */ (found);
}

/**
 * A person's parts by the Morton code of a level: those of each place are cut to whole ones, then summed.
 * @param {any} encoding
 * @param {import("../places.js").Cell[]} places
 * @param {number} level
 */
function partsOf(encoding, places, level) {
  const each = integer(encoding.parts) / BigInt(places.length);
  /** @type {Map<bigint, bigint>} */
  const found = new Map();
  for (const place of places) {
    const code = morton(place, level);
    found.set(code, (found.get(code) ?? 0n) + each);
  }
  return found;
}

/**
 * @param {bigint} value
 * @param {bigint} modulus
 * @param {number} count
 * @param {Words} words
 */
function split(value, modulus, count, words) {
  const free = Array.from({ length: count - 1 }, () => uniformBelow(words, modulus));
  const rest = free.reduce((left, share) => left - share, value) % modulus;
  return [...free, (rest + modulus) % modulus];
}
