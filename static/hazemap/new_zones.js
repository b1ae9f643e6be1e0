// A rectangle on the map that is added to the zones.
window.hazemap.regionPicker(document.getElementById("zones-form"));
