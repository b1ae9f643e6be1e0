// The form of a new dataset: fields of one relation only, an address made of the title, and its region.
const form = document.getElementById("new-dataset");

window.hazemap.regionPicker(form);
for (const radio of form.querySelectorAll("[data-relation]")) radio.addEventListener("change", showRelation);
form.elements.title.addEventListener("input", suggestAddress);
showRelation();

function showRelation() {
  const chosen = form.querySelector("[data-relation]:checked")?.value;
  for (const part of form.querySelectorAll("[data-for]")) {
    part.hidden = Boolean(chosen) && part.dataset.for !== chosen;
    part.querySelector("[data-heading]").hidden = Boolean(chosen);
  }
}

function suggestAddress() {
  const address = form.elements.title.value.normalize("NFKD").toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60);
  form.elements.slug.placeholder = address;
}
