// Numbers as people read them. Pure: tests run it in node.
globalThis.hazemapNumbers = (() => {
  "use strict";

  /** @type {Map<string, Intl.NumberFormat>} */
  const formats = new Map(); // making one takes longer than all that it then writes

  // Every number that a script shows to people: up to so many places, commas, and no sign of zero.
  /** @type {Numbers["number"]} */
  function number(value, places, least = 0) {
    const key = `${places} ${least}`;
    let format = formats.get(key);
    if (!format) {
      const digits = { minimumFractionDigits: least, maximumFractionDigits: places };
      format = new Intl.NumberFormat("en", { ...digits, signDisplay: "negative" });
      formats.set(key, format);
    }
    return format.format(value);
  }

  // The error to two significant digits, rounded up, and the value to as many places.
  /** @type {Numbers["withError"]} */
  function withError(value, error) {
    if (!(error > 0)) return `${number(value, 2)} ± ${error === 0 ? "0" : "unknown"}`;
    const places = Math.min(Math.max(1 - Math.floor(Math.log10(error)), 0), 12);
    const up = Math.ceil(error * 10 ** places) / 10 ** places;
    return `${number(value, places, places)} ± ${number(up, places, places)}`;
  }

  // To two significant digits.
  /** @type {Numbers["rounded"]} */
  function rounded(value) {
    return number(Number(value.toPrecision(2)), 12);
  }

  // A bound from above: never below the real one.
  /** @type {Numbers["roundedUp"]} */
  function roundedUp(value) {
    if (!(value > 0)) return "0";
    const step = 10 ** (Math.floor(Math.log10(value)) - 1);
    return number(Number((Math.ceil(value / step) * step).toPrecision(2)), 12);
  }

  /** @type {Numbers["length"]} */
  function length(metres) {
    return metres < 1000 ? `${rounded(metres)} m` : `${rounded(metres / 1000)} km`;
  }

  /** @type {Numbers["percent"]} */
  function percent(share) {
    return `${number(Number((100 * share).toPrecision(3)), 6)} %`;
  }

  return { length, number, percent, rounded, roundedUp, withError };
})();
