/** Writes JSON in the one spelling of facts: sorted keys, no blanks, ASCII, whole numbers. */

const ESCAPES = new Map([
  ['"', '\\"'], ["\\", "\\\\"], ["\b", "\\b"], ["\f", "\\f"], ["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"],
]);

/**
 * Null where a value has no such spelling: a fraction, a number beyond 2^53, null.
 * @param {unknown} value
 * @returns {string | null}
 */
export function canonical(value) {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : null;
  if (Array.isArray(value)) return wrapped("[", value.map(canonical), "]");
  if (typeof value !== "object" || value === null) return null;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return wrapped("{", entries.map(([name, inner]) => member(name, canonical(inner))), "}");
}

/**
 * @param {string} name
 * @param {string | null} inner
 */
function member(name, inner) {
  return inner === null ? null : `${quoted(name)}:${inner}`;
}

/**
 * @param {string} open
 * @param {(string | null)[]} parts
 * @param {string} close
 */
function wrapped(open, parts, close) {
  return parts.includes(null) ? null : open + parts.join(",") + close;
}

/** @param {string} text */
function quoted(text) {
  const letters = text.replace(/["\\]|[^ -~]/g, (letter) => ESCAPES.get(letter) ?? escaped(letter));
  return `"${letters}"`;
}

/** @param {string} unit of UTF-16 */
function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
