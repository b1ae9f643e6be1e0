// A line across a map: one picture shows to its left, the other to its right. It moves by pointer, touch and keys.
// panes: of both pictures; names: of both maps, beside the line.
import { make } from "./dom.js";

/** @type {(map: L.Map, panes: HTMLElement[], names: string[]) => { show(isShown: boolean): void }} */
export function addSwipe(map, panes, names) {
  /** @type {Record<string, number>} */
  const STEPS = { ArrowLeft: -2, ArrowDown: -2, ArrowRight: 2, ArrowUp: 2, PageDown: -10, PageUp: 10, Home: -100, End: 100 };
  const line = make("div", "swipe");
  let percent = 50;
  build();

  function build() {
    const facts = { role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 100, "aria-orientation": "horizontal" };
    for (const [name, value] of Object.entries(facts)) line.setAttribute(name, String(value));
    line.setAttribute("aria-label", `Line between ${names[0]}, on the left, and ${names[1]}, on the right`);
    line.append(...names.map((name) => make("span", "map-name", name)), make("b", "", "⇔"));
    L.DomEvent.disableClickPropagation(line);
    line.addEventListener("pointerdown", start);
    line.addEventListener("keydown", step);
    map.getContainer().append(line);
    map.on("move zoomend resize viewreset", clip);
    set(percent);
  }

  /** @type {(event: PointerEvent) => void} */
  function start(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    line.focus({ preventScroll: true });
    line.setPointerCapture(event.pointerId);
    line.addEventListener("pointermove", drag);
    line.addEventListener("lostpointercapture", () => line.removeEventListener("pointermove", drag), { once: true });
  }

  /** @type {(event: PointerEvent) => void} */
  function drag(event) {
    const box = map.getContainer().getBoundingClientRect();
    set((100 * (event.clientX - box.left)) / box.width);
  }

  // The map itself moves by the same keys: here they are the line's.
  /** @type {(event: KeyboardEvent) => void} */
  function step(event) {
    if (!(event.key in STEPS)) return;
    event.preventDefault();
    event.stopPropagation();
    set(percent + STEPS[event.key]);
  }

  /** @type {(to: number) => void} */
  function set(to) {
    percent = Math.min(Math.max(to, 0), 100);
    line.style.left = `${percent}%`;
    line.setAttribute("aria-valuenow", String(Math.round(percent)));
    line.setAttribute("aria-valuetext", `${Math.round(percent)} % ${names[0]}`);
    clip();
  }

  // Panes are as large as nothing and move with the map: what they show is cut in their own pixels.
  function clip() {
    const { x: width, y: height } = map.getSize();
    const { x: left, y: top } = map.containerPointToLayerPoint([0, 0]);
    const middle = left + (width * percent) / 100;
    cut(panes[0], left, top, middle, top + height);
    cut(panes[1], middle, top, left + width, top + height);
  }

  /** @type {(pane: HTMLElement, left: number, top: number, right: number, bottom: number) => void} */
  function cut(pane, left, top, right, bottom) {
    const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
    pane.style.clipPath = line.hidden ? "" : `polygon(${corners.map(([x, y]) => `${x}px ${y}px`).join(", ")})`;
  }

  /** @type {(isShown: boolean) => void} */
  function show(isShown) {
    line.hidden = !isShown;
    clip();
  }

  return { show };
}
