// Names on a map: countries where they are large enough, places by population, none over another or over a sign.
import { addControl, button, make } from "./dom.js";
import { textMarker } from "./text_marker.js";

/** @type {(map: L.Map) => NameLayer} */
export function nameLayer(map) {
  const HEIGHT = 30; // pixels, with some air
  const WIDTH_PER_LETTER = 7;
  const AROUND_SIGN = 3; // pixels
  const AREA_PER_PLACE = 16_000; // pixels: names shall not hide what they stand on
  const WIDEST_COUNTRY = 1.5; // views: where a country is wider, the view is somewhere inside
  const SIGNS = ".zone-name span, .centre-name span, .released-point, .gathered.spot, .leaflet-control";
  const layer = L.layerGroup().addTo(map);
  /** @type {Place[]} */
  let known = []; // the greatest first
  /** @type {Place | null} */
  let searched = null;
  /** @type {Country[]} */
  let nations = [];
  /** @type {(place: Place) => boolean} */
  let isLeftOut = () => false;
  /** @type {(visible: boolean) => void} */
  let toggled = () => {};

  map.on("signs", redraw);
  map.on("place", (event) => {
    searched = /** @type {L.LeafletEvent & { place: Place }} */ (event).place;
    redraw();
  });
  return {
    addButton,
    declutter,
    // Places that something else names; asked again at each view.
    leaveOut(rule) {
      isLeftOut = rule;
      redraw();
    },
    // Names of something else are shown and hidden with ours.
    onToggle(run) {
      toggled = run;
    },
    show(places) {
      known = places;
      redraw();
    },
    showCountries(countries) {
      nations = countries;
      redraw();
    },
  };

  function redraw() {
    if (Number.isFinite(map.getZoom())) declutter(); // else it has no view yet
  }

  function declutter() {
    layer.clearLayers();
    const taken = signs();
    if (searched) {
      write(searched, "place-name"); // whatever it stands on
      taken.push(room(searched, "place-name"));
    }
    for (const nation of nations.filter(isFitting)) put(nation, "country-name", taken);
    const { x, y } = map.getSize();
    let left = Math.ceil((x * y) / AREA_PER_PLACE);
    for (const place of known) {
      if (!left) break;
      if (!isSearched(place) && !isLeftOut(place) && isInView(place) && put(place, "place-name", taken)) left -= 1;
    }
  }

  // Where numbers and points of a result or a form stand, and what the map is moved with.
  /** @type {() => Pixels[]} */
  function signs() {
    const { left: west, top: north } = map.getContainer().getBoundingClientRect();
    return [...map.getContainer().querySelectorAll(SIGNS)].map((sign) => {
      const { left, top, right, bottom } = sign.getBoundingClientRect();
      const [x, y] = [left - west, top - north];
      return [x - AROUND_SIGN, y - AROUND_SIGN, right - west + AROUND_SIGN, bottom - north + AROUND_SIGN];
    });
  }

  // A country is as wide as its name at least, and not much wider than the view.
  /** @type {(country: Country) => boolean} */
  function isFitting({ name, lat, lon, width }) {
    const [west, east] = [-1, 1].map((way) => map.latLngToContainerPoint([lat, lon + (way * width) / 2]).x);
    return east - west >= name.length * WIDTH_PER_LETTER && east - west <= WIDEST_COUNTRY * map.getSize().x;
  }

  /** @type {(place: Place) => boolean} */
  function isInView({ lat, lon }) {
    const at = map.latLngToContainerPoint([lat, lon]);
    const { x, y } = map.getSize();
    return at.x >= 0 && at.y >= 0 && at.x <= x && at.y <= y;
  }

  /** @type {(place: Place) => boolean} */
  function isSearched({ lat, lon }) {
    return lat === searched?.lat && lon === searched?.lon;
  }

  // Whether there was room; what is taken is noted.
  /** @type {(named: Place, className: string, taken: Pixels[]) => boolean} */
  function put(named, className, taken) {
    const box = room(named, className);
    if (taken.some((other) => overlap(box, other))) return false;
    taken.push(box);
    write(named, className);
    return true;
  }

  /** @type {(named: Place, className: string) => void} */
  function write({ name, lat, lon }, className) {
    layer.addLayer(textMarker([lat, lon], name, className, "names"));
  }

  /** @type {(named: Place, className: string) => Pixels} */
  function room({ name, lat, lon }, className) {
    const at = map.latLngToContainerPoint([lat, lon]);
    const width = name.length * WIDTH_PER_LETTER + 14;
    const left = className === "country-name" ? at.x - width / 2 : at.x - 6;
    return [left, at.y - HEIGHT / 2, left + width, at.y + HEIGHT / 2];
  }

  /** @type {(one: Pixels, other: Pixels) => boolean} */
  function overlap(one, other) {
    return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  }

  /** @type {(visible: boolean) => void} */
  function setVisible(visible) {
    visible ? layer.addTo(map) : layer.remove();
    toggled(visible);
  }

  // Names stand on top of the cells: whoever wants to see those in full takes the names away.
  // Where street maps bring their own, ours are off at first.
  /** @type {(on: boolean) => void} */
  function addButton(on) {
    if (!on) setVisible(false);
    const bar = make("div", "leaflet-bar names-button");
    const toggle = button("Names", () => {
      const visible = toggle.getAttribute("aria-pressed") !== "true";
      toggle.setAttribute("aria-pressed", String(visible));
      setVisible(visible);
    });
    toggle.setAttribute("aria-pressed", String(on));
    bar.append(toggle);
    addControl(map, bar, "topright");
  }
}
