// A rectangle on the map that is added to the zones, beside those there are.
const form = document.getElementById("gathering-form");
const map = window.hazemap.regionPicker(form);
window.hazemap.drawGathered(map, form.elements.zones, form.elements.file);
