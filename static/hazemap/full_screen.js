// A button that fills the screen with the map and its legend, where the page that holds them allows it.
import { addControl, button, make } from "./dom.js";

/** @type {(map: L.Map) => void} */
export function fullScreen(map) {
  if (!document.fullscreenEnabled) return;
  const SVG = "http://www.w3.org/2000/svg";
  const frame = map.getContainer().closest(".map-frame") ?? document.documentElement;
  const bar = make("div", "leaflet-bar");
  const toggle = button("", change);
  toggle.setAttribute("aria-label", "Full screen");
  toggle.title = "Full screen";
  toggle.setAttribute("aria-pressed", "false");
  toggle.className = "full-screen";
  toggle.append(corners());
  bar.append(toggle);
  addControl(map, bar, "topright");
  document.addEventListener("fullscreenchange", () => {
    toggle.setAttribute("aria-pressed", String(document.fullscreenElement === frame));
    map.invalidateSize();
  });

  function corners() {
    const picture = document.createElementNS(SVG, "svg");
    const path = document.createElementNS(SVG, "path");
    picture.setAttribute("viewBox", "0 0 16 16");
    picture.setAttribute("aria-hidden", "true");
    path.setAttribute("d", "M1 6V1h5M10 1h5v5M15 10v5h-5M6 15H1v-5");
    picture.append(path);
    return picture;
  }

  // A browser may refuse; then nothing changes.
  async function change() {
    try {
      await (document.fullscreenElement ? document.exitFullscreen() : frame.requestFullscreen());
    } catch {
      bar.hidden = true;
    }
  }
}
