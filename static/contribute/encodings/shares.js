/** `shuffle-emd`: a map of the person's places with noise, each of its numbers in random shares. */

import { joinedBytes } from "../bytes.js";
import { bigEndian, fraction, integer } from "../numbers.js";
import { bitLength, uniformBelow } from "../random_words.js";
import { RunningSums } from "../running_sums.js";
import { morton } from "./gkrr.js";

/** @typedef {import("../numbers.js").Fraction} Fraction */
/** @typedef {import("../random_words.js").Words} Words */

const FARTHEST = 400n; // scales

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

/**
 * A sum of clusters: nearly always 0.
 * @param {RunningSums} sums
 * @param {Fraction} scale
 * @param {Words} words
 */
function polya(sums, scale, words) {
  let found = 0n;
  for (let clusters = sums.entry(words); clusters > 0; clusters -= 1) found += clusterSize(scale, words);
  return found;
}

/**
 * P(k) ∝ e^(−k/scale) / k: an octave and a number in it are proposed, and taken by exact coins.
 * @param {Fraction} scale
 * @param {Words} words
 * @returns {bigint}
 */
function clusterSize({ numerator, denominator }, words) {
  const octaves = BigInt(bitLength((FARTHEST * numerator) / denominator));
  for (;;) {
    const first = 1n << uniformBelow(words, octaves);
    const size = first + uniformBelow(words, first);
    if (uniformBelow(words, size) >= first) continue; // first / size
    const exponent = (size - 1n) * denominator;
    if (!allOnes(exponent / numerator, words)) continue;
    if (coin(exponent % numerator, numerator, words)) return size;
  }
}

/**
 * So many coins of e^−1 in a row, up to the first that fails.
 * @param {bigint} count
 * @param {Words} words
 */
function allOnes(count, words) {
  for (let left = count; left > 0n; left -= 1n) if (!coin(1n, 1n, words)) return false;
  return true;
}

/**
 * True with probability e^(−p/q), exactly (Canonne, Kamath, Steinke 2020, Algorithm 1).
 * @param {bigint} p at most q
 * @param {bigint} q
 * @param {Words} words
 */
function coin(p, q, words) {
  let place = 1n;
  while (uniformBelow(words, q) < p && uniformBelow(words, place) === 0n) place += 1n;
  return place % 2n === 1n;
}
