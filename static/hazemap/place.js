// A place on a map and in the two number boxes of a form, which hold it (templates/releases/place_boxes.html).
import { formMap } from "./form_map.js";

/** @type {(form: HTMLFormElement) => L.Map} */
export function placePicker(form) {
  const latitude = /** @type {HTMLInputElement} */ (form.elements.namedItem("latitude"));
  const longitude = /** @type {HTMLInputElement} */ (form.elements.namedItem("longitude"));
  const { map, bounds, ground, news } = formMap({ shown: showAll });
  const [west, south, east, north] = /** @type {Box} */ (bounds); // a place is asked for in a dataset's region
  const chosen = L.circleMarker([0, 0], { className: "chosen-point", radius: 7, interactive: false });
  const KEEP_DIGITS = 6;

  map.on("click", ({ latlng }) => choose(latlng));
  for (const box of [latitude, longitude]) box.addEventListener("input", showChosen);
  showChosen();
  showAll();
  return map;

  /** @type {(place: L.LatLng) => void} */
  function choose({ lat, lng }) {
    const [up, across] = [lat, lng].map((value) => Number(value.toFixed(KEEP_DIGITS))); // which may lie on the border
    if (across < west || across >= east || up < south || up >= north) {
      news.textContent = "Outside of the dataset’s region.";
      return;
    }
    latitude.value = up.toFixed(KEEP_DIGITS);
    longitude.value = across.toFixed(KEEP_DIGITS);
    form.dispatchEvent(new Event("region"));
    showChosen();
    news.textContent = `The place is at latitude ${latitude.value}, longitude ${longitude.value}.`;
  }

  function showChosen() {
    const [up, across] = [latitude, longitude].map((box) => (box.value.trim() === "" ? NaN : Number(box.value)));
    const isPlace = Number.isFinite(up) && Number.isFinite(across);
    isPlace ? chosen.setLatLng([up, across]).addTo(map) : chosen.remove();
  }

  function showAll() {
    if (!ground.clientWidth) return; // no zoom fits into nothing
    map.fitBounds([[south, west], [north, east]], { padding: [40, 40] });
  }
}
