// Shows only the fields that the chosen schedule needs (templates/dataset/schedule_fields.html).
const every = /** @type {HTMLSelectElement} */ (document.getElementById("id_every"));
/** @type {Record<string, string[]>} */
const NEEDED = { "": [], daily: ["hour"], weekly: ["hour", "weekday"], monthly: ["hour", "day"] };

every.addEventListener("change", show);
window.addEventListener("pageshow", show); // a page that is come back to has what was chosen then
show();

function show() {
  for (const name of ["hour", "weekday", "day"]) {
    const field = /** @type {HTMLElement} */ (document.getElementById(`id_${name}`)?.closest(".field"));
    field.hidden = !NEEDED[every.value].includes(name);
  }
}
