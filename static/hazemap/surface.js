// The smooth surface of a released map: a Gaussian over its squares, with the surface's own standard error.
// Pure computing, without a page: `static/hazemap/heat.js` draws it, and tests run it in node.

const CUT = 2; // widths: farther than that, a square adds nothing
const STEPS = 2000; // of the tables
// Where in its square a square's mass lies is unknown: in part it may be a clump, anywhere in it.
const CLUMP = 0.25;

/** @typedef {{ width: number, from: number, to: number }} Axis */
/** @typedef {{ first: number, mean: Float64Array, squared: Float64Array }} Reach */

const FOOT = Math.exp((-CUT * CUT) / 2);
const MASS = cumulated((at) => Math.exp((-at * at) / 2) - FOOT);
const SQUARE = cumulated((at) => (Math.exp((-at * at) / 2) - FOOT) ** 2);
const TOTAL = MASS[STEPS];
for (let index = 0; index <= STEPS; index += 1) {
  MASS[index] /= TOTAL;
  SQUARE[index] /= TOTAL * TOTAL;
}

/** @type {(density: (at: number) => number) => Float64Array} */
function cumulated(density) {
  const table = new Float64Array(STEPS + 1);
  const step = (2 * CUT) / STEPS;
  for (let index = 1; index <= STEPS; index += 1) {
    table[index] = table[index - 1] + ((density(-CUT + (index - 1) * step) + density(-CUT + index * step)) / 2) * step;
  }
  return table;
}

/** @type {(table: Float64Array, at: number) => number} */
function read(table, at) {
  const place = ((at + CUT) / (2 * CUT)) * STEPS;
  if (place <= 0) return 0;
  if (place >= STEPS) return table[STEPS];
  const low = Math.floor(place);
  return table[low] + (table[low + 1] - table[low]) * (place - low);
}

// Along one axis: for each of `count` squares the points it reaches, and the mean of the window, of its
// square, in each. points: ascending shares of the axis; width: the Gaussian's, as such a share; from, to:
// the part of the axis that counts.
/** @type {(count: number, points: Float64Array, axis: Axis) => Reach[]} */
function windows(count, points, { width, from, to }) {
  const found = [];
  for (let square = 0; square < count; square += 1) {
    const high = Math.max(Math.min((square + 1) / count, to), from);
    const low = Math.min(Math.max(square / count, from), high);
    const first = firstAtLeast(points, low - CUT * width);
    const last = firstAtLeast(points, high + CUT * width);
    const mean = new Float64Array(last - first);
    const squared = new Float64Array(last - first);
    for (let index = first; index < last; index += 1) {
      const [start, end] = [(low - points[index]) / width, (high - points[index]) / width];
      mean[index - first] = (read(MASS, end) - read(MASS, start)) * count;
      squared[index - first] = ((read(SQUARE, end) - read(SQUARE, start)) * count) / width;
    }
    found.push({ first, mean, squared });
  }
  return found;
}

/** @type {(points: Float64Array, value: number) => number} */
function firstAtLeast(points, value) {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Values and standard errors on a lattice, in persons in the whole region: a map of one person everywhere
// alike is 1. squares: by level, {level, x, y, values, deviations}; columns, rows: ascending shares of the
// region's width from west and height from north; widths: of the Gaussian, as shares of both; bounds: west,
// north, east, south of the part that counts, as such shares. `widest`: the errors, were all people of a square
// in one place; `noise`: were they spread evenly.
/**
 * @param {Squares[]} squares
 * @param {Float64Array} columns
 * @param {Float64Array} rows
 * @param {[number, number]} widths
 * @param {Box} [bounds]
 * @returns {SmoothSurface}
 */
export function smooth(squares, columns, rows, widths, [west, north, east, south] = [0, 0, 1, 1]) {
  const size = columns.length * rows.length;
  const [values, noise, placing] = [0, 1, 2].map(() => new Float64Array(size));
  const axes = [{ width: widths[0], from: west, to: east }, { width: widths[1], from: north, to: south }];
  for (const part of squares) addLevel(part, columns, rows, axes, [values, noise, placing]);
  keepAtBorder(columns, rows, axes, [values, noise, placing]);
  const withPlacing = (/** @type {number} */ weight) => noise.map(
    (variance, index) => Math.sqrt(variance + weight * placing[index]),
  );
  return { values, noise: withPlacing(0), errors: withPlacing(CLUMP), widest: withPlacing(1) };
}

// The part of a window beyond the border has no squares: what is inside stands for it.
/** @type {(columns: Float64Array, rows: Float64Array, axes: Axis[], sums: Float64Array[]) => void} */
function keepAtBorder(columns, rows, axes, [values, noise, placing]) {
  const [[across], [down]] = [windows(1, columns, axes[0]), windows(1, rows, axes[1])];
  for (let row = 0; row < rows.length; row += 1) {
    for (let column = 0; column < columns.length; column += 1) {
      const inside = across.mean[column - across.first] * down.mean[row - down.first];
      const index = row * columns.length + column;
      values[index] /= inside;
      noise[index] /= inside * inside;
      placing[index] /= inside * inside;
    }
  }
}

// The value at a place, as such shares, where one person is, and nobody anywhere else.
/** @type {(place: [x: number, y: number], widths: [number, number], bounds?: Box) => number} */
export function alone(place, widths, [west, north, east, south] = [0, 0, 1, 1]) {
  return [[west, east], [north, south]].reduce((value, [from, to], axis) => {
    const width = widths[axis];
    const [{ mean: [inside] }] = windows(1, Float64Array.of(place[axis]), { width, from, to });
    return (value * (1 - FOOT)) / TOTAL / width / inside;
  }, 1);
}

/** @type {(part: Squares, columns: Float64Array, rows: Float64Array, axes: Axis[], sums: Float64Array[]) => void} */
function addLevel(part, columns, rows, axes, [values, noise, placing]) {
  const count = 2 ** part.level;
  const across = windows(count, columns, axes[0]);
  const down = windows(count, rows, axes[1]);
  for (const [y, members] of byRow(part)) {
    const sums = [0, 1, 2, 3].map(() => new Float64Array(columns.length));
    for (const index of members) addSquare(part, index, across[part.x[index]], sums);
    const { first, mean, squared } = down[y];
    for (let row = 0; row < mean.length; row += 1) {
      const [one, two, start] = [mean[row], mean[row] ** 2, (first + row) * columns.length];
      for (let column = 0; column < columns.length; column += 1) {
        values[start + column] += one * sums[0][column];
        noise[start + column] += two * sums[1][column];
        placing[start + column] += Math.max(squared[row] * sums[2][column] - two * sums[3][column], 0);
      }
    }
  }
}

/** @type {(part: Squares) => Map<number, number[]>} */
function byRow(part) {
  /** @type {Map<number, number[]>} */
  const rows = new Map();
  part.y.forEach((y, index) => {
    if (!rows.has(y)) rows.set(y, []);
    rows.get(y)?.push(index);
  });
  return rows;
}

/** @type {(part: Squares, index: number, reach: Reach, sums: Float64Array[]) => void} */
function addSquare(part, index, { first, mean, squared }, [value, noise, clumped, spread]) {
  const [persons, variance] = [part.values[index], part.deviations[index] ** 2];
  const there = Math.max(persons, 0);
  for (let at = 0; at < mean.length; at += 1) {
    const square = mean[at] ** 2;
    value[first + at] += persons * mean[at];
    noise[first + at] += variance * square;
    clumped[first + at] += there ** 2 * squared[at];
    spread[first + at] += there ** 2 * square;
  }
}

// The least value over error that is told apart from zero at a false discovery rate (Benjamini, Hochberg
// 1995, errors of normal law); Infinity where none is.
/** @type {(surface: Pick<SmoothSurface, "values" | "errors">, rate: number) => number} */
export function threshold({ values, errors }, rate) {
  const ratios = Float64Array.from(values, (value, index) => (errors[index] > 0 ? value / errors[index] : 0));
  ratios.sort().reverse();
  for (let rank = ratios.length; rank > 0; rank -= 1) {
    if (upperTail(ratios[rank - 1]) <= (rate * rank) / ratios.length) return ratios[rank - 1];
  }
  return Infinity;
}

// Errors to either side within which at least 1 - rate of what is shown lies, on average: of `shown` of `all`
// places, chosen for being large, intervals at the level 1 - rate · shown / all (Benjamini, Yekutieli 2005,
// false coverage rate).
/** @type {(shown: number, all: number, rate: number) => number} */
export function reach(shown, all, rate) {
  const tail = (rate * Math.max(shown, 1)) / all / 2;
  let [low, high] = [0, 40];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (upperTail(middle) > tail) low = middle;
    else high = middle;
  }
  return high;
}

// P(Z ≥ z) of the normal law, by the continued fraction from z = 3 on and the series below.
/** @type {(z: number) => number} */
export function upperTail(z) {
  if (z <= 0) return 1;
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z > 3) {
    let fraction = z;
    for (let term = 60; term > 0; term -= 1) fraction = z + term / fraction;
    return density / fraction;
  }
  let [sum, term] = [z, z];
  for (let index = 1; index < 60; index += 1) {
    term *= (z * z) / (2 * index + 1);
    sum += term;
  }
  return 0.5 - density * sum;
}
