// Zones or places of a form, drawn on its map while they are typed, pasted or chosen as a file.
import { signLayer } from "./signs.js";

/** @type {(map: L.Map, text: HTMLTextAreaElement, file: HTMLInputElement) => void} */
export function drawGathered(map, text, file) {
  /** @typedef {{ name: string, points: L.LatLngTuple[] }} Thing */

  const PER_DEGREE = 1e7; // of the short spelling: [[name, corners], …]
  const MOST_BYTES = 200_000; // of a file that the server takes
  const layer = L.layerGroup().addTo(map);
  const signs = signLayer(map, "markerPane");
  let turns = 0; // of drawing

  text.addEventListener("input", draw);
  file.addEventListener("change", draw);
  draw();

  async function draw() {
    const turn = ++turns;
    const chosen = file.files?.[0];
    const filed = chosen && chosen.size <= MOST_BYTES ? await chosen.text() : "";
    if (turn !== turns) return; // typed or chosen again meanwhile
    layer.clearLayers();
    const things = [text.value, filed].flatMap(read);
    for (const { points } of things) layer.addLayer(points.length === 1 ? spot(points[0]) : ring(points));
    signs.show(things.filter(({ name }) => name).map(({ name, points }) => ({
      point: middle(points), text: name, short: name, className: points.length === 1 ? "centre-name" : "zone-name",
    })));
  }

  // What is no such text yet is not drawn; the server says what is wrong with it.
  /** @type {(content: string) => Thing[]} */
  function read(content) {
    try {
      const body = JSON.parse(content);
      const things = Array.isArray(body) ? body.map(spelled) : features(body).map(feature);
      return things.filter(({ points }) => points.length > 0 && points.flat().every(Number.isFinite));
    } catch {
      return [];
    }
  }

  /** @type {(thing: any) => Thing} */
  function spelled([name, content]) {
    const corners = Array.isArray(content[0]) ? content : [content];
    return { name, points: corners.map((/** @type {Corner} */ [lon, lat]) => [lat / PER_DEGREE, lon / PER_DEGREE]) };
  }

  /** @type {(body: any) => any[]} */
  function features(body) {
    if (body.type === "FeatureCollection") return body.features;
    return [body.type === "Feature" ? body : { geometry: body }];
  }

  /** @type {(feature: any) => Thing} */
  function feature({ geometry, properties }) {
    const corners = geometry.type === "Point" ? [geometry.coordinates] : geometry.coordinates[0];
    const name = properties?.name || properties?.title || "";
    return { name: String(name), points: corners.map((/** @type {Corner} */ [lon, lat]) => [lat, lon]) };
  }

  /** @type {(point: L.LatLngTuple) => L.Layer} */
  function spot(point) {
    return L.circleMarker(point, { className: "gathered spot", radius: 6, interactive: false });
  }

  /** @type {(points: L.LatLngTuple[]) => L.Layer} */
  function ring(points) {
    return L.polygon(points, { className: "gathered", interactive: false, smoothFactor: 0 });
  }

  /** @type {(points: L.LatLngTuple[]) => L.LatLng} */
  function middle(points) {
    return L.latLngBounds(points).getCenter();
  }
}
