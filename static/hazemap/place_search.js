// The place search of a map (static/hazemap/place_list.js): at our server, or in a file among the map's own names.
import { addControl, make } from "./dom.js";
import { placeList } from "./place_list.js";

const CLOSER = 2; // zooms than the whole region: a place without an extent
const MOST_FOUND = 8;
/** @type {WeakMap<L.Map, L.CircleMarker>} */
const marks = new WeakMap(); // of the place that was found on each map

// By our server where the document names its address, else among the map's own names.
/** @type {(map: L.Map, content: { region: Box; places: Place[] }) => void} */
export function searchControl(map, { region, places }) {
  const address = document.body.dataset.placeSearch;
  const box = make("div", "leaflet-bar place-search");
  const input = make("input");
  Object.assign(input, { type: "text", placeholder: "Find a place", autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-label", "Find a place on this map");
  input.addEventListener("keydown", (event) => event.stopPropagation()); // arrow keys would move the map
  box.append(input);
  placeList(input, {
    find: async (text) => (address ? searched(address, text, region) : among(places, text, region)),
    choose: (place) => goTo(map, place, region),
  });
  addControl(map, box, "topleft");
}

/** @type {(address: string, text: string, region?: Box) => Promise<FoundPlace[] | null>} */
export async function searched(address, text, region) {
  const body = new URLSearchParams({ text, region: region?.join(",") ?? "" });
  try {
    const response = await fetch(address, { method: "POST", body });
    return response.ok ? (await response.json()).places : null;
  } catch {
    return null;
  }
}

/** @type {(places: Place[], text: string, region: Box) => FoundPlace[]} */
function among(places, text, [west, south, east, north]) {
  const wanted = ` ${folded(text).trim()}`;
  return places.filter(({ name }) => ` ${folded(name)}`.includes(wanted)).slice(0, MOST_FOUND).map((place) => {
    const { lat, lon } = place;
    return { ...place, inside: lon >= west && lon <= east && lat >= south && lat <= north };
  });
}

/** @type {(text: string) => string} */
function folded(text) {
  return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ");
}

// Shows what of a place's extent lies in the region, and marks the place. Returns what was done, in words.
/** @type {(map: L.Map, place: FoundPlace, region?: Box) => string} */
export function goTo(map, place, region) {
  if (!place.inside) return `${place.name} lies outside this map.`;
  const { lat, lon, extent } = place;
  if (extent) {
    const [west, south, east, north] = region ? common(extent, region) : extent;
    map.fitBounds([[south, west], [north, east]], { padding: [24, 24] });
  } else if (region) {
    const [west, south, east, north] = region;
    const whole = map.getBoundsZoom([[south, west], [north, east]]);
    map.setView([lat, lon], Math.max(map.getZoom(), whole + CLOSER));
  }
  marks.get(map)?.remove();
  marks.set(map, L.circleMarker([lat, lon], { className: "found-place", radius: 9, interactive: false }).addTo(map));
  map.fire("place", { latlng: L.latLng(lat, lon), place });
  return `The map shows ${place.name}.`;
}

/** @type {(one: Box, other: Box) => Box} */
function common(one, other) {
  return [
    Math.max(one[0], other[0]), Math.max(one[1], other[1]), Math.min(one[2], other[2]), Math.min(one[3], other[3]),
  ];
}
