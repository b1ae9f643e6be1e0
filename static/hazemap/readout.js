// What is said of the place under the pointer, or in the middle of a map that arrow keys move.
// `linesAt`: elements for a place {lat, lng}, or null.
import { make } from "./dom.js";
import { length, percent, roundedUp, withError } from "./numbers.js";

/** @type {(map: L.Map, linesAt: (place: L.LatLng) => HTMLElement[] | null) => { refresh(): void }} */
export function addReadout(map, linesAt) {
  const element = map.getContainer();
  const box = make("div", "readout");
  const spoken = make("p", "spoken"); // what is read by keys, said aloud
  /** @type {L.LatLng | null} */
  let at = null;
  let pointer = ""; // where it is in the window
  spoken.setAttribute("aria-live", "polite");
  box.hidden = true;
  element.append(box, spoken);

  map.on("mousemove", ({ latlng, originalEvent: { clientX, clientY } }) => {
    const moved = [clientX, clientY].join();
    // A map that keys move passes under a pointer that rests: the browser tells that as a move, too.
    if (!isByKeys() || moved !== pointer) show(latlng, false);
    pointer = moved;
  });
  map.on("click", (event) => show(event.latlng));
  map.on("mouseout", () => show(null));
  map.on("place", (event) => show(/** @type {L.LeafletMouseEvent} */ (event).latlng, true)); // that was searched
  map.on("moveend", () => document.activeElement === element && isByKeys() && show(map.getCenter()));
  element.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) element.classList.add("by-keys");
  });
  element.addEventListener("mousedown", () => element.classList.remove("by-keys"));

  function isByKeys() {
    return element.classList.contains("by-keys");
  }

  /** @type {(point: L.LatLng | null, isSaid?: boolean) => void} */
  function show(point, isSaid = isByKeys()) {
    at = point;
    const lines = point && linesAt(point);
    box.hidden = !lines;
    if (isSaid) spoken.textContent = (lines ?? []).map((line) => line.textContent).join(", ");
    if (lines) box.replaceChildren(...lines);
  }

  return { refresh: () => show(at) };
}

// The density of people at a pixel, with its error and share, as the lines of the readout. `where`: in words.
/** @type {(density: SmoothDensity, pixel: number, where: string) => HTMLElement[]} */
export function densityLines(density, pixel, where) {
  const value = Math.max(density.value(pixel), 0);
  const line = readoutLine(where, densityWords(density, pixel));
  if (!density.isClear(pixel)) {
    const limit = density.limit(pixel);
    return limit === null ? [line] : [line, make("span", "", `${roundedUp(limit)} people per km² would be drawn 19 times in 20`)];
  }
  // On a map of less than a square kilometre, or a crowded one, it may be more than all.
  const share = value <= density.total ? `${percent(value / density.total)} of all per km²; ` : "";
  const told = `${share}± holds ${density.isBound ? "at least " : ""}19 of 20 places shown; smoothed over ${length(density.width)}`;
  return [line, make("span", "", told)];
}

// The same in a few words, on every page: the interval is that of places chosen for being clear.
/** @type {(density: SmoothDensity, pixel: number) => string} */
export function densityWords(density, pixel) {
  if (!density.isClear(pixel)) return "Not clearly above zero";
  return `${withError(density.value(pixel), density.reach * density.error(pixel))} people per km²`;
}

// "Hoboken: 12 ± 3 people", the name above the number.
/** @type {(name: string, number: string) => HTMLElement} */
export function readoutLine(name, number) {
  const line = make("b");
  if (name) line.append(make("small", "", `${name}: `));
  line.append(number);
  return line;
}
