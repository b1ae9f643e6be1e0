/**
 * Measures what a cell that is moved by noise tells, on the integers of the noise.
 *
 * On an axis a report is inside the lattice, and comes from one offset; or it is at a border, and comes from all
 * offsets that lead there or farther: a sum over the law's end. With the uniform part these are the weights of all
 * reports there are, by how far the true cell is from the reported one or from the border. Weights depend on no
 * sign: so of two true cells on both sides of a report, the one mirrored to the other's side has the same weight and
 * is nearer, and only distances of one side have to be compared.
 */

/** @typedef {{ widthM: number, heightM: number, radiusM: number }} Ground of a region, and of a promise */
/**
 * @typedef {{ near: number, anywhere: number }} Losses the largest logarithms of ratios of the probabilities of one
 *   report, from any two true cells; `near`: with centres at most a radius apart, 0 where there are none
 */

/**
 * Of noise on both axes.
 * @param {bigint[][]} quadrant weights by offsets of columns, then of rows, for one pair of signs
 * @param {bigint} uniform
 * @param {Ground} ground
 * @returns {Losses}
 */
export function lossesOnBoth(quadrant, uniform, { widthM, heightM, radiusM }) {
  let [near, anywhere] = [0, 0];
  for (const weights of onBoth(quadrant)) {
    const logs = weights.map((column) => logsOf(column, uniform));
    const all = logs.flat();
    anywhere = Math.max(anywhere, largest(all) + largest(all.map((log) => -log)));
    near = Math.max(near, nearby(logs, widthM / quadrant.length, heightM / quadrant[0].length, radiusM));
  }
  return { near, anywhere };
}

/**
 * Of noise on one axis: by number of cells, the largest loss of a move that is no longer.
 * @param {bigint[]} law
 * @param {bigint} uniform
 */
export function lossesByMove(law, uniform) {
  const found = law.map(() => 0);
  for (const weights of onOne(law)) {
    const logs = logsOf(weights, uniform);
    let highest = logs;
    for (let move = 1; move < logs.length; move += 1) {
      highest = wider(highest);
      found[move] = Math.max(found[move], change(highest, logs));
    }
  }
  for (let move = 1; move < found.length; move += 1) found[move] = Math.max(found[move], found[move - 1]);
  return found;
}

/**
 * How many rows a move of at most a radius may go, beside so many metres on the other axis.
 * @param {number} acrossM
 * @param {number} alongM of a row
 * @param {number} radiusM
 * @param {number} rows
 */
export function reach(acrossM, alongM, radiusM, rows) {
  return Math.min(rows - 1, Math.floor(Math.sqrt(Math.max(0, radiusM ** 2 - acrossM ** 2)) / alongM));
}

/**
 * The largest change over moves within a radius: by number of columns, all rows in reach at once.
 * @param {number[][]} logs
 * @param {number} acrossM of a column
 * @param {number} alongM of a row
 * @param {number} radiusM
 */
function nearby(logs, acrossM, alongM, radiusM) {
  let [highest, rows, found] = [logs, 0, 0];
  // From the farthest column on, so that the reach along rows only grows.
  for (let columns = Math.min(logs.length - 1, Math.floor(radiusM / acrossM)); columns >= 0; columns -= 1) {
    for (; rows < reach(columns * acrossM, alongM, radiusM, logs[0].length); rows += 1) highest = highest.map(wider);
    for (let here = 0, there = columns; there < logs.length; here += 1, there += 1) {
      found = Math.max(found, change(highest[there], logs[here]), change(highest[here], logs[there]));
    }
  }
  return found;
}

/**
 * From the largest of so many neighbours to that of one more on either side.
 * @param {number[]} highest
 */
function wider(highest) {
  const last = highest.length - 1;
  return highest.map((one, place) => Math.max(one, highest[Math.max(place - 1, 0)], highest[Math.min(place + 1, last)]));
}

/**
 * @param {number[]} highest
 * @param {number[]} logs
 */
function change(highest, logs) {
  return highest.reduce((most, high, place) => Math.max(most, high - logs[place]), 0);
}

/** @param {number[]} values */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}

/**
 * @param {bigint[]} weights
 * @param {bigint} uniform
 */
function logsOf(weights, uniform) {
  return weights.map((weight) => Math.log(Number(weight + uniform)));
}

/**
 * By kinds of report on columns and rows; all of them that there are.
 * @param {bigint[][]} quadrant
 */
function onBoth(quadrant) {
  return kinds(turned(quadrant)).flatMap((byRow) => kinds(turned(byRow)));
}

/**
 * By kind of report along lines: the weights, line by line.
 * @param {bigint[][]} lines
 */
function kinds(lines) {
  return turned(lines.map(onOne));
}

/**
 * @template Entry
 * @param {Entry[][]} lines
 */
function turned(lines) {
  return lines[0].map((_, place) => lines.map((line) => line[place]));
}

/**
 * Weights of one axis, at its border and inside; a lattice of two cells or one has no inside.
 * @param {bigint[]} law
 */
function onOne(law) {
  let sum = 0n;
  const border = law.toReversed().map((weight) => (sum += weight)).toReversed();
  return law.length > 2 ? [border, law.slice(0, -1)] : [border];
}
