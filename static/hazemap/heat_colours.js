// Which colour a value has, and how strongly it is drawn. Pure: tests run it in node.

/** @type {[most: number, label: string][]} */
export const BANDS = [[0.1, "within 10 %"], [0.25, "within 25 %"], [0.5, "within 50 %"], [Infinity, "less sure"]];
const STEPS = 256; // colours of a ramp

// A ramp's stops ("#rrggbb") as so many colours [red, green, blue]; on dark ground more is lighter.
/** @type {(stops: string[], isDark: boolean) => Colour[]} */
export function ramp(stops, isDark) {
  const parts = stops.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  if (isDark) parts.reverse();
  return Array.from({ length: STEPS }, (_, index) => {
    const at = (index / (STEPS - 1)) * (parts.length - 1);
    const low = Math.min(Math.floor(at), parts.length - 2);
    const [red, green, blue] = parts[low].map((value, part) => Math.round(value + (parts[low + 1][part] - value) * (at - low)));
    return [red, green, blue];
  });
}

/** @type {(colours: Colour[], share: number) => Colour} */
export function colour(colours, share) {
  return colours[Math.round(share * (STEPS - 1))];
}

// Where a value stands between the least and the largest, 0 to 1.
/** @type {(value: number, range: [low: number, high: number], scale: Chosen["scale"]) => number} */
export function share(value, [low, high], scale) {
  const part = scale === "log" ? Math.log(value / low) / Math.log(high / low) : value / high;
  return Math.min(Math.max(Number.isFinite(part) ? part : 1, 0), 1);
}

// The same of how sure a value is, in bands of its relative error: two standard errors to either side.
/** @type {(sureness: number) => number} */
export function bandShare(sureness) {
  return shareOfBand(BANDS.findIndex(([most]) => 2 / sureness <= most));
}

/** @type {(index: number) => number} */
export function shareOfBand(index) {
  return 1 - index / (BANDS.length - 1);
}

// How opaque: from a quarter where a value is just told from zero to full where it is twice as sure.
/** @type {(sureness: number, least: number) => number} */
export function fade(sureness, least) {
  const part = Math.min((sureness - least) / least, 1);
  return 0.25 + 0.75 * part * part * (3 - 2 * part);
}
