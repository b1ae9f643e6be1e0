// The form of a new dataset: fields of one relation only, a word for each limit, an address made of the title, and
// its region.
import { regionPicker } from "./region.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("new-dataset"));
const title = /** @type {HTMLInputElement} */ (form.elements.namedItem("title"));
const slug = /** @type {HTMLInputElement | null} */ (form.elements.namedItem("slug"));
/** @type {Record<string, number>} */
const strengths = JSON.parse(form.dataset.strengths ?? "{}");

regionPicker(form);
for (const radio of form.querySelectorAll("[data-relation]")) radio.addEventListener("change", showRelation);
for (const name of ["presence_limit", "record_limit", "radius_limit"]) sayStrength(name);
if (slug) title.addEventListener("input", () => suggestAddress(slug));
showRelation();

function showRelation() {
  const relation = /** @type {HTMLInputElement | null} */ (form.querySelector("[data-relation]:checked"));
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (form.querySelectorAll("[data-for]"))) {
    part.hidden = relation !== null && part.dataset.for !== relation.value;
    const heading = /** @type {HTMLElement} */ (part.querySelector("[data-heading]"));
    heading.hidden = relation !== null;
  }
}

/** @type {(name: string) => void} */
function sayStrength(name) {
  const limit = /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
  const [row, word] = [document.createElement("div"), document.createElement("span")];
  row.className = "with-unit";
  word.className = "unit";
  limit.before(row);
  row.append(limit, word);
  const say = () => {
    const epsilon = limit.value.trim() === "" ? NaN : Number(limit.value);
    const strong = Object.keys(strengths).find((name) => epsilon <= strengths[name]);
    word.textContent = Number.isNaN(epsilon) ? "" : (strong ?? "weak");
  };
  limit.addEventListener("input", say);
  say();
}

/** @type {(slug: HTMLInputElement) => void} */
function suggestAddress(slug) {
  slug.placeholder = title.value.normalize("NFKD").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
}
