/** Ascending integers of a fixed size in a round's table, big-endian. */

import { uniformBelow } from "../random_words.js";

/** @typedef {import("../random_words.js").Words} Words */

export class RunningSums {
  #bytes;
  #size;

  /**
   * @param {Uint8Array} bytes `size` bytes for each sum
   * @param {number} size
   */
  constructor(bytes, size) {
    if (bytes.length % size) throw new RangeError("the table does not have the size that the round says");
    this.#bytes = bytes;
    this.#size = size;
  }

  get length() {
    return this.#bytes.length / this.#size;
  }

  get last() {
    return this.at(this.length - 1);
  }

  /**
   * @param {number} place
   * @returns {bigint}
   */
  at(place) {
    let found = 0n;
    for (let at = place * this.#size; at < (place + 1) * this.#size; at += 1) {
      found = (found << 8n) | BigInt(this.#bytes[at]);
    }
    return found;
  }

  /**
   * How many sums are at most the value.
   * @param {bigint} value
   */
  atMost(value) {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * A draw from the law whose running sums these are; the last one, 2^(8 · size), is left out.
   * @param {Words} words
   */
  entry(words) {
    return this.atMost(uniformBelow(words, 1n << BigInt(8 * this.#size)));
  }

  /**
   * The sums from one place to before another.
   * @param {number} from
   * @param {number} to
   */
  part(from, to) {
    if (from < 0 || to > this.length) throw new RangeError("the table does not have the size that the round says");
    return new RunningSums(this.#bytes.subarray(from * this.#size, to * this.#size), this.#size);
  }
}

/**
 * A round's whole table, which must have so many sums.
 * @param {Uint8Array} table
 * @param {number} size bytes of a sum
 * @param {number} count
 */
export function wholeTable(table, size, count) {
  const sums = new RunningSums(table, size);
  if (sums.length !== count) throw new RangeError("the table does not have the size that the round says");
  return sums;
}
