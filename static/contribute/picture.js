/** Draws a region, and what an example's reports say: squares on it, strips of bits, or pieces. */

import { cellOf } from "./encodings/lattice.js";
import { draw, make } from "./dom.js";
import { whole } from "./words.js";

/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {{ name: string, lat: number, lon: number }} Town */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box shares of the region, y from the north */

const WIDTH = 320;
const MARGIN = 10;
const FINEST = 2 ** 31;
const MOST_LINES = 40;
const MOST_BITS = 100;
const MOST_TOWNS = 7;

/** How many draws of the example are shown. */
export const DRAWS = 3;

/**
 * The region's rectangle.
 * @param {Facts} facts
 * @param {Town[]} towns
 * @param {string} words for who does not see it
 */
export function regionPicture(facts, towns, words) {
  const [west, south, east, north] = facts.region.map(Number);
  const across = (east - west) * Math.cos((((south + north) / 2) * Math.PI) / 180);
  const height = Math.min(Math.max(((north - south) / across) * WIDTH, WIDTH * 0.45), WIDTH * 1.1);
  const size = `${-MARGIN} ${-MARGIN} ${WIDTH + 2 * MARGIN} ${height + 2 * MARGIN}`;
  const svg = draw("svg", { class: "region", viewBox: size, role: "img", "aria-label": words });
  svg.append(draw("rect", { class: "ground", width: WIDTH, height, rx: 4 }), gridLines(facts, height));
  /** @param {Box} box */
  const placed = ({ x, y, width, height: high }) => ({
    x: x * WIDTH, y: y * height, width: width * WIDTH, height: high * height,
  });
  /** @type {number[]} */
  const taken = [];
  for (const { name, lat, lon } of towns) {
    const [x, y] = [((lon - west) / (east - west)) * WIDTH, ((north - lat) / (north - south)) * height];
    const isFree = x > 4 && x < WIDTH - 60 && y > 12 && y < height - 6 && taken.every((other) => Math.abs(other - y) > 14);
    if (taken.length === MOST_TOWNS || !isFree) continue;
    taken.push(y);
    svg.append(
      draw("circle", { class: "town-dot", cx: x, cy: y, r: 1.8 }),
      draw("text", { class: "town", x: x + 4, y: y + 3, "aria-hidden": "true" }, name),
    );
  }
  return { svg, placed };
}

/**
 * @param {Facts} facts
 * @param {number} height
 */
function gridLines({ encoding }, height) {
  const side = encoding.level === undefined ? null : 2 ** encoding.level;
  const [columns, rows] = [encoding.columns ?? side ?? 8, encoding.rows ?? side ?? 8];
  const path = [];
  if (columns <= MOST_LINES && rows <= MOST_LINES) {
    for (let column = 1; column < columns; column += 1) path.push(`M${(column / columns) * WIDTH} 0v${height}`);
    for (let row = 1; row < rows; row += 1) path.push(`M0 ${(row / rows) * height}h${WIDTH}`);
  }
  return draw("path", { class: "lines", d: path.join("") });
}

/**
 * A soft picture of the region for the head of the page: a place and its haze.
 * @param {Facts} facts
 * @param {Town[]} towns
 */
export function headPicture(facts, towns) {
  const { svg, placed } = regionPicture(facts, towns, `The region of ${facts.title}`);
  const { x, y } = placed({ x: 0.5, y: 0.5, width: 0, height: 0 });
  for (const r of [70, 52, 36, 22]) svg.append(draw("circle", { class: "haze", cx: x, cy: y, r }));
  svg.append(draw("circle", { class: "own-place", cx: x, cy: y, r: 5 }));
  return svg;
}

/**
 * Where a person's own places lie; it is drawn here and goes nowhere.
 * @param {Facts} facts
 * @param {import("./places.js").Cell[]} places
 * @param {Town[]} towns
 */
export function ownPicture(facts, places, towns) {
  const { svg, placed } = regionPicture(facts, towns, "Your place in the region; only this device sees it");
  for (const place of places) {
    const { x, y } = placed({ x: place.x / FINEST, y: 1 - place.y / FINEST, width: 0, height: 0 });
    svg.append(draw("circle", { class: "own-place", cx: x, cy: y, r: 6 }));
  }
  return svg;
}

/**
 * What several draws of one place would send.
 * @param {Facts} facts
 * @param {import("./places.js").Cell} place
 * @param {Uint8Array[][]} draws messages of each
 * @param {Town[]} towns
 */
export function examplePicture(facts, place, draws, towns) {
  const { kind } = facts.encoding;
  if (kind === "unary" || kind === "flips") return bitStrips(facts, draws);
  if (kind === "shares") return pieces(draws);
  return cellPicture(facts, place, draws, towns);
}

/**
 * @param {Facts} facts
 * @param {import("./places.js").Cell} place
 * @param {Uint8Array[][]} draws
 * @param {Town[]} towns
 */
function cellPicture(facts, place, draws, towns) {
  const words = `An example place in the middle, and ${DRAWS} draws of what would be sent for it`;
  const { svg, placed } = regionPicture(facts, towns, words);
  const middle = placed({ x: place.x / FINEST, y: 1 - place.y / FINEST, width: 0, height: 0 });
  const boxes = draws.map((messages) => messages.map((message) => reportBox(facts, message)));
  /** How often a square was reported, so that its numbers stand side by side. @type {Map<string, number>} */
  const seen = new Map();
  for (const [at, reported] of boxes.entries()) {
    for (const box of reported) {
      const { x, y, width, height } = placed(box);
      const [cx, cy] = [x + width / 2, y + height / 2];
      const [wide, high] = [Math.max(width, 5), Math.max(height, 5)];
      svg.append(
        draw("rect", { class: `cell draw-${at + 1}`, x: cx - wide / 2, y: cy - high / 2, width: wide, height: high, rx: 1.5 }),
      );
      if (reported.length === 1) {
        const before = seen.get(`${cx} ${cy}`) ?? 0;
        seen.set(`${cx} ${cy}`, before + 1);
        const left = cx + 13 * before;
        svg.append(
          draw("path", { class: `arrow draw-${at + 1}`, d: `M${middle.x} ${middle.y}L${cx} ${cy}` }),
          draw("circle", { class: `disc draw-${at + 1}`, cx: left, cy, r: 7 }),
          draw("text", { class: "number", x: left, y: cy, "aria-hidden": "true" }, String(at + 1)),
        );
      }
    }
  }
  svg.append(draw("circle", { class: "true-place", cx: middle.x, cy: middle.y, r: 5 }));
  const legend = make("ul", { class: "legend" }, make("li", {}, sign("true-place", true), " example place"));
  for (let at = 1; at <= draws.length; at += 1) {
    legend.append(make("li", {}, sign(`draw-${at}`, false), ` draw ${at}: ${awayWords(facts, place, boxes[at - 1])}`));
  }
  return make("div", {}, svg, legend);
}

/**
 * @param {string} className
 * @param {boolean} isRing
 */
function sign(className, isRing) {
  const shape = isRing
    ? draw("circle", { class: className, cx: 8, cy: 8, r: 5 })
    : draw("rect", { class: className, x: 2, y: 2, width: 12, height: 12, rx: 3 });
  return draw("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, shape);
}

/**
 * How far reports are from the place, in words.
 * @param {Facts} facts
 * @param {import("./places.js").Cell} place
 * @param {Box[]} boxes
 */
function awayWords(facts, place, boxes) {
  const [west, south, east, north] = facts.region.map(Number);
  const middle = (south + north) / 2;
  const metres = boxes.map(({ x, y, width, height }) => {
    const dx = (x + width / 2 - place.x / FINEST) * (east - west) * Math.cos((middle * Math.PI) / 180) * 111_320;
    const dy = (1 - y - height / 2 - place.y / FINEST) * (north - south) * 111_320;
    return Math.hypot(dx, dy);
  });
  const mean = metres.reduce((sum, one) => sum + one, 0) / metres.length;
  const away = mean < 1000 ? `${Math.round(mean / 10) * 10} m` : `${(mean / 1000).toFixed(1)} km`;
  return boxes.length === 1 ? `${away} away` : `${whole(boxes.length)} squares, ${away} away on average`;
}

/**
 * The square that a message reports.
 * @param {Facts} facts
 * @param {Uint8Array} message
 * @returns {Box}
 */
export function reportBox({ encoding }, message) {
  if (encoding.kind !== "gkrr") {
    const { columns, rows } = encoding;
    const { column, row } = cellOf(message, encoding);
    return { x: column / columns, y: 1 - (row + 1) / rows, width: 1 / columns, height: 1 / rows };
  }
  const code = new DataView(message.buffer, message.byteOffset).getUint32(0);
  let [x, y] = [0, 0];
  for (let bit = 0; bit < encoding.level; bit += 1) {
    x += ((code >>> (2 * bit)) & 1) * 2 ** bit;
    y += ((code >>> (2 * bit + 1)) & 1) * 2 ** bit;
  }
  const side = 2 ** encoding.level;
  return { x: x / side, y: 1 - (y + 1) / side, width: 1 / side, height: 1 / side };
}

/**
 * Bits of each draw as strips; ones first, as nobody but the device ever sees them in order.
 * @param {Facts} facts
 * @param {Uint8Array[][]} draws
 */
function bitStrips(facts, draws) {
  const items = draws.map((messages, at) => {
    const strips = ["West to east", "South to north"].map((name, axis) => {
      const bits = messages.filter(([byte]) => byte >> 1 === axis).map(([byte]) => byte & 1);
      const ones = bits.filter(Boolean).length;
      return [make("p", { class: "small soft" }, `${name}: ${whole(ones)} of ${whole(bits.length)} bits are ones`), strip(bits)];
    });
    return make("li", {}, make("strong", {}, `Draw ${at + 1}`), ...strips.flat());
  });
  return make("ul", { class: "strips" }, ...items);
}

/** @param {number[]} bits */
function strip(bits) {
  const ones = bits.filter(Boolean).length;
  const svg = draw("svg", { class: "strip", viewBox: "0 0 400 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(draw("rect", { class: "bit-zero", width: 400, height: 10 }));
  const step = 400 / bits.length;
  if (bits.length <= MOST_BITS) {
    bits.forEach((bit, at) => bit && svg.append(draw("rect", { class: "bit-one", x: at * step, width: step * 0.85, height: 10 })));
  } else {
    svg.append(draw("rect", { class: "bit-one", width: ones * step, height: 10 }));
  }
  return svg;
}

/**
 * Random-looking numbers: the first few of each draw.
 * @param {Uint8Array[][]} draws
 */
function pieces(draws) {
  const items = draws.map((messages, at) => {
    const chips = messages.slice(0, 8).map((message) => {
      const bytes = Array.from(message.subarray(4), (byte) => byte.toString(16).padStart(2, "0"));
      return make("code", {}, bytes.join(""));
    });
    return make("li", {}, make("strong", {}, `Draw ${at + 1}`), make("p", { class: "chips" }, ...chips, "…"));
  });
  return make("ul", { class: "strips" }, ...items);
}

/** @param {Facts} facts */
export function exampleWords(facts) {
  const { kind } = facts.encoding;
  const count = whole(facts.messages);
  if (kind === "unary" || kind === "flips") {
    const random = kind === "flips" ? "Many bits are flipped at random" : "A random part is added";
    return `For a place in the middle of the region your device would send ${count} bits, each on its own. How many are `
      + `ones says where you are. ${random}; yours alone may be small. The blur is everyone’s together, once mixed.`;
  }
  if (kind === "shares") {
    return `Your device would send ${count} pieces, each on its own. A piece by itself is a random number. Only `
      + "everyone’s pieces together add up to a map.";
  }
  if (kind === "items") return `For a place in the middle of the region your device would send ${count} blurred squares.`;
  const drawn = kind === "gkrr"
    ? "drawn at random: any square of the region, its own more often than any other"
    : "drawn at random, near ones more often than far ones";
  return `For a place in the middle of the region your device would send one square, ${drawn}.`;
}
