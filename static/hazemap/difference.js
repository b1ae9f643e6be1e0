// What changed between two released maps: the difference of two densities or sums, and whether it is clear.
// Pure computing: compare.js draws it, and tests run it in node.
import { sum, turn } from "./areas.js";

// Of two values with standard errors: variances add up. The noise of two releases is drawn apart. Where in a
// square its people are is unknown in both; it counts as if all were in one place. As people mostly keep to the
// same places, both maps err alike there, which a difference takes away: the sum is a bound.
/** @type {(one: Told, other: Told) => Told} */
export function between(one, other) {
  return { value: other.value - one.value, error: Math.hypot(one.error, other.error) };
}

// The least difference over error, to either side, that is clear at a false discovery rate (Benjamini, Hochberg
// 1995); Infinity where none is. The tail is that of one Laplace variable, the widest law of a map's noise:
// the normal law's calls some change in half of the maps where there is none.
/** @type {(ratios: ArrayLike<number>, rate: number) => number} */
export function least(ratios, rate) {
  const sizes = Float64Array.from(ratios, (ratio) => Math.abs(ratio)).sort().reverse();
  for (let rank = sizes.length; rank > 0; rank -= 1) {
    if (Math.exp(-Math.SQRT2 * sizes[rank - 1]) <= (rate * rank) / sizes.length) return sizes[rank - 1];
  }
  return Infinity;
}

// Errors to either side within which 1 - rate of the changes lie: of `shown` of `all`, chosen for being clear, by
// the same law (Benjamini, Yekutieli 2005, false coverage rate).
/** @type {(shown: number, all: number, rate: number) => number} */
export function reach(shown, all, rate) {
  return -Math.log((rate * Math.max(shown, 1)) / all) / Math.SQRT2;
}

/** @type {(told: Told) => number} */
function ratio({ value, error }) {
  return error > 0 ? value / error : 0;
}

// The difference of two densities of one lattice (density.js), as such a one: its sureness has a sign.
/** @type {(one: SmoothDensity, other: SmoothDensity, size: number, rate: number) => ChangedDensity} */
export function density(one, other, size, rate) {
  /** @type {(map: SmoothDensity, pixel: number) => Told} */
  const told = (map, pixel) => ({ value: map.value(pixel), error: map.widest(pixel) });
  const at = (/** @type {number} */ pixel) => between(told(one, pixel), told(other, pixel));
  const ratios = Float64Array.from({ length: size }, (_, pixel) => ratio(at(pixel)));
  const bound = least(ratios, rate);
  const shown = ratios.filter((found) => Math.abs(found) >= bound).length;
  return {
    width: one.width,
    least: bound,
    reach: reach(shown || size, size, rate), // where none is clear, none was chosen
    value: (pixel) => at(pixel).value,
    error: (pixel) => at(pixel).error,
    sureness: (pixel) => ratios[pixel],
    change: (pixel) => change(ratios[pixel], bound),
  };
}

/** @type {(sureness: number, bound: number) => Change} */
function change(sureness, bound) {
  if (Math.abs(sureness) < bound) return "none";
  return sureness > 0 ? "more" : "fewer";
}

// People in the part of an area that both maps cover: {one, other, value, error, covered, filled}.
/** @type {(maps: { region: Box; squares: Squares[] }[], frame: Box, area: Area) => AreaChange} */
export function areaOf(maps, frame, area) {
  const { covered, filled } = sum({ region: frame, squares: [] }, area);
  const turned = turn(frame, area.polygons);
  const cut = (/** @type {Corner[]} */ ring) => clipped(ring.map(([lon, lat]) => [lon + turned, lat]), frame);
  const part = { ...area, polygons: area.polygons.map((rings) => rings.map(cut)) };
  const [one, other] = maps.map((map) => sum(map, part));
  return { one, other, ...between(one, other), covered, filled };
}

// Which of several areas changed: "more", "fewer" or "none" of each, of all together at the rate.
/** @type {(areas: Told[], rate: number) => Change[]} */
export function changes(areas, rate) {
  const bound = least(areas.map(ratio), rate);
  return areas.map((area) => change(ratio(area), bound));
}

// A ring cut to a box, side by side (Sutherland, Hodgman 1974). Edges along the box count nothing, so that
// the even-odd rule holds for all rings of an area as before.
/** @type {(ring: Corner[], box: Box) => Corner[]} */
function clipped(ring, [west, south, east, north]) {
  const sides = [[0, west, 1], [0, east, -1], [1, south, 1], [1, north, -1]];
  return sides.reduce((corners, [axis, bound, sign]) => {
    const isInside = (/** @type {Corner} */ corner) => sign * (corner[axis] - bound) >= 0;
    return corners.flatMap((corner, index) => {
      const before = corners[(index || corners.length) - 1];
      const crossing = isInside(before) === isInside(corner) ? [] : [crossingOf(before, corner, axis, bound)];
      return isInside(corner) ? [...crossing, corner] : crossing;
    });
  }, ring);
}

/** @type {(from: Corner, to: Corner, axis: number, bound: number) => Corner} */
function crossingOf(from, to, axis, bound) {
  const part = (bound - from[axis]) / (to[axis] - from[axis]);
  /** @type {Corner} */
  const crossing = [from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])];
  crossing[axis] = bound;
  return crossing;
}
