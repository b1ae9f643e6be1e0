// Scrolling a page does not stop at a map in it: the wheel zooms with Ctrl or ⌘, or after a click into the map, and
// two fingers move the map by touch. A map that is all there is on the screen takes every gesture, and so does one
// on which somebody draws. Imported before the first map is made.
import { make } from "./dom.js";

const SHOWN = 1500; // ms: how long a hint stays
const KEY = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘" : "Ctrl";
const HINTS = { wheel: `Hold ${KEY} or click the map to zoom`, touch: "Use two fingers to move the map" };

L.Map.addInitHook(
  /** @type {(this: L.Map) => void} */
  function guard() {
    const element = this.getContainer();
    const hint = make("p", "gesture-hint");
    let isEntered = false; // by a click, until the pointer leaves
    let hiding = 0;
    hint.setAttribute("aria-hidden", "true"); // keys work as ever
    element.append(hint);
    element.addEventListener("pointerup", ({ pointerType }) => { isEntered = pointerType !== "touch"; });
    element.addEventListener("pointerleave", () => { isEntered = false; });

    /** @type {(kind: keyof typeof HINTS) => void} */
    const tell = (kind) => {
      hint.textContent = HINTS[kind];
      hint.classList.add("shown");
      clearTimeout(hiding);
      hiding = window.setTimeout(() => hint.classList.remove("shown"), SHOWN);
    };
    // Before Leaflet hears of it; what it does not hear of is the page's.
    element.addEventListener("wheel", (event) => {
      if (event.ctrlKey || event.metaKey || isEntered || isFree(element) || isOther(event.target)) return;
      event.stopPropagation();
      tell("wheel");
    }, { capture: true, passive: true });
    for (const kind of /** @type {const} */ (["touchstart", "touchmove"])) {
      element.addEventListener(kind, (event) => {
        if (event.touches.length > 1 || isFree(element) || isOther(event.target)) return;
        event.stopPropagation();
        if (kind === "touchmove") tell("touch");
      }, { capture: true, passive: true });
    }
    const share = () => element.classList.toggle("shares-touch", !isFree(element));
    new ResizeObserver(share).observe(document.body); // the page may become longer than the screen
    window.addEventListener("resize", share);
  },
);

// Whether nothing around the map could be scrolled, or somebody draws on it.
/** @type {(element: HTMLElement) => boolean} */
function isFree(element) {
  const { fullscreenElement, documentElement } = document;
  const isAlone = window.parent === window && documentElement.scrollHeight <= window.innerHeight;
  return isAlone || Boolean(fullscreenElement?.contains(element)) || element.classList.contains("drawing");
}

// Panels scroll by themselves, and what can be dragged moves with one finger.
/** @type {(target: EventTarget | null) => boolean} */
function isOther(target) {
  return target instanceof Element && target.closest(".leaflet-control, .swipe, .region-handle, .drawing-bar") !== null;
}
