// Streets between the ground and what was released: tiles of a file of ours, or of another host.
// Where vector tiles are shown, the classic script protomaps-leaflet.js stands before.
import { streetStyle } from "./street_style.js";

/** @type {(map: L.Map, names: NameLayer) => { isLettered: boolean }} */
export function addStreets(map, names) {
  const ABOVE_GROUND = 155; // panes: the ground is at 150, cells and heat at 400, our place names at 620
  const STREET_NAMES = 615;
  const DARK = matchMedia("screen and (prefers-color-scheme: dark)");
  /** @type {HTMLElement | null} */
  const told = map.getContainer().closest("[data-streets]");
  /** @type {StreetLayer[]} */
  const layers = JSON.parse(told?.dataset.streets || "[]");

  let isLettered = false; // whether pictures bring names of their own
  layers.forEach((layer, index) => {
    const pane = `streets-${index}`;
    const element = addPane(pane, ABOVE_GROUND + index);
    credit(layer.attribution);
    if (layer.kind === "mvt") vector(layer, pane);
    else if (layer.kind !== "missing") pictures(layer, pane, element);
  });
  return { isLettered };

  /** @type {(name: string, level: number) => HTMLElement} */
  function addPane(name, level) {
    const element = map.createPane(name);
    element.style.zIndex = String(level);
    element.classList.add("pane-through");
    return element;
  }

  /** @type {(text: string) => void} */
  function credit(text) {
    const element = document.createElement("span");
    element.textContent = text; // of a file or a setting: never read as HTML
    map.attributionControl.addAttribution(element.innerHTML);
  }

  // --- pictures ---

  /** @type {(layer: StreetLayer, pane: string, element: HTMLElement) => void} */
  function pictures({ address, bounds, zooms }, pane, element) {
    isLettered = true;
    element.classList.add("street-pictures");
    L.tileLayer(address, {
      pane,
      referrerPolicy: "no-referrer",
      ...(bounds && { bounds: box(bounds), minNativeZoom: zooms[0], maxNativeZoom: zooms[1] }),
    }).addTo(map);
  }

  // --- vector tiles: areas and streets below what was released, their names above it ---

  /** @type {(layer: Extract<StreetLayer, { bounds: Box }>, pane: string) => void} */
  function vector({ address, bounds, zooms: [coarsest, finest] }, pane) {
    const style = () => streetStyle(map.getContainer());
    const shared = { url: address, maxDataZoom: finest, attribution: "", lang: "en" };
    const namesPane = `${pane}-names`;
    addPane(namesPane, STREET_NAMES);
    const ground = protomapsL.leafletLayer({ ...shared, bounds: box(bounds), pane, paintRules: style().ground });
    // Names reach beyond the file's box: without bounds, none is cut off there.
    const texts = protomapsL.leafletLayer({ ...shared, pane: namesPane, labelRules: style().names });
    texts.views = ground.views; // a tile is fetched once for both
    ground.addTo(map);
    texts.addTo(map);

    DARK.addEventListener("change", () => {
      ground.paintRules = style().ground;
      texts.labelRules = style().names;
      for (const layer of [ground, texts]) {
        layer.clearLayout();
        layer.rerenderTiles();
      }
    });
    names.onToggle((visible) => (visible ? texts.addTo(map) : texts.remove()));
    // Inside the file, names are those of the file: no place is named twice.
    names.leaveOut(({ lat, lon }) => map.getZoom() > coarsest && box(bounds).contains([lat, lon]));
  }

  /** @type {(bounds: Box) => L.LatLngBounds} */
  function box([west, south, east, north]) {
    return L.latLngBounds([[south, west], [north, east]]);
  }
}
