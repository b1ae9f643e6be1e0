// What a released map shows: heat, the squares as released, or how sure it is. Puts the parts together, each a
// script of its own that stands before this one; folium's inline script calls it with the map and what to draw.
/** @type {Hazemap["heat"]} */
window.hazemap.heat = (map, content) => {
  "use strict";

  const { region, rate, palettes } = content;
  const { pixelAt, side, smoothed } = globalThis.hazemapDensity(content);
  const dark = window.matchMedia("screen and (prefers-color-scheme: dark)");
  /** @type {[value: string, words: string][]} */
  const LAYERS = [["heat", "Heat"], ["cells", "Squares as released"], ["sure", "How sure"]];
  const view = globalThis.hazemapMapView(content, { layer: LAYERS.map(([value]) => value) });
  const picture = window.hazemap.heatPicture(map, region, side, "heat");
  const legend = window.hazemap.heatLegend(map, rate);
  const readout = window.hazemap.readout(map, (point) => {
    const pixel = pixelAt(point);
    if (pixel === null || !density) return null;
    const lines = window.hazemap.densityLines(density, pixel, window.hazemap.whereabouts(map, point));
    return [...areas.linesAt(point), ...lines];
  });
  /** @type {SmoothDensity | null} */
  let density = null;

  window.hazemap.layersPanel(map, view, content, LAYERS);
  const areas = window.hazemap.sums(map, window.hazemap.peopleIn(content), []);
  Object.assign(window.hazemap.linked, { view, areas });
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
    const colours = globalThis.hazemapColours.ramp(palettes[chosen.palette], dark.matches);
    map.getContainer().dataset.shows = chosen.layer;
    if (!density) return;
    picture.draw(density, chosen, colours);
    legend.show(chosen, density, colours);
    readout.refresh();
  }
};
