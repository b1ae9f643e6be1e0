// A rectangle on a map and in the number boxes of a form, kept equal (templates/parts/region.html).
// `meaning`: of no rectangle, if it has one.
import { formMap } from "./form_map.js";
import { number } from "./numbers.js";

/** @type {(form: HTMLFormElement, meaning?: string) => L.Map} */
export function regionPicker(form, meaning) {
  const boxes = ["west", "south", "east", "north"].map(
    (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name)),
  );
  const { map, bounds, ground, news } = formMap({ found: goTo, shown: showAll });
  const size = /** @type {HTMLElement} */ (document.getElementById("region-size"));
  const drawButton = /** @type {HTMLButtonElement} */ (document.getElementById("draw"));
  const viewButton = /** @type {HTMLButtonElement} */ (document.getElementById("use-view"));
  const undoButton = /** @type {HTMLButtonElement} */ (document.getElementById("undo-box"));
  const clearButton = document.getElementById("clear-region");

  const EARTH_KM = 6371;
  /** @type {Box} */
  const WORLD = [-180, -85, 180, 85];
  const [lowWest, lowSouth, highEast, highNorth] = bounds ?? WORLD;
  const KEEP_DIGITS = bounds ? 6 : 4;
  const SOON = 400; // milliseconds after a digit: whoever types on is not interrupted
  const STEP = 10; // pixels that an arrow key moves a handle; with Shift one
  const VIEW_INSET = -0.1; // of the view's sides: the box of a view is seen whole, with its handles
  /** @type {Record<string, L.PointTuple>} */
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const CORNERS = ["South-west", "South-east", "North-east", "North-west"];
  let settled = spelled(); // the numbers as the last act left them
  /** @type {string[]} */
  const earlier = []; // numbers to go back to, the latest last
  let timer = 0; // until typed numbers are shown

  const shape = L.rectangle([[0, 0], [0, 0]], { className: "region-shape", interactive: false });
  const handles = CORNERS.map((name, corner) => handle("", `${name} corner`, (point) => moveCorner(corner, point)));
  const middle = handle("middle", "Middle of the box", moveAll);

  map.on("mousedown", startDrawing);
  drawButton.addEventListener("click", () => setDrawing(!isDrawing()));
  viewButton.addEventListener("click", useView);
  undoButton.addEventListener("click", undo);
  clearButton?.addEventListener("click", clear);
  document.addEventListener("keydown", (event) => event.key === "Escape" && setDrawing(false));
  map.getContainer().addEventListener("touchstart", startTouch, { passive: false });
  for (const box of boxes) {
    box.addEventListener("input", typed);
    box.addEventListener("change", () => settle(showAll));
    box.addEventListener("paste", pasted);
  }
  fromBoxes();
  showAll();
  return map;

  // --- the region: the number boxes hold it, the map shows it ---

  /** @type {() => Box | null} */
  function region() {
    const [west, south, east, north] = numbers();
    return numbers().every(Number.isFinite) && west < east && south < north ? [west, south, east, north] : null;
  }

  function numbers() {
    return boxes.map((box) => (box.value.trim() === "" ? NaN : Number(box.value)));
  }

  function spelled() {
    return boxes.map((box) => box.value).join(",");
  }

  /** @type {(values: string[]) => void} */
  function fill(values) {
    boxes.forEach((box, index) => {
      box.value = values[index];
    });
    form.dispatchEvent(new Event("region"));
    fromBoxes();
  }

  /** @type {(box: Box) => void} */
  function setRegion(box) {
    const [west, south, east, north] = inThisWorld(box);
    const across = (/** @type {number} */ value) => Math.min(Math.max(rounded(value), lowWest), highEast);
    const up = (/** @type {number} */ value) => Math.min(Math.max(rounded(value), lowSouth), highNorth);
    fill([across(west), up(south), across(east), up(north)].map(String));
  }

  // The map repeats the world to both sides: a box of a copy is one of the world.
  /** @type {(box: Box) => Box} */
  function inThisWorld([west, south, east, north]) {
    const away = 360 * Math.round((west + east) / 2 / 360);
    return [west - away, south, east - away, north];
  }

  // The outer rectangle's own edges stay exact.
  /** @type {(value: number) => number} */
  function rounded(value) {
    return bounds?.includes(value) ? value : Number(value.toFixed(KEEP_DIGITS));
  }

  function clear() {
    fill(["", "", "", ""]);
    settle(showAll);
    news.textContent = ["The box is cleared.", meaning].filter(Boolean).join(" ");
  }

  function fromBoxes() {
    const box = region();
    for (const layer of [shape, middle, ...handles]) box ? layer.addTo(map) : layer.remove();
    size.textContent = box ? inWords(box) : whatIsWrong();
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

  function whatIsWrong() {
    const [west, south, east, north] = numbers();
    if (west >= east) return "West must be less than east: a box cannot cross the 180° meridian.";
    return south >= north ? "South must be less than north." : "";
  }

  function typed() {
    fromBoxes();
    clearTimeout(timer);
    timer = window.setTimeout(showWhatIsTyped, SOON);
  }

  function showWhatIsTyped() {
    const box = region();
    if (box && !isSeen(box)) showAll();
  }

  // Whole, and not as a speck.
  /** @type {(box: Box) => boolean} */
  function isSeen([west, south, east, north]) {
    const edges = L.latLngBounds([[south, west], [north, east]]);
    return map.getBounds().contains(edges) && map.getBoundsZoom(edges) < map.getZoom() + 3;
  }

  // Four numbers at once, as they are copied from elsewhere.
  /** @type {(event: ClipboardEvent) => void} */
  function pasted(event) {
    const values = event.clipboardData?.getData("text").trim().split(/[\s,;]+/) ?? [];
    if (values.length !== 4 || !values.every((value) => value && Number.isFinite(Number(value)))) return;
    event.preventDefault();
    fill(values);
    settle(showAll);
  }

  // --- one step back ---

  // After each act; numbers that are no box yet are none to come back to.
  /** @type {(show?: () => void) => void} */
  function settle(show) {
    clearTimeout(timer);
    const now = spelled();
    const isEmpty = boxes.every((box) => box.value === "");
    if (now !== settled && (region() || isEmpty)) {
      earlier.push(settled);
      settled = now;
      undoButton.disabled = false;
    }
    show?.();
  }

  function undo() {
    settle();
    settled = earlier.pop() ?? settled;
    fill(settled.split(","));
    showAll();
    if (!earlier.length) drawButton.focus(); // the button that has it can no longer be pressed
    undoButton.disabled = !earlier.length;
    news.textContent = ["The box is as it was.", size.textContent].filter(Boolean).join(" ");
  }

  function useView() {
    const view = map.getBounds().pad(VIEW_INSET);
    setRegion([view.getWest(), view.getSouth(), view.getEast(), view.getNorth()]);
    settle();
    news.textContent = `The box is set to the view. ${size.textContent}`;
  }

  /** @type {(box: Box) => L.LatLngTuple[]} */
  function corners([west, south, east, north]) {
    return [[south, west], [south, east], [north, east], [north, west]];
  }

  /** @type {(box: Box) => string} */
  function inWords([west, south, east, north]) {
    const radians = Math.PI / 180;
    const high = (north - south) * radians * EARTH_KM;
    const wide = (east - west) * radians * EARTH_KM * Math.cos(((south + north) / 2) * radians);
    const km = (/** @type {number} */ value) => number(value, value < 10 ? 1 : 0);
    return `About ${km(wide)} × ${km(high)} km.`;
  }

  // --- dragging ---

  /** @type {(className: string, name: string, moved: (point: L.LatLng) => void) => L.Marker} */
  function handle(className, name, moved) {
    const marker = L.marker([0, 0], {
      draggable: true,
      icon: L.divIcon({ className: `region-handle ${className}`, iconSize: [24, 24] }),
    });
    marker.on("drag", () => moved(marker.getLatLng()));
    marker.on("dragend", () => settle());
    marker.on("add", () => {
      const sign = /** @type {HTMLElement} */ (marker.getElement());
      sign.setAttribute("aria-label", `${name}: arrow keys move it`);
      sign.addEventListener("keydown", (event) => pressed(event, marker, moved));
      sign.addEventListener("blur", () => settle());
    });
    return marker;
  }

  /** @type {(event: KeyboardEvent, marker: L.Marker, moved: (point: L.LatLng) => void) => void} */
  function pressed(event, marker, moved) {
    const way = ARROWS[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation(); // the map stays where it is
    const by = L.point(way).multiplyBy(event.shiftKey ? 1 : STEP);
    moved(map.containerPointToLatLng(map.latLngToContainerPoint(marker.getLatLng()).add(by)));
  }

  /** @type {(corner: number, point: L.LatLng) => void} */
  function moveCorner(corner, point) {
    const box = region();
    if (!box) return;
    const opposite = L.latLng(corners(box)[(corner + 2) % 4]);
    setRegion(between(opposite, point));
  }

  /** @type {(point: L.LatLng) => void} */
  function moveAll(point) {
    const box = region();
    if (!box) return;
    const [west, south, east, north] = box;
    const [across, up] = [(east - west) / 2, (north - south) / 2];
    // At the edge it stops as it is: cut off, it would be a smaller box.
    const lng = Math.min(Math.max(point.lng, lowWest + across), highEast - across);
    const lat = Math.min(Math.max(point.lat, lowSouth + up), highNorth - up);
    setRegion([lng - across, lat - up, lng + across, lat + up]);
  }

  /** @type {(one: L.LatLng, other: L.LatLng) => Box} */
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

  /** @type {(on: boolean) => void} */
  function setDrawing(on) {
    drawButton.setAttribute("aria-pressed", String(on));
    drawButton.textContent = on ? "Stop drawing" : "Draw a box";
    map.getContainer().classList.toggle("drawing", on);
    on ? map.dragging.disable() : map.dragging.enable();
    news.textContent = on ? "Drag over the map to draw the box. Escape stops." : "";
  }

  /** @type {(event: L.LeafletMouseEvent) => void} */
  function startDrawing(event) {
    if (!isDrawing()) return;
    const start = event.latlng;
    const move = (/** @type {L.LeafletMouseEvent} */ moved) => setRegion(between(start, moved.latlng));
    map.on("mousemove", move);
    document.addEventListener("mouseup", () => endDrawing(() => map.off("mousemove", move)), { once: true });
  }

  /** @type {(event: TouchEvent) => void} */
  function startTouch(event) {
    if (!isDrawing() || event.touches.length !== 1) return;
    event.preventDefault();
    const at = (/** @type {Touch} */ touch) => map.mouseEventToLatLng(new MouseEvent("touch", touch));
    const start = at(event.touches[0]);
    const move = (/** @type {TouchEvent} */ moved) => setRegion(between(start, at(moved.touches[0])));
    document.addEventListener("touchmove", move);
    document.addEventListener("touchend", () => endDrawing(() => document.removeEventListener("touchmove", move)), {
      once: true,
    });
  }

  /** @type {(release: () => void) => void} */
  function endDrawing(release) {
    release();
    setDrawing(false);
    settle();
    const box = region();
    if (box) news.textContent = `The box is set. ${inWords(box)}`;
  }

  // A city proposes its own extent, whatever was there before; that is one step back.
  /** @type {(place: FoundPlace) => string} */
  function goTo({ name, extent }) {
    if (bounds || !extent) return "";
    const replaced = region() !== null;
    setRegion(extent);
    settle();
    const further = replaced ? "Undo brings the last box back." : "Change it as you like.";
    return `The map shows ${name}; a box was put around it. ${size.textContent} ${further}`;
  }
}
