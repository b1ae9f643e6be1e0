// A view of a released map as the fragment of an address, which browsers keep to themselves: where the map
// stands, what is chosen, and the areas that a reader drew. Pure computing: `static/hazemap/permalink.js` has
// the page's part, and tests run this one in node.

const MOST_CHARACTERS = 6000; // longer addresses do not survive every program
const MOST_AREAS = 50;
const LONGEST_NAME = 80;
const PER_DEGREE = 1e5; // about a metre each
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const MORE = 32; // another digit follows
const PLACE = /^(-?\d{1,2}(?:\.\d{1,6})?),(-?\d{1,3}(?:\.\d{1,6})?),(\d{1,2}(?:\.\d{1,2})?)$/;
const NUMBER = /^\d{1,7}(?:\.\d{1,4})?$/;
const WORD = /^[A-Za-z]{1,20}$/;

// The text behind "#" for {lat, lon, zoom, chosen, areas}: `chosen` holds words and numbers, `areas` are as
// `read` of areas.js gives them. Null where it would be too long.
/** @type {(view: LinkedView) => string | null} */
export function write({ lat, lon, zoom, chosen, areas }) {
  const parts = [`map=${rounded(lat, 5)},${rounded(lon, 5)},${rounded(zoom, 2)}`];
  for (const [name, value] of Object.entries(chosen)) {
    parts.push(`${name}=${typeof value === "number" ? Number(value.toPrecision(5)) : value}`);
  }
  if (areas.length) parts.push(`areas=${areas.map(areaText).join(";")}`);
  const text = parts.join("&");
  return areas.length > MOST_AREAS || text.length > MOST_CHARACTERS ? null : text;
}

// Whether a fragment means to name a view at all; others are of the page.
/** @type {(text: string) => boolean} */
export function isView(text) {
  return text.startsWith("map=");
}

// As it was given to `write`. Errors: an Error that says what is wrong.
/** @type {(text: string) => LinkedView} */
export function read(text) {
  if (text.length > MOST_CHARACTERS) throw new Error("it is too long");
  const parts = text.split("&").map((part) => part.split("="));
  const names = parts.map(([name]) => name);
  if (names[0] !== "map" || new Set(names).size < names.length || parts.some((part) => part.length !== 2)) {
    throw new Error("it is damaged");
  }
  const { map: where, areas: drawn, ...rest } = Object.fromEntries(parts);
  const chosen = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, choice(name, value)]));
  const areas = drawn ? drawn.split(";").map(area) : [];
  if (areas.length > MOST_AREAS) throw new Error("it has too many areas");
  return { ...place(where), chosen, areas };
}

/** @type {(text: string) => { lat: number, lon: number, zoom: number }} */
function place(text) {
  const found = PLACE.exec(text);
  const [lat, lon, zoom] = (found ?? []).slice(1).map(Number);
  if (!found || Math.abs(lat) > 90 || Math.abs(lon) > 360) throw new Error("its place is damaged");
  return { lat, lon, zoom };
}

/** @type {(name: string, value: string) => string | number} */
function choice(name, value) {
  if (!WORD.test(name) || !(WORD.test(value) || NUMBER.test(value))) throw new Error("it is damaged");
  return NUMBER.test(value) ? Number(value) : value;
}

// --- areas: a name, and of each ring the steps from corner to corner in whole units ---

/** @type {(area: Area) => string} */
function areaText({ name, polygons }) {
  const rings = polygons.map((polygon) => polygon.map(ringText).join(".")).join("~");
  const whole = [...name.replace(/\p{Surrogate}/gu, "\ufffd")]; // halves of characters have no address
  return `${encodeURIComponent(whole.slice(0, LONGEST_NAME).join(""))},${rings}`;
}

/** @type {(text: string) => Area} */
function area(text) {
  const [name, rings, ...rest] = text.split(",");
  if (!rings || rest.length) throw new Error("one of its areas is damaged");
  return { name: plainName(name), polygons: rings.split("~").map((polygon) => polygon.split(".").map(ring)) };
}

/** @type {(text: string) => string} */
function plainName(text) {
  let name;
  try {
    name = decodeURIComponent(text);
  } catch {
    throw new Error("the name of an area is damaged");
  }
  if ([...name].length > LONGEST_NAME) throw new Error("the name of an area is too long");
  return name;
}

// Without the last corner, which is the first one again.
/** @type {(ring: Corner[]) => string} */
function ringText(ring) {
  let [x, y] = [0, 0];
  return ring.slice(0, -1).map(([lon, lat]) => {
    const [right, up] = [Math.round(lon * PER_DEGREE) - x, Math.round(lat * PER_DEGREE) - y];
    [x, y] = [x + right, y + up];
    return digits(right) + digits(up);
  }).join("");
}

/** @type {(text: string) => Corner[]} */
function ring(text) {
  const steps = numbers(text);
  if (steps.length < 6 || steps.length % 2) throw new Error("one of its areas is damaged");
  /** @type {Corner[]} */
  const corners = [];
  let [x, y] = [0, 0];
  for (let at = 0; at < steps.length; at += 2) {
    [x, y] = [x + steps[at], y + steps[at + 1]];
    if (Math.abs(x) > 360 * PER_DEGREE || Math.abs(y) > 90 * PER_DEGREE) throw new Error("one of its areas is not on Earth");
    corners.push([x / PER_DEGREE, y / PER_DEGREE]);
  }
  return [...corners, corners[0]];
}

// The sign is the last bit; five bits a digit, the lowest ones first.
/** @type {(value: number) => string} */
function digits(value) {
  let left = value < 0 ? -2 * value - 1 : 2 * value;
  let text = "";
  for (; left >= MORE; left = Math.floor(left / MORE)) text += DIGITS[(left % MORE) + MORE];
  return text + DIGITS[left];
}

/** @type {(text: string) => number[]} */
function numbers(text) {
  /** @type {number[]} */
  const found = [];
  let [value, scale] = [0, 1];
  for (const letter of text) {
    const digit = DIGITS.indexOf(letter);
    if (digit < 0 || scale > MORE ** 6) throw new Error("one of its areas is damaged");
    value += (digit % MORE) * scale;
    scale *= MORE;
    if (digit >= MORE) continue;
    found.push(value % 2 ? -(value + 1) / 2 : value / 2);
    [value, scale] = [0, 1];
  }
  if (scale > 1) throw new Error("one of its areas is damaged");
  return found;
}

/** @type {(value: number, places: number) => number} */
function rounded(value, places) {
  return Number(value.toFixed(places)) || 0;
}
