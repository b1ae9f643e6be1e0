// The map of a question, where its form has one: of its rectangle, or of what is gathered.
import { drawGathered } from "./gathered.js";
import { placePicker } from "./place.js";
import { regionPicker } from "./region.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("release-form"));
const { gathered } = form.dataset; // name of the text that zones or places are gathered in

if (gathered) gather(gathered);
else if (document.getElementById("data-slice")) regionPicker(form, "All of the region is asked about.");

/** @type {(name: string) => void} */
function gather(name) {
  const text = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem(name));
  const file = /** @type {HTMLInputElement} */ (form.elements.namedItem("file"));
  const map = form.elements.namedItem("latitude") ? placePicker(form) : regionPicker(form);
  drawGathered(map, text, file);
}
