// The map of one release: joined with all that it imports, the script of its page and of its file.
import { drawBasemap, fit } from "./basemap.js";
import { heat } from "./heat.js";
import { drawMap } from "./map_drawing.js";
import { centres, point, rings } from "./marks.js";
import { permalink } from "./permalink.js";

drawMap({ basemap: drawBasemap, cells, centres, fit, heat, permalink, point, rings });

// As one picture; the style sheet shows the one for the ground at hand.
/** @type {(map: L.Map, content: CellsContent) => void} */
function cells(map, { png, bounds, isDark }) {
  const className = `cells for-${isDark ? "dark" : "light"}`;
  L.imageOverlay(`data:image/png;base64,${png}`, bounds, { className, interactive: false }).addTo(map);
}
