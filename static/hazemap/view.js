// What a reader chose of a map, and who is told when it changes: the panel sets it, the drawing follows it.
// Pure: tests run it in node.
// allowed: by name the words there are, or the least and the largest number.
/** @type {(first: Chosen, allowed: Allowed) => View} */
export function makeView(first, allowed) {
  const chosen = { ...first };
  /** @type {Changed[]} */
  const listeners = [];

  // Takes a part of what can be chosen; listeners get the names of what is another now.
  /** @type {View["set"]} */
  function set(changes) {
    const names = /** @type {(keyof Chosen)[]} */ (Object.keys(changes));
    const changed = names.filter((name) => name in chosen && chosen[name] !== changes[name]);
    if (!changed.length) return;
    for (const name of changed) Object.assign(chosen, { [name]: changes[name] });
    for (const listener of listeners) listener(changed);
  }

  // Whether all of these may be chosen; numbers of a link are rounded.
  /** @type {View["allows"]} */
  function allows(changes) {
    return Object.entries(changes).every(([name, value]) => {
      const words = allowed.words[name] ?? [];
      const [least, largest] = allowed.numbers[name] ?? [1, 0];
      return typeof value === "number" ? value >= 0.999 * least && value <= 1.001 * largest : words.includes(value);
    });
  }

  return {
    allowed, allows, set,
    chosen: () => ({ ...chosen }),
    onChange: (/** @type {Changed} */ listener) => listeners.push(listener),
  };
}

// The view of a map with heat: what there is to choose, and what is shown at first.
/**
 * @param {Pick<HeatContent, "palettes" | "width">} content
 * @param {Partial<Record<"layer" | "shows", string[]>>} choices
 * @returns {View}
 */
export function makeMapView(content, choices) {
  const { palettes, width } = content;
  const WIDTH_RANGE = 4; // narrowest and widest, in the usual one
  const words = { ...choices, palette: Object.keys(palettes), scale: ["log", "linear"] };
  const usual = Object.fromEntries(Object.entries(words).map(([name, [first]]) => [name, first]));
  const first = /** @type {Chosen} */ (/** @type {unknown} */ ({ layer: "heat", ...usual, width, opacity: 0.9 }));
  return makeView(first, {
    words,
    numbers: {
      width: [Math.max(Math.round(width / WIDTH_RANGE), 1), Math.round(width * WIDTH_RANGE)], opacity: [0.2, 1],
    },
  });
}
