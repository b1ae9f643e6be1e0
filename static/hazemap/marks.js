// What was released as points and rings: drawn with signs, and read by pointer, tap and keys.
import { holds } from "./areas.js";
import { make } from "./dom.js";
import { addReadout, readoutLine } from "./readout.js";
import { signLayer } from "./signs.js";

const MOST_READ = 3; // rings around one place

// A released point and the circle that the truth is in, by a polygon's corners.
/** @type {(map: L.Map, content: PointContent) => void} */
export function point(map, { lat, lon, circle, meaning }) {
  addPane(map, "released", 610);
  L.polygon(circle, { className: "error-circle", interactive: false, pane: "released", smoothFactor: 0 })
    .addTo(map);
  dot(map, [lat, lon], 7);
  const words = () => [readoutLine("", "Central point"), make("span", "", meaning)];
  addReadout(map, (place) => (isInside(circle, place) ? words() : null));
}

// Centres of areas, each with its number and share beside it, the greatest first.
/** @type {(map: L.Map, found: CentreContent[]) => void} */
export function centres(map, found) {
  addPane(map, "released", 610);
  for (const { lat, lon } of found) dot(map, [lat, lon], 6);
  /** @type {Sign[]} */
  const signs = found.map(({ lat, lon, text }) => (
    { point: L.latLng(lat, lon), text, short: short(text), className: "centre-name" }
  ));
  signLayer(map, "released").show(signs);
}

// Rings of a release: zones in the classes of its legend, or circles around places, large ones first.
/** @type {(map: L.Map, content: RingContent) => void} */
export function rings(map, { rings: found, meaning }) {
  addPane(map, "zones", 410);
  addPane(map, "released", 610);
  const drawn = found.map((ring) => {
    const style = { className: `zone ${ring.key}`, interactive: false, pane: "zones", smoothFactor: 0 };
    return { ...ring, shape: L.polygon(ring.corners, style).addTo(map) };
  });
  /** @type {Sign[]} */
  const signs = drawn.toSorted((one, other) => other.weight - one.weight)
    .map(({ middle, text }) => ({ point: L.latLng(middle), text, short: short(text), className: "zone-name" }));
  signLayer(map, "released").show(signs);

  addReadout(map, (place) => {
    const around = drawn.filter(({ corners }) => isInside(corners, place)).reverse().slice(0, MOST_READ);
    if (!around.length) return null;
    const lines = around.map(({ name, told }) => readoutLine(name, told));
    return [...lines, make("span", "", meaning)];
  });
}

// "3 · 30 %" has the number in the table first.
/** @type {(text: string) => string} */
function short(text) {
  return text.split(" · ")[0];
}

/** @type {(ring: L.LatLngTuple[], place: L.LatLng) => boolean} */
function isInside(ring, place) {
  const bounds = L.latLngBounds(ring);
  const corners = ring.map(([lat, lon]) => /** @type {Corner} */ ([lon, lat]));
  /** @type {Box} */
  const box = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
  return holds(box, { polygons: [[corners]] }, place.wrap());
}

/** @type {(map: L.Map, at: L.LatLngTuple, radius: number) => void} */
function dot(map, at, radius) {
  L.circleMarker(at, { className: "released-point", radius, interactive: false, pane: "released" }).addTo(map);
}

/** @type {(map: L.Map, name: string, level: number) => void} */
function addPane(map, name, level) {
  const pane = map.createPane(name);
  pane.style.zIndex = String(level);
  pane.classList.add("pane-through");
}
