// A rectangle on a map and in the number boxes of a form, kept equal (templates/parts/region.html).
// A classic script beside form_map.js, whose map it is. `meaning`: of no rectangle, if it has one.
window.hazemap.regionPicker = (form, meaning) => {
  "use strict";

  const boxes = ["west", "south", "east", "north"].map((name) => form.elements[name]);
  const { map, bounds, ground, news } = window.hazemap.formMap({ found: goTo, shown: showAll });
  const size = document.getElementById("region-size");
  const drawButton = document.getElementById("draw");
  const clearButton = document.getElementById("clear-region");

  const EARTH_KM = 6371;
  const AROUND_PLACE = 0.35; // degrees from a found city to each side: about 40 km
  const WORLD = [-180, -85, 180, 85];
  const [lowWest, lowSouth, highEast, highNorth] = bounds ?? WORLD;
  const KEEP_DIGITS = bounds ? 6 : 4;

  const shape = L.rectangle([[0, 0], [0, 0]], { className: "region-shape", interactive: false });
  const handles = [0, 1, 2, 3].map((corner) => handle("", (point) => moveCorner(corner, point)));
  const middle = handle("middle", moveAll);

  map.on("mousedown", startDrawing);
  drawButton.addEventListener("click", () => setDrawing(!isDrawing()));
  clearButton?.addEventListener("click", clear);
  document.addEventListener("keydown", (event) => event.key === "Escape" && setDrawing(false));
  map.getContainer().addEventListener("touchstart", startTouch, { passive: false });
  for (const box of boxes) {
    box.addEventListener("input", fromBoxes);
    box.addEventListener("change", showAll);
  }
  fromBoxes();
  showAll();
  return map;

  // --- the region: the number boxes hold it, the map shows it ---

  function region() {
    const values = boxes.map((box) => (box.value.trim() === "" ? NaN : Number(box.value)));
    const [west, south, east, north] = values;
    return values.every(Number.isFinite) && west < east && south < north ? values : null;
  }

  function setRegion([west, south, east, north]) {
    const across = (value) => Math.min(Math.max(rounded(value), lowWest), highEast);
    const up = (value) => Math.min(Math.max(rounded(value), lowSouth), highNorth);
    const values = [across(west), up(south), across(east), up(north)];
    boxes.forEach((box, index) => {
      box.value = String(values[index]);
    });
    fromBoxes();
  }

  // The outer rectangle's own edges stay exact.
  function rounded(value) {
    return bounds?.includes(value) ? value : Number(value.toFixed(KEEP_DIGITS));
  }

  function clear() {
    for (const box of boxes) box.value = "";
    fromBoxes();
    showAll();
    news.textContent = ["The box is cleared.", meaning].filter(Boolean).join(" ");
  }

  function fromBoxes() {
    const box = region();
    for (const layer of [shape, middle, ...handles]) box ? layer.addTo(map) : layer.remove();
    size.textContent = box ? inWords(box) : "";
    if (!box) return;
    const [west, south, east, north] = box;
    shape.setBounds([[south, west], [north, east]]);
    corners(box).forEach((point, index) => handles[index].setLatLng(point));
    middle.setLatLng([(south + north) / 2, (west + east) / 2]);
  }

  function showAll() {
    if (!ground.clientWidth) return; // no zoom fits into nothing
    const box = region() ?? bounds;
    if (box) map.fitBounds([[box[1], box[0]], [box[3], box[2]]], { padding: [40, 40] });
  }

  function corners([west, south, east, north]) {
    return [[south, west], [south, east], [north, east], [north, west]];
  }

  function inWords([west, south, east, north]) {
    const radians = Math.PI / 180;
    const high = (north - south) * radians * EARTH_KM;
    const wide = (east - west) * radians * EARTH_KM * Math.cos(((south + north) / 2) * radians);
    const km = (value) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en"));
    return `About ${km(wide)} × ${km(high)} km.`;
  }

  // --- dragging ---

  function handle(className, moved) {
    const marker = L.marker([0, 0], {
      draggable: true, keyboard: false,
      icon: L.divIcon({ className: `region-handle ${className}`, iconSize: [20, 20] }),
    });
    marker.on("drag", () => moved(marker.getLatLng()));
    return marker;
  }

  function moveCorner(corner, point) {
    const box = region();
    if (!box) return;
    const opposite = L.latLng(corners(box)[(corner + 2) % 4]);
    setRegion(between(opposite, point));
  }

  function moveAll(point) {
    const box = region();
    if (!box) return;
    const [west, south, east, north] = box;
    const [across, up] = [(east - west) / 2, (north - south) / 2];
    setRegion([point.lng - across, point.lat - up, point.lng + across, point.lat + up]);
  }

  function between(one, other) {
    return [
      Math.min(one.lng, other.lng), Math.min(one.lat, other.lat),
      Math.max(one.lng, other.lng), Math.max(one.lat, other.lat),
    ];
  }

  // --- drawing a new box ---

  function isDrawing() {
    return drawButton.getAttribute("aria-pressed") === "true";
  }

  function setDrawing(on) {
    drawButton.setAttribute("aria-pressed", String(on));
    drawButton.textContent = on ? "Stop drawing" : "Draw a box";
    map.getContainer().classList.toggle("drawing", on);
    on ? map.dragging.disable() : map.dragging.enable();
    news.textContent = on ? "Drag over the map to draw the box. Escape stops." : "";
  }

  function startDrawing(event) {
    if (!isDrawing()) return;
    const start = event.latlng;
    const move = (moved) => setRegion(between(start, moved.latlng));
    map.on("mousemove", move);
    document.addEventListener("mouseup", () => endDrawing(() => map.off("mousemove", move)), { once: true });
  }

  function startTouch(event) {
    if (!isDrawing() || event.touches.length !== 1) return;
    event.preventDefault();
    const at = (touch) => map.mouseEventToLatLng(touch);
    const start = at(event.touches[0]);
    const move = (moved) => setRegion(between(start, at(moved.touches[0])));
    document.addEventListener("touchmove", move);
    document.addEventListener("touchend", () => endDrawing(() => document.removeEventListener("touchmove", move)), {
      once: true,
    });
  }

  function endDrawing(release) {
    release();
    setDrawing(false);
    if (region()) news.textContent = `The box is set. ${inWords(region())}`;
  }

  function goTo({ lat, lon, name }) {
    if (region() || bounds) return;
    setRegion([lon - AROUND_PLACE, lat - AROUND_PLACE, lon + AROUND_PLACE, lat + AROUND_PLACE]);
    news.textContent = `The map shows ${name}; a box was put around it.`;
  }
};
