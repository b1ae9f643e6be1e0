// Numbers as people read them. Pure: tests run it in node.

/** @type {Map<string, Intl.NumberFormat>} */
const formats = new Map(); // making one takes longer than all that it then writes

// Every number that a script shows to people: up to so many places, commas, and no sign of zero.
/** @type {(value: number, places: number, least?: number) => string} */
export function number(value, places, least = 0) {
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
/** @type {(value: number, error: number) => string} */
export function withError(value, error) {
  if (!(error > 0)) return `${number(value, 2)} ± ${error === 0 ? "0" : "unknown"}`;
  const places = Math.min(Math.max(1 - Math.floor(Math.log10(error)), 0), 12);
  const up = Math.ceil(error * 10 ** places) / 10 ** places;
  return `${number(value, places, places)} ± ${number(up, places, places)}`;
}

// To two significant digits.
/** @type {(value: number) => string} */
export function rounded(value) {
  return number(Number(value.toPrecision(2)), 12);
}

// A bound from above: never below the real one.
/** @type {(value: number) => string} */
export function roundedUp(value) {
  if (!(value > 0)) return "0";
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  return number(Number((Math.ceil(value / step) * step).toPrecision(2)), 12);
}

/** @type {(metres: number) => string} */
export function length(metres) {
  return metres < 1000 ? `${rounded(metres)} m` : `${rounded(metres / 1000)} km`;
}

/** @type {(share: number) => string} */
export function percent(share) {
  return `${number(Number((100 * share).toPrecision(3)), 6)} %`;
}
