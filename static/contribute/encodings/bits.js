/** `geo-shuffle`, `sgdl-shuffle` and `rr-shuffle`: each axis as ones, then zeros, bit by bit. */

import { fraction, integer } from "../numbers.js";
import { uniformBelow } from "../random_words.js";
import { wholeTable } from "../running_sums.js";

/** @typedef {import("../places.js").Cell} Cell */

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

/**
 * A finest cell's whole numbers of lattice steps from the south-west corner, across and along.
 * @param {any} encoding
 * @param {Cell} cell
 */
function values({ width_um: width, height_um: height, cell_um: size, domains }, { x, y }) {
  const step = fraction(size);
  return [nearest(x, width, step, domains[0]), nearest(y, height, step, domains[1])];
}

/**
 * ⌊(2i + 1) · length / (2^32 · step) + 1/2⌋, at most `most`.
 * @param {number} index
 * @param {unknown} length
 * @param {import("../numbers.js").Fraction} step
 * @param {number} most
 */
function nearest(index, length, step, most) {
  const whole = fraction(length);
  const top = (2n * BigInt(index) + 1n) * whole.numerator * step.denominator;
  const bottom = step.numerator * whole.denominator << 32n;
  const found = Number((2n * top + bottom) / (2n * bottom));
  return Math.min(found, most);
}

/**
 * @param {number} axis
 * @param {boolean} isOne
 */
function bitMessage(axis, isOne) {
  return Uint8Array.of(2 * axis + Number(isOne));
}
