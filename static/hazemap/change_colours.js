// Which colour a change has: by its size in standard errors, in classes to either side of "no clear change".
// Pure: tests run it in node.

export const GROWTH = [1, 1.5, 2.5]; // of the least clear change: where each class begins
export const WORDS = { more: "Clearly more", fewer: "Clearly fewer", none: "No clear change" };

/** @type {(sureness: number, least: number) => number} */
function classOf(sureness, least) {
  return GROWTH.findLastIndex((growth) => Math.abs(sureness) >= growth * least);
}

// palette: {light, dark}, each {more, fewer} with a colour "#rrggbb" a class, from the least change on.
/** @type {(palettes: ChangePalettes, isDark: boolean, sureness: number, least: number) => Colour | null} */
export function colour(palette, isDark, sureness, least) {
  const at = classOf(sureness, least);
  if (at < 0) return null;
  const text = palette[isDark ? "dark" : "light"][sureness > 0 ? "more" : "fewer"][at];
  const part = (/** @type {number} */ start) => parseInt(text.slice(start, start + 2), 16);
  return [part(1), part(3), part(5)];
}
