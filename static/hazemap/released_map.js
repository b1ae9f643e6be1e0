// Draws a released map from the data in its page, by functions of ours alone: data names one, and is never run.
(() => {
  "use strict";

  const { hazemap } = window;
  const LAYERS = new Set(["basemap", "heat", "centres", "point", "rings", "compare", "fit", "permalink"]);
  const data = document.getElementById("released-map")?.textContent ?? "";
  const { centre, drawings } = /** @type {MapData} */ (JSON.parse(data));
  const map = L.map("map_released", {
    attributionControl: false, center: centre, zoom: 10, zoomControl: false, zoomSnap: 0.25,
  });
  L.control.zoom({ position: "topright" }).addTo(map);
  L.control.scale({ imperial: false }).addTo(map);
  hazemap.fullScreen(map);
  for (const drawing of drawings) draw(drawing);

  /** @type {(drawing: MapDrawing) => void} */
  function draw({ function: name, content }) {
    if (name === "cells") cells(content);
    else if (LAYERS.has(name)) /** @type {any} */ (hazemap)[name](map, content);
  }

  // As one picture; the style sheet shows the one for the ground at hand.
  /** @type {(content: CellsContent) => void} */
  function cells({ png, bounds, isDark }) {
    const className = `cells for-${isDark ? "dark" : "light"}`;
    L.imageOverlay(`data:image/png;base64,${png}`, bounds, { className, interactive: false }).addTo(map);
  }
})();
