// Two released maps over the ground that both cover: swiped, side by side, or what changed between them. Puts
// the parts together, each a script of its own; folium's inline script calls it with a map and what to draw.
/** @type {Hazemap["compare"]} */
window.hazemap.compare = (map, content) => {
  "use strict";

  const { region, rate, palettes, names, change } = content;
  const lattices = content.maps.map((heat) => globalThis.hazemapDensity(heat, content));
  const { pixelAt, side } = lattices[0];
  const dark = window.matchMedia("screen and (prefers-color-scheme: dark)");
  const ground = /** @type {HTMLElement} */ (map.getContainer().closest(".map-ground"));
  const view = globalThis.hazemapMapView(content, { shows: ["swipe", "beside", "difference"] });
  const { beside, follow } = window.hazemap.mapBeside(map, content);
  const pictures = ["one", "other", "change"].map((name) => window.hazemap.heatPicture(map, region, side, name));
  pictures.push(window.hazemap.heatPicture(beside, region, side, "other"));
  const swipe = window.hazemap.swipe(map, pictures.slice(0, 2).map(({ pane }) => pane), names);
  const legends = {
    heat: window.hazemap.heatLegend(map, rate), change: window.hazemap.changeLegend(map, names, rate, change),
  };
  const readouts = [map, beside].map((shown) => window.hazemap.readout(shown, (point) => linesAt(shown, point)));
  let densities = smoothed(); // of one, of the other, and their difference

  window.hazemap.layersPanel(map, view, content, []);
  const areas = window.hazemap.sums(map, window.hazemap.changeIn(content), [beside]);
  Object.assign(window.hazemap.linked, { view, areas });
  window.hazemap.compareViews(view);
  view.onChange((changed) => {
    if (changed.includes("width")) densities = smoothed();
    draw();
  });
  dark.addEventListener("change", draw);
  draw();

  /** @type {() => [SmoothDensity, SmoothDensity, ChangedDensity]} */
  function smoothed() {
    const [one, other] = lattices.map((lattice) => lattice.smoothed(view.chosen().width));
    const range = joined(one.range, other.range);
    const difference = globalThis.hazemapDifference.density(one, other, side * side, rate);
    return [{ ...one, range }, { ...other, range }, difference];
  }

  // One scale for both maps.
  /** @type {(one: SmoothDensity["range"], other: SmoothDensity["range"]) => SmoothDensity["range"]} */
  function joined(one, other) {
    return one && other ? [Math.min(one[0], other[0]), Math.max(one[1], other[1])] : one ?? other;
  }

  function draw() {
    const chosen = view.chosen();
    const colours = globalThis.hazemapColours.ramp(palettes[chosen.palette], dark.matches);
    const [one, other, difference] = densities;
    const isDifference = chosen.shows === "difference";
    ground.dataset.shows = chosen.shows;
    follow(chosen.shows === "beside");
    swipe.show(chosen.shows === "swipe");
    pictures[0].draw(one, chosen, colours);
    pictures[1].draw(other, chosen, colours);
    pictures[3].draw(other, chosen, colours);
    pictures[2].paint(chosen.opacity, (pixel) => colourOf(difference, pixel));
    legends.heat.show({ ...chosen, layer: isDifference ? "cells" : "heat" }, one, colours);
    isDifference ? legends.change.show(difference, dark.matches) : legends.change.hide();
    readouts.forEach((readout) => readout.refresh());
  }

  /** @type {(difference: ChangedDensity, pixel: number) => number[] | null} */
  function colourOf(difference, pixel) {
    const colour = globalThis.hazemapChange.colour(change, dark.matches, difference.sureness(pixel), difference.least);
    return colour && [...colour, 255];
  }

  /** @type {(shown: L.Map, point: L.LatLng) => HTMLElement[] | null} */
  function linesAt(shown, point) {
    const pixel = pixelAt(point);
    if (pixel === null) return null;
    const lines = window.hazemap.changeLines(densities, names, pixel, window.hazemap.whereabouts(shown, point));
    return [...areas.linesAt(point), ...lines];
  }
};
