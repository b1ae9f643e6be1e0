// Drawing an area on a map: a box by dragging or by two corners, a polygon by its corners. With mouse, pen, touch,
// and with keys, where arrow keys move the map under its middle. `drawn` gets the kind and the closed ring.
import { boxRing, polygonRing } from "./areas.js";
import { button, make } from "./dom.js";

/** @type {(map: L.Map, drawn: (kind: AreaKind, ring: Corner[]) => void) => { buttons: HTMLButtonElement[] }} */
export function areaDrawing(map, drawn) {
  const NEAR = 8; // pixels: a press that moves less is a click, and a corner so near is the same
  const ZOOM_WAIT = 400; // ms: a double click that ended a polygon is no zoom
  const HINTS = {
    Box: "Drag over the map. By keyboard: the arrow keys move the map, Space sets a corner in its middle.",
    Polygon: "Click the corners. By keyboard: the arrow keys move the map, Space sets a corner in its middle.",
  };
  const STYLE = { interactive: false, pane: "areas" };
  const element = map.getContainer();
  const outline = L.polygon([], { ...STYLE, className: "area" });
  const dots = L.layerGroup();
  const hint = make("p");
  const removeCorner = button("Remove corner", removeLast);
  const done = button("Done", finish);
  const bar = make("div", "drawing-bar leaflet-bar");
  const starts = { Box: start("Box", "Draw a box"), Polygon: start("Polygon", "Draw a polygon") };
  /** @type {AreaKind | null} */
  let kind = null; // of what is drawn now
  /** @type {L.LatLng[]} */
  let corners = [];
  /** @type {L.Point | null} */
  let pressed = null; // where the pointer went down

  hint.setAttribute("aria-live", "polite");
  bar.append(hint, removeCorner, done, button("Stop", stop));
  bar.hidden = true;
  element.append(bar);
  element.addEventListener("pointerdown", press);
  element.addEventListener("pointermove", (event) => kind && event.isPrimary && show(map.mouseEventToLatLng(event)));
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", () => (pressed = null));
  element.addEventListener("keydown", pressKey);
  map.on("move", () => kind && isByKeys() && show(map.getCenter()));

  /** @type {(wanted: AreaKind, words: string) => HTMLButtonElement} */
  function start(wanted, words) {
    const made = button(words, () => (kind === wanted ? stop() : begin(wanted)));
    made.setAttribute("aria-pressed", "false");
    return made;
  }

  /** @type {(wanted: AreaKind) => void} */
  function begin(wanted) {
    stop();
    kind = wanted;
    hint.textContent = HINTS[wanted];
    done.hidden = removeCorner.hidden = wanted === "Box";
    starts[wanted].setAttribute("aria-pressed", "true");
    outline.setLatLngs([]).addTo(map);
    dots.clearLayers().addTo(map);
    map.doubleClickZoom.disable();
    if (wanted === "Box") map.dragging.disable();
    bar.hidden = false;
    element.classList.add("drawing");
    element.focus({ preventScroll: true });
  }

  function stop() {
    if (!kind) return;
    starts[kind].setAttribute("aria-pressed", "false");
    [kind, corners, pressed] = [null, [], null];
    outline.remove();
    dots.remove();
    map.dragging.enable();
    setTimeout(() => kind || map.doubleClickZoom.enable(), ZOOM_WAIT);
    if (bar.contains(document.activeElement)) element.focus({ preventScroll: true });
    bar.hidden = true;
    element.classList.remove("drawing");
  }

  function finish() {
    const points = corners.map(({ lat, lng }) => /** @type {Corner} */ ([lng, lat]));
    const ring = kind === "Box" ? boxRing(points) : polygonRing(points);
    if (!kind || !ring) {
      hint.textContent = kind === "Box" ? "A box has two corners apart." : "A polygon has at least three corners.";
      return;
    }
    const finished = kind;
    stop();
    drawn(finished, ring);
  }

  // --- corners ---

  /** @type {(corner: L.LatLng) => void} */
  function add(corner) {
    const isAgain = corners.length > 0 && isNear(corner, corners[corners.length - 1]);
    const closes = kind === "Polygon" && (isAgain || (corners.length > 2 && isNear(corner, corners[0])));
    if (closes) {
      finish();
      return;
    }
    corners.push(corner);
    dots.addLayer(L.circleMarker(corner, { ...STYLE, className: "area-corner", radius: 4 }));
    hint.textContent = `${corners.length} ${corners.length > 1 ? "corners" : "corner"} set. ${next()}`;
    show(corner);
    if (kind === "Box" && corners.length > 1) finish();
  }

  function next() {
    if (kind === "Box") return "Set the opposite one.";
    return corners.length > 2 ? "Enter or a double click closes." : "";
  }

  function removeLast() {
    if (!corners.pop()) return;
    dots.getLayers().slice(-1).forEach((dot) => dots.removeLayer(dot));
    hint.textContent = `${corners.length} ${corners.length === 1 ? "corner" : "corners"} left.`;
    show(corners[corners.length - 1]);
  }

  // What is drawn so far, with its next corner where the pointer is.
  /** @type {(at: L.LatLng | undefined) => void} */
  function show(at) {
    const shown = at ? [...corners, at] : corners;
    const isBox = kind === "Box" && shown.length > 1;
    const bounds = isBox ? L.latLngBounds(corners[0], shown[shown.length - 1]) : null;
    outline.setLatLngs(bounds
      ? [bounds.getSouthWest(), bounds.getNorthWest(), bounds.getNorthEast(), bounds.getSouthEast()]
      : shown);
  }

  /** @type {(one: L.LatLng, other: L.LatLng) => boolean} */
  function isNear(one, other) {
    return map.latLngToContainerPoint(one).distanceTo(map.latLngToContainerPoint(other)) < NEAR;
  }

  // --- by pointer ---

  /** @type {(event: PointerEvent) => void} */
  function press(event) {
    const isControl = /** @type {Element} */ (event.target).closest(".leaflet-control, .drawing-bar");
    if (!kind || isControl || !event.isPrimary || event.button !== 0) return;
    pressed = map.mouseEventToContainerPoint(event);
    if (kind !== "Box") return; // of a polygon, dragging moves the map
    element.setPointerCapture(event.pointerId);
    if (!corners.length) add(map.mouseEventToLatLng(event));
    else show(map.mouseEventToLatLng(event));
  }

  /** @type {(event: PointerEvent) => void} */
  function release(event) {
    if (!kind || !pressed || !event.isPrimary) return;
    const isClick = map.mouseEventToContainerPoint(event).distanceTo(pressed) < NEAR;
    const corner = map.mouseEventToLatLng(event);
    pressed = null;
    const isFirst = kind === "Box" && isNear(corner, corners[0]); // the other one is set by another click
    if (kind === "Box" ? !isFirst : isClick) add(corner);
  }

  // --- by keyboard ---

  /** @type {(event: KeyboardEvent) => void} */
  function pressKey(event) {
    if (!kind) return;
    if (event.key === "Escape") stop();
    if (event.target !== element) return; // but a button or a text in a control
    const run = { " ": () => add(map.getCenter()), Enter: finish, Backspace: removeLast }[event.key];
    if (!run) return;
    event.preventDefault();
    element.classList.add("by-keys");
    run();
  }

  function isByKeys() {
    return element.classList.contains("by-keys");
  }

  return { buttons: [starts.Box, starts.Polygon] };
}
