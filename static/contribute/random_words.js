/** Draws uniform integers from 64-bit random words; a source is an argument everywhere, as in the mechanisms. */

/** @typedef {{ word(): bigint }} Words independent uniform 64-bit words */

const WORD_BITS = 64;
const WORDS = 1n << 64n;
const AT_ONCE = 512; // words; getRandomValues hands out at most 65,536 bytes at a time

/**
 * The device's cryptographic source; the only one used for anything that is sent.
 * @returns {Words}
 */
export function systemWords() {
  let ready = new BigUint64Array(0);
  let next = 0;
  return {
    word() {
      if (next === ready.length) {
        ready = crypto.getRandomValues(new BigUint64Array(AT_ONCE));
        next = 0;
      }
      const drawn = ready[next];
      ready[next] = 0n; // no word is used twice, or found in memory later
      next += 1;
      return drawn;
    },
  };
}

/**
 * One uniform integer in [0, bound), exactly; no word is drawn for a bound of 1.
 * @param {Words} words
 * @param {bigint} bound
 * @returns {bigint}
 */
export function uniformBelow(words, bound) {
  if (bound < 1n) throw new RangeError("a bound is at least 1");
  if (bound === 1n) return 0n;
  return bound <= WORDS ? withinWord(words, bound) : beyondWord(words, bound);
}

/**
 * A word is used modulo the bound where it lies below the largest multiple of the bound, else drawn again.
 * @param {Words} words
 * @param {bigint} bound
 */
function withinWord(words, bound) {
  const end = WORDS - (WORDS % bound);
  for (;;) {
    const drawn = words.word();
    if (drawn < end) return drawn % bound;
  }
}

/**
 * As many bits as the bound has, the first word lowest, drawn again until they are below it.
 * @param {Words} words
 * @param {bigint} bound
 */
function beyondWord(words, bound) {
  const bits = bitLength(bound - 1n);
  for (;;) {
    let drawn = 0n;
    for (let place = 0; place < bits; place += WORD_BITS) drawn |= words.word() << BigInt(place);
    drawn = BigInt.asUintN(bits, drawn);
    if (drawn < bound) return drawn;
  }
}

/** @param {bigint} value at least 0 */
export function bitLength(value) {
  return value === 0n ? 0 : value.toString(2).length;
}
