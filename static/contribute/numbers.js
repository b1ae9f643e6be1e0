/** Reads exact numbers of facts: integers as numbers or texts, fractions as texts. */

/** @typedef {{ numerator: bigint, denominator: bigint }} Fraction in lowest terms */

/**
 * @param {unknown} value a number below 2^53, or a text of digits
 * @returns {bigint}
 */
export function integer(value) {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "string" && /^(0|-?[1-9][0-9]*)$/.test(value)) return BigInt(value);
  throw new RangeError("a whole number is needed");
}

/**
 * @param {unknown} value as for `integer`, or "3/8"
 * @returns {Fraction}
 */
export function fraction(value) {
  const parts = typeof value === "string" ? value.split("/") : [value];
  if (parts.length > 2) throw new RangeError("a fraction has one stroke");
  const numerator = integer(parts[0]);
  const denominator = parts.length === 2 ? integer(parts[1]) : 1n;
  if (numerator < 1n || denominator < 1n) throw new RangeError("a fraction here is above 0");
  const common = divisor(numerator, denominator);
  return { numerator: numerator / common, denominator: denominator / common };
}

/**
 * A number that is not negative, as a quotient of integers: "3/8", "0.375", "2".
 * @param {string} text
 * @returns {[numerator: bigint, denominator: bigint]}
 */
export function exact(text) {
  if (text.includes("/")) return /** @type {[bigint, bigint]} */ (text.split("/").map(BigInt));
  const [whole, digits = ""] = text.split(".");
  return [BigInt(whole + digits), 10n ** BigInt(digits.length)];
}

/**
 * A number that is not negative, for reading: "3/8", "0.375", "2".
 * @param {string} text
 */
export function decimal(text) {
  const [numerator, denominator] = text.split("/").map(Number);
  return denominator === undefined ? numerator : numerator / denominator;
}

/**
 * @param {bigint} one
 * @param {bigint} other
 * @returns {bigint}
 */
function divisor(one, other) {
  return other === 0n ? one : divisor(other, one % other);
}

/**
 * Big-endian.
 * @param {bigint} value
 * @param {number} bytes
 */
export function bigEndian(value, bytes) {
  if (value < 0n || value >> BigInt(8 * bytes)) throw new RangeError("a number does not fit into its bytes");
  const found = new Uint8Array(bytes);
  for (let place = bytes - 1, left = value; place >= 0; place -= 1, left >>= 8n) found[place] = Number(left & 255n);
  return found;
}
