// What a map shows without any tile: a graticule that follows the zoom, the region's border, place names.
import { nameLayer } from "./names.js";
import { number } from "./numbers.js";
import { searchControl } from "./place_search.js";
import { addStreets } from "./streets.js";
import { textMarker } from "./text_marker.js";
import { whereabouts } from "./whereabouts.js";

const STEPS = [90, 45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
const LINES_WANTED = 4;
const [SMALL, BUTTONS, AIR] = [520, 58, 12]; // pixels, as map.css has them
/** @type {WeakMap<L.Map, Place[]>} */
const placesOf = new WeakMap(); // of each map, those that are named on it
const GROUND_DETAIL = 6; // the ground that is drawn may be so many views wide

// Draws everything that does not move, and keeps graticule and names in step with the view.
/** @type {(map: L.Map, content: BasemapContent) => NameLayer} */
export function drawBasemap(map, { region, places, attribution, ground: land }) {
  addPane(map, "graticule", 410);
  addPane(map, "names", 620);
  map.attributionControl = L.control.attribution({ prefix: false }).addAttribution(attribution).addTo(map);
  if (land) groundLayer(map).show(land);
  if (region) border(map, region);
  const names = nameLayer(map);
  names.showCountries(land?.countries ?? []);
  names.show(places);
  placesOf.set(map, places);
  const streets = addStreets(map, names);
  names.addButton(!streets.isLettered);
  if (region && places.length) searchControl(map, { region, places });
  followView(map, () => names.declutter());
  return names;
}

// Coast, water and borders from our own origin, below everything that was released.
/** @type {(map: L.Map, load?: (bbox: string) => Promise<Land | null>) => GroundLayer} */
export function groundLayer(map, load) {
  addPane(map, "ground", 150);
  const layer = L.layerGroup().addTo(map);
  const style = { interactive: false, pane: "ground", smoothFactor: 0 };
  /** @type {Box | null} */
  let shown = null; // the box that is drawn
  let credit = "";

  /** @type {GroundLayer["show"]} */
  function show(land) {
    map.attributionControl?.removeAttribution(credit);
    credit = land.missing ?? land.attribution;
    map.attributionControl?.addAttribution(credit);
    layer.clearLayers();
    if (land.missing !== undefined) return;
    // One path of all rings of each: by the even-odd rule an island is land again. Lakes are drawn over the
    // sea, as theirs may overlap.
    for (const rings of [land.sea, land.lakes]) {
      L.polygon(rings.map((steps) => path(steps, land)), { ...style, className: "water" }).addTo(layer);
    }
    L.polyline(land.borders.map((steps) => path(steps, land)), { ...style, className: "country-border" })
      .addTo(layer);
  }

  // Loads more than the view, and again where the view leaves that or is a fraction of it.
  /** @type {GroundLayer["follow"]} */
  async function follow([west, south, east, north]) {
    if (!load) return;
    const inside = shown && west >= shown[0] && south >= shown[1] && east <= shown[2] && north <= shown[3];
    if (shown && inside && (east - west) * GROUND_DETAIL > shown[2] - shown[0]) return;
    const [across, up] = [(east - west) / 2, (north - south) / 2];
    /** @type {Box} */
    const box = [
      Math.max(west - across, -180), Math.max(south - up, -85),
      Math.min(east + across, 180), Math.min(north + up, 85),
    ];
    shown = box;
    const land = await load(box.map((value) => value.toFixed(4)).join(","));
    if (shown !== box) return;
    if (land) show(land);
    else shown = null; // asked again at the next look
  }

  return { show, follow };
}

// An outline's first point and the steps from there, in whole units, as points of Leaflet.
/** @type {(steps: number[], outlines: Outlines) => L.LatLngTuple[]} */
function path(steps, { origin: [west, south], unit }) {
  /** @type {L.LatLngTuple[]} */
  const points = [];
  let [x, y] = [0, 0];
  for (let at = 0; at < steps.length; at += 2) {
    [x, y] = [x + steps[at], y + steps[at + 1]];
    points.push([south + y * unit, west + x * unit]);
  }
  return points;
}

// The whole region in view, and in a small window beside the buttons.
/** @type {(map: L.Map, bounds: L.LatLngBoundsLiteral) => void} */
export function fit(map, bounds) {
  const buttons = map.getSize().x <= SMALL ? BUTTONS : AIR;
  map.fitBounds(bounds, { paddingTopLeft: [AIR, AIR], paddingBottomRight: [buttons, AIR] });
}

/** @type {(map: L.Map, region: Box) => L.Rectangle} */
export function border(map, [west, south, east, north]) {
  return L.rectangle([[south, west], [north, east]], {
    className: "region-border", fill: false, interactive: false, pane: "graticule",
  }).addTo(map);
}

/** @type {(map: L.Map, alsoRun: () => void) => void} */
function followView(map, alsoRun) {
  const lines = L.layerGroup().addTo(map);
  const redraw = () => {
    drawGraticule(map, lines);
    alsoRun();
  };
  map.on("moveend resize", redraw);
  map.whenReady(redraw);
}

/** @type {(map: L.Map, lines: L.LayerGroup) => void} */
function drawGraticule(map, lines) {
  lines.clearLayers();
  const view = map.getBounds();
  const step = niceStep(view.getEast() - view.getWest());
  for (const lon of multiples(view.getWest(), view.getEast(), step)) {
    lines.addLayer(line([[-85.05, lon], [85.05, lon]]));
    lines.addLayer(label([view.getSouth(), lon], degrees(lon, "E", "W"), "graticule-lon"));
  }
  for (const lat of multiples(Math.max(view.getSouth(), -85), Math.min(view.getNorth(), 85), step)) {
    lines.addLayer(line([[lat, view.getWest() - 360], [lat, view.getEast() + 360]]));
    lines.addLayer(label([lat, view.getWest()], degrees(lat, "N", "S"), "graticule-lat"));
  }
}

/** @type {(extent: number) => number} */
function niceStep(extent) {
  return STEPS.find((step) => extent / step >= LINES_WANTED) ?? STEPS[STEPS.length - 1];
}

/** @type {(low: number, high: number, step: number) => number[]} */
function multiples(low, high, step) {
  const found = [];
  for (let index = Math.ceil(low / step); index * step <= high; index += 1) {
    found.push(Number((index * step).toFixed(6)));
  }
  return found.slice(0, 40);
}

/** @type {(value: number, positive: string, negative: string) => string} */
function degrees(value, positive, negative) {
  const wrapped = positive === "E" ? ((value + 540) % 360) - 180 : value;
  const shown = number(Math.abs(wrapped), 4);
  return `${shown}°${shown === "0" ? "" : wrapped > 0 ? positive : negative}`;
}

/** @type {(points: L.LatLngTuple[]) => L.Layer} */
function line(points) {
  return L.polyline(points, { className: "graticule-line", interactive: false, pane: "graticule" });
}

/** @type {(point: L.LatLngTuple, text: string, className: string) => L.Layer} */
function label(point, text, className) {
  return textMarker(point, text, `graticule-label ${className}`, "graticule");
}

/** @type {(map: L.Map, name: string, zIndex: number) => void} */
function addPane(map, name, zIndex) {
  const pane = map.createPane(name);
  pane.style.zIndex = String(zIndex);
  pane.classList.add("pane-through");
}

// Where a point of a map lies, in words.
/** @type {(map: L.Map, point: Spot) => string} */
export function whereaboutsOn(map, point) {
  return whereabouts(placesOf.get(map) ?? [], point);
}
