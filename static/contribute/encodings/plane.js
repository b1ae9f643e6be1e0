/** The two axes of a region in squares: what a place counts on each. */

import { fraction } from "../numbers.js";

/** @typedef {import("../places.js").Cell} Cell */

/**
 * Rounds a finest cell to whole numbers of lattice steps from the south-west corner, across and along.
 * @param {any} encoding
 * @param {Cell} cell
 */
export function values({ width_um: width, height_um: height, cell_um: size, domains }, { x, y }) {
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
  const value = Number((2n * top + bottom) / (2n * bottom));
  return Math.min(value, most);
}

/**
 * Returns the message of one bit.
 * @param {number} axis
 * @param {boolean} isOne
 */
export function bitMessage(axis, isOne) {
  return Uint8Array.of(2 * axis + Number(isOne));
}
