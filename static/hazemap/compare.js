// Two released maps over the ground that both cover: swiped, side by side, or what changed between them. Puts
// the parts together, each a module of its own.
import { whereaboutsOn } from "./basemap.js";
import { colour } from "./change_colours.js";
import { changeLegend } from "./change_legend.js";
import { changeIn, changeLines } from "./change_lines.js";
import { compareViews, mapBeside } from "./compare_views.js";
import { densityOf } from "./density.js";
import { density } from "./difference.js";
import { ramp } from "./heat_colours.js";
import { heatLegend } from "./heat_legend.js";
import { heatPicture } from "./heat_picture.js";
import { layersPanel } from "./layers_panel.js";
import { linked } from "./permalink.js";
import { addReadout } from "./readout.js";
import { areaSums } from "./sums.js";
import { addSwipe } from "./swipe.js";
import { makeMapView } from "./view.js";

/** @type {(map: L.Map, content: CompareContent) => void} */
export function compare(map, content) {
  const { region, rate, palettes, names, change } = content;
  const lattices = content.maps.map((heat) => densityOf(heat, content));
  const { pixelAt, side } = lattices[0];
  const dark = window.matchMedia("screen and (prefers-color-scheme: dark)");
  const ground = /** @type {HTMLElement} */ (map.getContainer().closest(".map-ground"));
  const view = makeMapView(content, { shows: ["swipe", "beside", "difference"] });
  const { beside, follow } = mapBeside(map, content);
  const pictures = ["one", "other", "change"].map((name) => heatPicture(map, region, side, name));
  pictures.push(heatPicture(beside, region, side, "other"));
  const swipe = addSwipe(map, pictures.slice(0, 2).map(({ pane }) => pane), names);
  const legends = {
    heat: heatLegend(map, rate), change: changeLegend(map, names, rate, change),
  };
  const readouts = [map, beside].map((shown) => addReadout(shown, (point) => linesAt(shown, point)));
  let densities = smoothed(); // of one, of the other, and their difference

  layersPanel(map, view, content, []);
  const areas = areaSums(map, changeIn(content), [beside]);
  Object.assign(linked, { view, areas });
  compareViews(view);
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
    const difference = density(one, other, side * side, rate);
    return [{ ...one, range }, { ...other, range }, difference];
  }

  // One scale for both maps.
  /** @type {(one: SmoothDensity["range"], other: SmoothDensity["range"]) => SmoothDensity["range"]} */
  function joined(one, other) {
    return one && other ? [Math.min(one[0], other[0]), Math.max(one[1], other[1])] : one ?? other;
  }

  function draw() {
    const chosen = view.chosen();
    const colours = ramp(palettes[chosen.palette], dark.matches);
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
    const shade = colour(change, dark.matches, difference.sureness(pixel), difference.least);
    return shade && [...shade, 255];
  }

  /** @type {(shown: L.Map, point: L.LatLng) => HTMLElement[] | null} */
  function linesAt(shown, point) {
    const pixel = pixelAt(point);
    if (pixel === null) return null;
    const lines = changeLines(densities, names, pixel, whereaboutsOn(shown, point));
    return [...areas.linesAt(point), ...lines];
  }
}
