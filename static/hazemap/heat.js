// What a released map shows: heat, the squares as released, or how sure it is. Puts the parts together, each a
// module of its own.
import { whereaboutsOn } from "./basemap.js";
import { densityOf } from "./density.js";
import { ramp } from "./heat_colours.js";
import { heatLegend } from "./heat_legend.js";
import { heatPicture } from "./heat_picture.js";
import { layersPanel } from "./layers_panel.js";
import { linked } from "./permalink.js";
import { addReadout, densityLines } from "./readout.js";
import { areaSums, peopleIn } from "./sums.js";
import { makeMapView } from "./view.js";

/** @type {(map: L.Map, content: HeatContent) => void} */
export function heat(map, content) {
  const { region, rate, palettes } = content;
  const { pixelAt, side, smoothed } = densityOf(content);
  const dark = window.matchMedia("screen and (prefers-color-scheme: dark)");
  /** @type {[value: string, words: string][]} */
  const LAYERS = [["heat", "Heat"], ["cells", "Squares as released"], ["sure", "How sure"]];
  const view = makeMapView(content, { layer: LAYERS.map(([value]) => value) });
  const picture = heatPicture(map, region, side, "heat");
  const legend = heatLegend(map, rate);
  const readout = addReadout(map, (point) => {
    const pixel = pixelAt(point);
    if (pixel === null || !density) return null;
    const lines = densityLines(density, pixel, whereaboutsOn(map, point));
    return [...areas.linesAt(point), ...lines];
  });
  /** @type {SmoothDensity | null} */
  let density = null;

  layersPanel(map, view, content, LAYERS);
  const areas = areaSums(map, peopleIn(content), []);
  Object.assign(linked, { view, areas });
  view.onChange((changed) => {
    if (changed.includes("width") && density) density = smoothed(view.chosen().width);
    draw();
  });
  dark.addEventListener("change", draw);
  draw();
  // The page is painted first: the surface takes longer than all else.
  requestAnimationFrame(() => setTimeout(() => {
    density = smoothed(view.chosen().width);
    draw();
  }));

  function draw() {
    const chosen = view.chosen();
    const colours = ramp(palettes[chosen.palette], dark.matches);
    map.getContainer().dataset.shows = chosen.layer;
    if (!density) return;
    picture.draw(density, chosen, colours);
    legend.show(chosen, density, colours);
    readout.refresh();
  }
}
