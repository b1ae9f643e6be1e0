// Signs on a map, none over another: those that come first stay, others are shortened or left out, and the closer one
// looks the more there is room for.
import { textMarker } from "./text_marker.js";

/** @type {(map: L.Map, pane: string) => { show(signs: Sign[]): void }} */
export function signLayer(map, pane) {
  const AIR = 2; // pixels around each
  const BESIDE = 9; // pixels: a centre's sign begins so far to its right (map.css)
  const layer = L.layerGroup().addTo(map);
  /** @type {Sign[]} */
  let signs = [];
  map.on("zoomend resize", place);

  function place() {
    if (!Number.isFinite(map.getZoom())) return; // no view yet
    layer.clearLayers();
    /** @type {Pixels[]} */
    const taken = [];
    for (const sign of signs) {
      for (const text of new Set([sign.text, sign.short])) {
        const marker = textMarker(sign.point, text, sign.className, pane);
        layer.addLayer(marker);
        const box = room(marker, sign.className);
        const isFree = !taken.some((other) => overlap(box, other));
        if (isFree) taken.push(box);
        else layer.removeLayer(marker);
        if (isFree) break;
      }
    }
    map.fire("signs");
  }

  // In pixels of the map: where it is drawn while a zoom glides does not matter.
  /** @type {(marker: L.Marker, className: string) => Pixels} */
  function room(marker, className) {
    const words = /** @type {HTMLElement} */ (marker.getElement()?.firstElementChild);
    const { x, y } = map.latLngToLayerPoint(marker.getLatLng());
    const [width, height] = [words.offsetWidth, words.offsetHeight];
    const left = className === "centre-name" ? x + BESIDE : x - width / 2;
    return [left - AIR, y - height / 2 - AIR, left + width + AIR, y + height / 2 + AIR];
  }

  /** @type {(one: Pixels, other: Pixels) => boolean} */
  function overlap(one, other) {
    return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  }

  /** @type {(wanted: Sign[]) => void} */
  function show(wanted) {
    signs = wanted;
    place();
  }

  return { show };
}
