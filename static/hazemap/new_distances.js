// A place on the map and in its two number boxes, which hold it, beside the places there are.
const form = document.getElementById("gathering-form");
const { latitude, longitude, places, file } = form.elements;
const { map, bounds, ground, news } = window.hazemap.formMap({ shown: showAll });
const chosen = L.circleMarker([0, 0], { className: "chosen-point", radius: 7, interactive: false });
const KEEP_DIGITS = 6;

window.hazemap.drawGathered(map, places, file);
map.on("click", ({ latlng }) => choose(latlng));
for (const box of [latitude, longitude]) box.addEventListener("input", showChosen);
showChosen();
showAll();

function choose({ lat, lng }) {
  const [west, south, east, north] = bounds;
  const [up, across] = [lat, lng].map((value) => value.toFixed(KEEP_DIGITS)); // which may lie on the border
  if (across < west || across >= east || up < south || up >= north) {
    news.textContent = "Outside of the dataset’s region.";
    return;
  }
  latitude.value = up;
  longitude.value = across;
  showChosen();
  news.textContent = `The place is at latitude ${latitude.value}, longitude ${longitude.value}.`;
}

function showChosen() {
  const values = [latitude, longitude].map((box) => (box.value.trim() === "" ? NaN : Number(box.value)));
  values.every(Number.isFinite) ? chosen.setLatLng(values).addTo(map) : chosen.remove();
}

function showAll() {
  if (!ground.clientWidth) return; // no zoom fits into nothing
  const [west, south, east, north] = bounds;
  map.fitBounds([[south, west], [north, east]], { padding: [40, 40] });
}
