// Sums of a released map over areas, with their error. Pure computing: `static/hazemap/sums.js` has the page's part.

const MOST_AREAS = 1000;
const MOST_CORNERS = 10000; // in all
const LINES = 1024; // parallels on which an area is measured, in the region's height or the area's
const LEAST_LINES = 16; // of them in one square

/** @typedef {[x: number, y: number]} Point */
/** @typedef {[from: Point, to: Point]} Edge */

// Named areas of GeoJSON text: [{name, polygons}], a polygon a list of rings of [lon, lat], the first outside.
// Errors: an Error that says what to do.
/** @type {(text: string) => Area[]} */
export function read(text) {
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error("This is not valid JSON. Paste a GeoJSON polygon, feature or feature collection.");
  }
  const features = given?.type === "FeatureCollection" ? given.features : [given];
  if (!Array.isArray(features) || features.length > MOST_AREAS) {
    throw new Error(`Paste at most ${MOST_AREAS.toLocaleString("en")} areas.`);
  }
  const areas = features.map((feature, index) => area(feature, index));
  const corners = areas.flatMap(({ polygons }) => polygons.flat()).reduce((sum, ring) => sum + ring.length, 0);
  if (corners > MOST_CORNERS) throw new Error(`Paste at most ${MOST_CORNERS.toLocaleString("en")} corners.`);
  return areas;
}

/** @type {(feature: any, index: number) => Area} */
function area(feature, index) {
  const geometry = feature?.type === "Feature" ? feature.geometry : feature;
  const isOne = geometry?.type === "Polygon";
  const polygons = isOne ? [geometry.coordinates] : geometry?.type === "MultiPolygon" ? geometry.coordinates : null;
  const name = nameOf(feature?.properties) ?? `Area ${index + 1}`;
  const isPolygon = (/** @type {any} */ rings) => Array.isArray(rings) && rings.length > 0 && rings.every(isRing);
  if (!Array.isArray(polygons) || !polygons.length || !polygons.every(isPolygon)) {
    throw new Error(`${name}: allowed are Polygon and MultiPolygon with longitude and latitude in degrees.`);
  }
  return { name, polygons };
}

/** @type {(properties: any) => string | null} */
function nameOf(properties) {
  const key = Object.keys(properties ?? {}).find((known) => /^(name|title|label)$/i.test(known));
  return key && properties[key] ? String(properties[key]).slice(0, 80) : null;
}

/** @type {(ring: any) => boolean} */
function isRing(ring) {
  return Array.isArray(ring) && ring.length >= 4
    && ring.every((corner) => Array.isArray(corner) && Number.isFinite(corner[0]) && Number.isFinite(corner[1])
      && Math.abs(corner[0]) <= 360 && Math.abs(corner[1]) <= 90);
}

// People in an area, their standard error, their share of all, the part of the area that the map covers, and the
// part of the map that the area fills.
// A square that a border cuts counts by the part of it that lies inside; where in it its persons are is not
// known, and adds to the error as if all of them were in one place, anywhere in the square.
/** @type {(content: { region: Box; squares: Squares[] }, area: { polygons: Corner[][][] }) => AreaSum} */
export function sum({ region, squares }, { polygons }) {
  const edges = edgesOf(region, polygons);
  let [value, variance, all] = [0, 0, 0];
  for (const part of squares) {
    const covered = coverage(edges, 2 ** part.level);
    for (let index = 0; index < part.values.length; index += 1) {
      const persons = part.values[index];
      all += persons;
      const inside = Math.min(covered.get(part.y[index])?.[part.x[index]] ?? 0, 1);
      if (!inside) continue;
      value += inside * persons;
      const there = Math.max(persons, 0);
      variance += (inside * part.deviations[index]) ** 2 + inside * (1 - inside) * (there ** 2 + there);
    }
  }
  // Noise may be below 0, people are not; where it is, the others may be more than all.
  value = Math.max(value, 0);
  const share = all > 0 ? Math.min(value / all, 1) : 0;
  const filled = Math.min(coverage(edges, 1).get(0)?.[0] ?? 0, 1);
  return { value, error: Math.sqrt(variance), share, covered: partInside(edges), filled };
}

// Degrees by which longitudes are turned to lie the way round that is nearest to the region.
/** @type {(region: Box, polygons: Corner[][][]) => number} */
export function turn([west, , east], polygons) {
  const longitudes = polygons.flat(2).map(([lon]) => lon);
  const middle = longitudes.reduce((total, lon) => total + lon, 0) / longitudes.length;
  return 360 * Math.round(((west + east) / 2 - middle) / 360);
}

// Edges that are no parallels, as shares of the region's width from west and height from north.
/** @type {(region: Box, polygons: Corner[][][]) => Edge[]} */
function edgesOf(region, polygons) {
  const [west, south, east, north] = region;
  const turned = turn(region, polygons);
  /** @type {(corner: Corner) => Point} */
  const place = ([lon, lat]) => [(lon + turned - west) / (east - west), (north - lat) / (north - south)];
  /** @type {(ring: Corner[]) => Edge[]} */
  const edges = (ring) => ring.map((corner, index) => [place(ring[(index || ring.length) - 1]), place(corner)]);
  return polygons.flat().flatMap(edges).filter(([from, to]) => from[1] !== to[1]);
}

// Rows of a grid, each with the part of every square that lies inside: by the even-odd rule over all rings.
/** @type {(edges: Edge[], count: number) => Map<number, Float64Array>} */
function coverage(edges, count) {
  const rows = new Map();
  const lines = Math.max(LINES / count, LEAST_LINES);
  for (let row = 0; row < count; row += 1) {
    const near = edges.filter(([from, to]) => Math.min(from[1], to[1]) < (row + 1) / count
      && Math.max(from[1], to[1]) > row / count);
    if (!near.length) continue;
    const covered = new Float64Array(count);
    for (let line = 0; line < lines; line += 1) {
      for (const [first, last] of spans(near, (row + (line + 0.5) / lines) / count)) {
        addSpan(covered, first * count, last * count, 1 / lines);
      }
    }
    rows.set(row, covered);
  }
  return rows;
}

// Where a parallel lies inside: pairs of crossings.
/** @type {(edges: Edge[], y: number) => [first: number, last: number][]} */
function spans(edges, y) {
  const crossings = edges.filter(([from, to]) => from[1] > y !== to[1] > y)
    .map(([from, to]) => from[0] + ((y - from[1]) / (to[1] - from[1])) * (to[0] - from[0]))
    .sort((one, other) => one - other);
  return crossings.filter((_, index) => index % 2 === 0).map((first, index) => [first, crossings[2 * index + 1]]);
}

/** @type {(covered: Float64Array, first: number, last: number, weight: number) => void} */
function addSpan(covered, first, last, weight) {
  const end = Math.min(last, covered.length);
  for (let at = Math.max(first, 0); at < end;) {
    const square = Math.floor(at);
    const next = Math.min(square + 1, end);
    covered[square] += weight * (next - at);
    at = next;
  }
}

// The part of an area that lies in the region, 0 to 1.
/** @type {(edges: Edge[]) => number} */
function partInside(edges) {
  if (!edges.length) return 0; // a line along a parallel
  const heights = edges.flat().map(([, y]) => y);
  const [top, bottom] = [heights.reduce((a, b) => Math.min(a, b)), heights.reduce((a, b) => Math.max(a, b))];
  let [inside, all] = [0, 0];
  for (let line = 0; line < LINES; line += 1) {
    const y = top + ((line + 0.5) / LINES) * (bottom - top);
    for (const [first, last] of spans(edges, y)) {
      all += last - first;
      if (y >= 0 && y <= 1) inside += Math.max(Math.min(last, 1) - Math.max(first, 0), 0);
    }
  }
  return all > 0 ? inside / all : 0;
}

// Closed rings of corners that were set: of a box, two opposite ones. Null where they enclose nothing.
/** @type {(corners: Corner[]) => Corner[] | null} */
export function boxRing(corners) {
  if (corners.length !== 2) return null;
  const [[x1, y1], [x2, y2]] = corners;
  const [west, south, east, north] = [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
  const isBox = west < east && south < north;
  return isBox ? [[west, south], [east, south], [east, north], [west, north], [west, south]] : null;
}

/** @type {(corners: Corner[]) => Corner[] | null} */
export function polygonRing(corners) {
  const apart = corners.filter(([x, y], index) => {
    const [lastX, lastY] = corners[(index || corners.length) - 1];
    return x !== lastX || y !== lastY;
  });
  return apart.length > 2 ? [...apart, apart[0]] : null;
}

// Whether a place lies inside: by the even-odd rule, the way round that is nearest to the region.
/** @type {(region: Box, area: { polygons: Corner[][][] }, point: Spot) => boolean} */
export function holds(region, { polygons }, { lat, lng }) {
  const [west, south, east, north] = region;
  const [x, y] = [(lng - west) / (east - west), (north - lat) / (north - south)];
  return spans(edgesOf(region, polygons), y).some(([first, last]) => first <= x && x < last);
}
