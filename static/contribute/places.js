/** Turns degrees into a region's finest cells, bit for bit as mechanisms/space/grid.py does. */

const FINEST = 2 ** 31; // cells of an axis

/** @typedef {[west: number, south: number, east: number, north: number]} Region degrees */
/** @typedef {{ x: number, y: number }} Cell a finest cell: column from the west, row from the south */

/**
 * The finest cell of a place; one outside the region counts at its nearest edge.
 * @param {Region} region
 * @param {number} lat degrees
 * @param {number} lon degrees
 * @returns {Cell}
 */
export function finestCell([west, south, east, north], lat, lon) {
  if (!Number.isFinite(lat) || !Number.isFinite(lon)) throw new RangeError("a place has two numbers");
  const x = clampedLongitude(west, east, lon);
  const y = Math.min(Math.max(lat, south), north);
  return { x: index(x, west, east), y: index(y, south, north) };
}

/**
 * Whether a place is in the region, its border included.
 * @param {Region} region
 * @param {number} lat degrees
 * @param {number} lon degrees
 */
export function contains([west, south, east, north], lat, lon) {
  return lon >= west && lon <= east && lat >= south && lat <= north;
}

/**
 * A longitude outside goes to the border that is nearer around the earth, to the east one on a tie.
 * @param {number} west
 * @param {number} east
 * @param {number} lon
 */
function clampedLongitude(west, east, lon) {
  const behind = west - lon;
  const ahead = lon - east;
  if (behind <= 0 && ahead <= 0) return lon;
  const goesEast = behind > 0 ? 360 - (east - lon) <= behind : ahead <= 360 - (lon - west);
  return goesEast ? east : west;
}

/**
 * The last cell of an axis whose lower edge is not above the coordinate. The division may round across an
 * edge, by one cell at most: the edges decide.
 * @param {number} coordinate
 * @param {number} low
 * @param {number} high
 */
function index(coordinate, low, high) {
  const step = (high - low) / FINEST;
  const guess = Math.max(Math.min(Math.floor((coordinate - low) / step), FINEST - 1), 0);
  const upper = guess === FINEST - 1 ? high : low + (guess + 1) * step;
  if (coordinate >= upper && guess < FINEST - 1) return guess + 1;
  return coordinate < low + guess * step && guess > 0 ? guess - 1 : guess;
}
