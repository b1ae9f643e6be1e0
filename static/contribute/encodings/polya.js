/** Draws Pólya numbers as sums of clusters, by comparisons of integers alone. */

import { bitLength, uniformBelow } from "../random_words.js";

/** @typedef {import("../numbers.js").Fraction} Fraction */
/** @typedef {import("../random_words.js").Words} Words */
/** @typedef {import("./running_sums.js").RunningSums} RunningSums */

const FARTHEST = 400n; // scales

/**
 * A sum of clusters: nearly always 0.
 * @param {RunningSums} sums
 * @param {Fraction} scale
 * @param {Words} words
 */
export function polya(sums, scale, words) {
  let sum = 0n;
  for (let clusters = sums.entry(words); clusters > 0; clusters -= 1) sum += clusterSize(scale, words);
  return sum;
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
