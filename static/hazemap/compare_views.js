// The choice of what a comparison shows, above the maps (templates/maps/comparison.html).
import { drawBasemap } from "./basemap.js";
import { make } from "./dom.js";

/** @type {(view: View) => void} */
export function compareViews(view) {
  /** @type {HTMLInputElement[]} */
  const options = [...document.querySelectorAll("input")].filter(({ name }) => name === "shows");
  for (const option of options) {
    option.addEventListener("change", () => view.set({ shows: /** @type {Chosen["shows"]} */ (option.value) }));
  }
  const follow = () => options.forEach((option) => {
    option.checked = option.value === view.chosen().shows;
  });
  view.onChange(follow);
  follow();
}

// A second map beside the first, on the same ground, that shows the same view while it is followed.
/** @type {(map: L.Map, content: CompareContent) => { beside: L.Map; follow(isShown: boolean): void }} */
export function mapBeside(map, content) {
  const { basemap, names } = content;
  const { zoomSnap, minZoom, maxZoom } = map.options;
  const place = make("div", "folium-map beside");
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", `Map of ${names[1]}: arrow keys move it, plus and minus zoom`);
  map.getContainer().after(place);
  const beside = L.map(place, { zoomSnap, minZoom, maxZoom, zoomControl: false, attributionControl: false });
  [map, beside].forEach((shown, at) => {
    shown.getContainer().append(make("span", "map-name", names[at]));
    drawBasemap(shown, basemap);
  });
  let isFollowed = false;
  let isMoving = false;
  beside.setView(map.getCenter(), map.getZoom(), { animate: false });
  map.on("move", () => keep(map, beside));
  beside.on("move", () => keep(beside, map));

  /** @type {(leader: L.Map, follower: L.Map) => void} */
  function keep(leader, follower) {
    if (!isFollowed || isMoving) return;
    isMoving = true;
    follower.setView(leader.getCenter(), leader.getZoom(), { animate: false });
    isMoving = false;
  }

  /** @type {(isShown: boolean) => void} */
  function follow(isShown) {
    if (isFollowed === isShown) return;
    isFollowed = isShown;
    for (const shown of [map, beside]) shown.invalidateSize({ animate: false });
    keep(map, beside);
  }

  return { beside, follow };
}
