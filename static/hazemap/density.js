// The density of people on the lattice of a map's pixels, in people per km², with its error.
// Pure computing over surface.js: heat_picture.js draws it, and tests run it in node.
// frame: the part of the map's region that counts, {region, metres}; all of it, where none is given.
import { alone, reach, smooth, threshold } from "./surface.js";

/**
 * @type {(content: Frame & Pick<HeatContent, "squares" | "rate" | "isBound" | "spots">, frame?: Frame) => Density}
 */
export function densityOf(content, frame) {
  const { squares, rate, isBound, spots } = content;
  const { region, metres } = frame ?? content;
  const MERCATOR = 85.0511287798066; // degrees: where web maps end
  const SIDE = 256; // pixels
  const FINE_WIDTHS = 2; // a side: in a square no larger a crowd in one place is drawn
  const LARGE = 1.645; // errors that noise stays below 95 times in 100
  const CORNER = 1.5; // of a density at the corner of its square, which is drawn as if it were spread evenly
  const [west, south, east, north] = region;
  const columns = Float64Array.from({ length: SIDE }, (_, index) => (index + 0.5) / SIDE);
  const rows = mercatorRows();
  const perKm2 = rows.map(densityOfOne);
  const total = squares.flatMap(({ values }) => values).reduce((sum, persons) => sum + persons, 0);

  // The middles of the rows of pixels, from the north, as shares of the region's height in degrees.
  function mercatorRows() {
    const mercator = (/** @type {number} */ latitude) => Math.asinh(Math.tan((latitude * Math.PI) / 180));
    const [top, bottom] = [mercator(Math.min(north, MERCATOR)), mercator(Math.max(south, -MERCATOR))];
    return Float64Array.from({ length: SIDE }, (_, index) => {
      const at = top + ((bottom - top) * (index + 0.5)) / SIDE;
      return (north - (Math.atan(Math.sinh(at)) * 180) / Math.PI) / (north - south);
    });
  }

  // People per square kilometre in a row, of one person spread over the region: parallels are shorter farther
  // from the equator.
  /** @type {(row: number) => number} */
  function densityOfOne(row) {
    const cosine = (/** @type {number} */ latitude) => Math.cos((latitude * Math.PI) / 180);
    const lengthened = cosine((north + south) / 2) / cosine(north - row * (north - south));
    return (1e6 / (metres[0] * metres[1])) * lengthened;
  }

  // The pixel of a place; null outside of the region.
  /** @type {Density["pixelAt"]} */
  function pixelAt({ lat, lng }) {
    if (lng < west || lng >= east || lat <= south || lat > north) return null;
    const column = Math.min(Math.floor(((lng - west) / (east - west)) * SIDE), SIDE - 1);
    const down = (north - lat) / (north - south);
    const below = rows.findIndex((middle) => middle >= down);
    const isNearer = below > 0 && down - rows[below - 1] < rows[below] - down;
    const row = below < 0 ? SIDE - 1 : below - Number(isNearer);
    return row * SIDE + column;
  }

  // Smoothed by a Gaussian of so many metres. `least`: the value over error from which on people are told
  // from nobody. `reach`: so many errors to either side hold 19 of 20 of the densities that are drawn.
  /** @type {Density["smoothed"]} */
  function smoothed(width) {
    const { offset, scale } = placeInMap();
    const [across, down] = [columns.map((at) => offset[0] + at * scale[0]), rows.map((at) => offset[1] + at * scale[1])];
    /** @type {[number, number]} */
    const widths = [(width / metres[0]) * scale[0], (width / metres[1]) * scale[1]];
    /** @type {Box} */
    const bounds = [offset[0], offset[1], offset[0] + scale[0], offset[1] + scale[1]];
    const surface = smooth(squares, across, down, widths, bounds);
    const least = threshold(surface, rate);
    const unit = (/** @type {number} */ pixel) => perKm2[Math.floor(pixel / SIDE)] * scale[0] * scale[1];
    const value = (/** @type {number} */ pixel) => surface.values[pixel] * unit(pixel);
    const error = (/** @type {number} */ pixel) => surface.errors[pixel] * unit(pixel);
    const widest = (/** @type {number} */ pixel) => surface.widest[pixel] * unit(pixel);
    const sureness = (/** @type {number} */ pixel) => (surface.errors[pixel] > 0 ? surface.values[pixel] / surface.errors[pixel] : 0);
    const isClear = (/** @type {number} */ pixel) => sureness(pixel) >= least;
    const { drawn, range } = shown(value, isClear);
    const fine = Math.max(Math.ceil(-Math.log2(FINE_WIDTHS * Math.min(...widths))), 0); // level
    const clear = reach(2 * Math.max(drawn, 1), SIDE * SIDE, rate); // errors, of one place more
    // The density that is drawn 95 times in 100, by public facts and what was split; null where it is not known.
    const limit = (/** @type {number} */ pixel) => {
      if (!spots) return null;
      if (!spots.length) return CORNER * (clear + LARGE) * surface.noise[pixel] * unit(pixel);
      const ofOne = alone([across[pixel % SIDE], down[Math.floor(pixel / SIDE)]], widths, bounds);
      return fine < spots.length ? spots[fine] * ofOne * unit(pixel) : null;
    };
    return {
      width, least, total, value, error, widest, sureness, isClear, limit, range, reach: reach(drawn, SIDE * SIDE, rate), isBound,
    };
  }

  // The frame's north-west corner and size, as shares of the map's region.
  function placeInMap() {
    const [left, bottom, right, top] = content.region;
    return {
      offset: [(west - left) / (right - left), (top - north) / (top - bottom)],
      scale: [(east - west) / (right - left), (north - south) / (top - bottom)],
    };
  }

  // How many pixels are drawn, and their least and largest density, at most a thousandfold apart; null where
  // none is.
  /** @type {(value: SmoothDensity["value"], isClear: SmoothDensity["isClear"]) => { drawn: number, range: SmoothDensity["range"] }} */
  function shown(value, isClear) {
    let [low, high, drawn] = [Infinity, 0, 0];
    for (let pixel = 0; pixel < SIDE * SIDE; pixel += 1) {
      if (!isClear(pixel)) continue;
      drawn += 1;
      low = Math.min(low, value(pixel));
      high = Math.max(high, value(pixel));
    }
    return { drawn, range: drawn ? [Math.max(low, high / 1000), high] : null };
  }

  return { side: SIDE, pixelAt, smoothed };
}
