// Keeps what a map shows in the fragment of an address: of its own, or of the page of ours that frames it
// (static/hazemap/share.js). A page of another website that frames it is told nothing.
import { make } from "./dom.js";
import { isView, read, write } from "./fragment.js";

/** @type {{ view?: View, areas?: AreasOfReader }} */
export const linked = {}; // of a map that has them

/** @type {(map: L.Map) => void} */
export function permalink(map) {
  const { view, areas } = linked;
  const QUIET = 250; // milliseconds without a change, after which the address follows
  /** @type {Record<string, string | number>} */
  const usual = { ...view?.chosen() };
  const page = ourPage();
  let touched = false; // by the reader: nothing else changes an address
  let waiting = 0;

  map.on("moveend areaschange", follow);
  if (view) view.onChange(follow);
  for (const kind of ["pointerdown", "keydown", "wheel"]) {
    document.addEventListener(kind, () => { touched = true; }, { capture: true, passive: true });
  }
  window.addEventListener("hashchange", () => show(window.location.hash.slice(1)));
  if (page) talk();
  show(window.location.hash.slice(1));

  // --- reading ---

  // All that a fragment names, or nothing of it.
  /** @type {(text: string) => void} */
  function show(text) {
    if (!isView(text)) return;
    try {
      const wanted = read(text);
      if (!offers(wanted)) throw new Error("it is of another map");
      if (areas) areas.replace(wanted.areas);
      if (view) view.set({ ...usual, ...wanted.chosen });
      moveTo(wanted);
    } catch (error) {
      notice(`This link cannot be shown as it was meant: ${words(error)}. The map stays as it is.`);
    }
  }

  /** @type {(wanted: { lat: number, lon: number, zoom: number }) => void} */
  function moveTo({ lat, lon, zoom }) {
    const possible = Math.min(Math.max(zoom, map.getMinZoom()), map.getMaxZoom());
    map.setView([lat, lon], possible, { animate: false });
    tell();
    // While one zoom is still going on, the map takes no other.
    if (map.getZoom() !== possible) map.once("zoomend", () => moveTo({ lat, lon, zoom: possible }));
  }

  /** @type {(error: unknown) => string} */
  function words(error) {
    return error instanceof Error ? error.message.replace(/\.$/, "") : String(error);
  }

  /** @type {(wanted: LinkedView) => boolean} */
  function offers({ chosen, areas: wanted }) {
    const isOffered = view ? view.allows(chosen) : !Object.keys(chosen).length;
    return isOffered && (areas !== undefined || !wanted.length);
  }

  /** @type {(words: string) => void} */
  function notice(words) {
    map.getContainer().querySelector(".map-notice")?.remove();
    const box = make("p", "map-notice", words);
    box.setAttribute("role", "alert");
    map.getContainer().append(box);
    map.once("movestart", () => box.remove());
  }

  // --- writing ---

  function follow() {
    clearTimeout(waiting);
    if (touched) waiting = window.setTimeout(tell, QUIET);
  }

  function tell() {
    const { lat, lng } = map.getCenter().wrap();
    const now = Object.entries(view ? view.chosen() : {});
    const chosen = Object.fromEntries(now.filter(([name, value]) => value !== usual[name]));
    const state = { lat, lon: lng, zoom: map.getZoom(), chosen, areas: areas ? areas.all() : [] };
    const whole = write(state);
    const fragment = whole ?? write({ ...state, areas: [] });
    if (page) page.postMessage({ hazemap: "view", fragment, whole: whole !== null }, window.location.origin);
    else if (window.parent === window) window.history.replaceState(null, "", `#${fragment}`);
  }

  // --- the page around the map ---

  function talk() {
    window.addEventListener("message", ({ source, origin, data }) => {
      if (source !== page || origin !== window.location.origin || data?.hazemap !== "show") return;
      show(String(data.fragment));
    });
    page?.postMessage({ hazemap: "ready" }, window.location.origin);
  }

  // The window of a page of our own origin around this one; null where there is none.
  /** @type {() => Window | null} */
  function ourPage() {
    try {
      const isOurs = window.parent !== window && window.parent.location.origin === window.location.origin;
      return isOurs ? window.parent : null;
    } catch {
      return null; // of another website: it cannot be looked at
    }
  }
}
