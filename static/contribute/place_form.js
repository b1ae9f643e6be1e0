/** The form in which a person chooses places; they stay in this module until a report is drawn. */

import { byId, inputById, make, show } from "./dom.js";
import { ownPicture } from "./picture.js";
import { contains, finestCell } from "./places.js";

/** @typedef {import("./facts.js").Facts} Facts */
/** @typedef {import("./picture.js").Town} Town */
/** @typedef {{ lat: number, lon: number }} Spot */
/** @typedef {{ cells(): import("./places.js").Cell[] | null, empty(): void }} PlaceForm */

const MOST_PLACES = 50;
const SEVERAL = new Set(["items", "shares"]);

/**
 * Starts the form; what it returns gives the chosen cells, or null and says what is missing.
 * @param {Facts} facts
 * @param {Town[]} towns
 * @returns {PlaceForm}
 */
export function placeForm(facts, towns) {
  const region = /** @type {import("./places.js").Region} */ (facts.region.map(Number));
  const isSeveral = SEVERAL.has(facts.encoding.kind);
  /** @type {Spot[]} */
  const chosen = [];
  const [lat, lon, town] = [inputById("lat"), inputById("lon"), inputById("town")];
  show(byId("add-field"), isSeveral);
  show(byId("town-field"), towns.length > 0);
  byId("towns").replaceChildren(...towns.map(({ name }) => make("option", { value: name })));
  const middle = [(region[1] + region[3]) / 2, (region[0] + region[2]) / 2];
  [lat.placeholder, lon.placeholder] = middle.map((value) => value.toFixed(3));

  /** @param {Spot} spot */
  function fill(spot) {
    [lat.value, lon.value] = [String(spot.lat), String(spot.lon)];
    told();
  }

  /** Says where the numbers lie. */
  function told() {
    const spot = typed(lat, lon);
    const isOutside = spot && !contains(region, spot.lat, spot.lon);
    byId("place-news").textContent = isOutside
      ? "This place is outside the region. It counts as the nearest place on its edge."
      : "";
    const cells = [...chosen, ...(spot ? [spot] : [])].map((one) => finestCell(region, one.lat, one.lon));
    byId("place-picture").replaceChildren(...(cells.length ? [ownPicture(facts, cells, towns)] : []));
  }

  function list() {
    byId("places").replaceChildren(...chosen.map((spot, at) => {
      const remove = make("button", { type: "button", class: "plain" }, "Remove");
      remove.setAttribute("aria-label", `Remove place ${at + 1}`);
      remove.addEventListener("click", () => {
        chosen.splice(at, 1);
        list();
        told();
        lat.focus();
      });
      return make("li", {}, `Place ${at + 1}: ${spot.lat}, ${spot.lon}`, remove);
    }));
  }

  byId("sensor").addEventListener("click", () => sensed(fill));
  town.addEventListener("input", () => {
    const found = towns.find(({ name }) => name === town.value);
    if (found) fill(found);
  });
  // While it is typed: a picture that came when the field is left would push away what is being clicked.
  for (const input of [lat, lon]) input.addEventListener("input", told);
  byId("add").addEventListener("click", () => {
    const spot = typed(lat, lon);
    if (!spot || chosen.length === MOST_PLACES) return complain(spot ? "These are as many places as fit." : "");
    chosen.push(spot);
    [lat.value, lon.value, town.value] = ["", "", ""];
    complain("", false);
    list();
    told();
    byId("place-news").textContent = `Place ${chosen.length} was added.`;
  });

  return {
    /** The finest cells of what is chosen. */
    cells() {
      const spot = typed(lat, lon);
      const spots = isSeveral && spot ? [...chosen, spot] : isSeveral ? chosen : spot ? [spot] : [];
      const isHalf = !spot && (lat.value.trim() || lon.value.trim());
      if (!spots.length || isHalf) {
        complain("");
        return null;
      }
      complain("", false);
      return spots.map((one) => finestCell(region, one.lat, one.lon));
    },
    /** Nothing of the place is left on the page. */
    empty() {
      chosen.length = 0;
      [lat.value, lon.value, town.value] = ["", "", ""];
      list();
      told();
    },
  };

  /**
   * @param {string} words
   * @param {boolean} [isWrong]
   */
  function complain(words, isWrong = true) {
    byId("place-error").textContent = isWrong
      ? words || "Type a latitude from −90 to 90 and a longitude from −180 to 180, such as 48.137 and 11.575."
      : "";
    for (const input of [lat, lon]) {
      if (isWrong) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
    if (isWrong) lat.focus();
  }
}

/**
 * @param {HTMLInputElement} lat
 * @param {HTMLInputElement} lon
 * @returns {Spot | null}
 */
function typed(lat, lon) {
  const [first, second] = [degrees(lat.value, 90), degrees(lon.value, 180)];
  return first === null || second === null ? null : { lat: first, lon: second };
}

/**
 * Degrees with a point or a comma; null for what is none.
 * @param {string} text
 * @param {number} most
 */
function degrees(text, most) {
  const plain = text.trim().replace("−", "-").replace(",", ".");
  if (!/^[+-]?[0-9]{1,3}(\.[0-9]{0,20})?$/.test(plain)) return null;
  const value = Number(plain);
  return Math.abs(value) <= most ? value : null;
}

/** @param {(spot: Spot) => void} fill */
function sensed(fill) {
  const news = byId("place-news");
  if (!navigator.geolocation) {
    news.textContent = "This browser cannot tell where it is. Type the place.";
    return;
  }
  news.textContent = "Asking this device …";
  navigator.geolocation.getCurrentPosition(
    ({ coords }) => {
      fill({ lat: coords.latitude, lon: coords.longitude });
      news.textContent = `Found, to about ${Math.ceil(coords.accuracy)} m. ${news.textContent}`;
    },
    () => (news.textContent = "This device does not tell its place. Type it."),
    { enableHighAccuracy: false, timeout: 30_000, maximumAge: 60_000 },
  );
}
