// Draws a map from the data in its page, by functions of ours alone: data names one, and is never run.
import "./motion.js";
import "./gestures.js";
import { fullScreen } from "./full_screen.js";

// functions: by the name that data has for each; what data names otherwise is not drawn.
/** @type {(functions: Record<string, (map: L.Map, content: any) => void>) => void} */
export function drawMap(functions) {
  const data = document.getElementById("released-map")?.textContent ?? "";
  const { centre, drawings } = /** @type {MapData} */ (JSON.parse(data));
  const map = L.map("map_released", {
    attributionControl: false, center: centre, zoom: 10, zoomControl: false, zoomSnap: 0.25,
  });
  L.control.zoom({ position: "topright" }).addTo(map);
  L.control.scale({ imperial: false }).addTo(map);
  fullScreen(map);
  for (const { function: name, content } of drawings) {
    if (Object.hasOwn(functions, name)) functions[name](map, content);
  }
}
