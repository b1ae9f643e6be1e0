// A map inside a form (templates/parts/form_map.html): place names, and the way to a place that is typed.
// `shown` is told when the map got a size and can be fitted to something; `found`, if any, of a place gone to, and
// may say what it did.
import "./motion.js";
import "./gestures.js";
import { drawBasemap, groundLayer } from "./basemap.js";
import { placeList } from "./place_list.js";
import { goTo, searched } from "./place_search.js";

/** @type {(told: { shown(): void; found?(place: FoundPlace): string }) => FormMap} */
export function formMap(told) {
  const { shown, found } = told;
  const ground = /** @type {HTMLElement} */ (document.getElementById("region-map"));
  const news = /** @type {HTMLElement} */ (document.getElementById("region-news"));
  const placeInput = /** @type {HTMLInputElement} */ (document.getElementById("place"));
  // Of a rectangle that everything has to lie within.
  const bounds = /** @type {Box | undefined} */ (ground.dataset.bounds?.split(",").map(Number));

  const tools = /** @type {HTMLElement} */ (document.getElementById("region-tools"));
  tools.hidden = false;
  ground.hidden = false;

  const options = { attributionControl: false, minZoom: 1, zoomControl: false, worldCopyJump: true };
  const map = L.map(ground, options).setView([25, 0], 2);
  L.control.zoom({ position: "topright" }).addTo(map);
  L.control.scale({ imperial: false }).addTo(map);
  const names = drawBasemap(map, {
    region: bounds ?? null, places: [], attribution: "Place names: GeoNames (CC BY 4.0)",
  });

  const land = groundLayer(map, async (bbox) => {
    const content = await answer(`${ground.dataset.ground}?bbox=${bbox}`);
    names.showCountries(content?.countries ?? []);
    return content;
  });
  map.on("moveend", loadPlaces);
  const search = (/** @type {string} */ text) => searched(ground.dataset.placeSearch ?? "", text, bounds);
  placeList(placeInput, { find: search, choose, status: /** @type {HTMLElement} */ (document.getElementById("place-news")) });
  // Folded away, a map has no size; it gets one when it is unfolded.
  ground.closest("details")?.addEventListener("toggle", () => {
    map.invalidateSize();
    shown();
  });
  // The same where what is not asked for is hidden: only then, so that nobody's view is taken away.
  let visible = ground.clientWidth > 0;
  new ResizeObserver(() => {
    const appeared = !visible && ground.clientWidth > 0;
    visible = ground.clientWidth > 0;
    if (!appeared) return;
    map.invalidateSize();
    shown();
  }).observe(ground);
  loadPlaces();
  return { map, bounds, ground, news };

  async function loadPlaces() {
    const view = map.getBounds();
    /** @type {Box} */
    const bbox = [
      Math.max(view.getWest(), -180), Math.max(view.getSouth(), -85),
      Math.min(view.getEast(), 180), Math.min(view.getNorth(), 85),
    ];
    if (!(bbox[0] < bbox[2] && bbox[1] < bbox[3])) return;
    land.follow(bbox);
    const inView = await answer(`${ground.dataset.places}?bbox=${bbox.map((value) => value.toFixed(4)).join(",")}`);
    names.show(inView?.places ?? []);
  }

  /** @type {PlaceSearch["choose"]} */
  function choose(place) {
    const words = goTo(map, place, bounds);
    return (place.inside && found?.(place)) || words;
  }

  // What the server says; nothing where it does not answer.
  /** @type {(address: string) => Promise<any>} */
  async function answer(address) {
    try {
      const response = await fetch(address);
      return response.ok ? await response.json() : null;
    } catch {
      return null;
    }
  }
}
