// The legend of the heat, under the map; the squares as released have their own.
import { colourStrip, make } from "./dom.js";
import { BANDS, colour, shareOfBand } from "./heat_colours.js";
import { length, rounded } from "./numbers.js";

/** @type {(map: L.Map, rate: number) => { show(chosen: Chosen, density: SmoothDensity, colours: Colour[]): void }} */
export function heatLegend(map, rate) {
  const legend = make("aside", "legend heat-legend");
  legend.setAttribute("aria-label", "Legend of the heat");
  map.getContainer().closest(".map-ground")?.after(legend);

  /** @type {(chosen: Chosen, density: SmoothDensity, colours: Colour[]) => void} */
  function show({ layer, scale }, density, colours) {
    const released = /** @type {HTMLElement | null} */ (document.querySelector(".legend:not(.heat-legend)"));
    if (released) released.hidden = layer !== "cells";
    legend.hidden = layer === "cells";
    if (legend.hidden) return;
    const isSure = layer === "sure";
    legend.replaceChildren(
      make("h2", "legend-title", isSure ? "How sure the map is" : "People per km²"),
      isSure ? bands(colours) : bar(scale, density.range, colours),
      make("p", "legend-note", `Smoothed over ${length(density.width)}. Where nothing is drawn, the noise hides `
        + `whether anyone is there. At most ${Math.round(100 * rate)} % of the area drawn is expected to be empty.`),
    );
  }

  /** @type {(scale: Chosen["scale"], range: SmoothDensity["range"], colours: Colour[]) => HTMLElement} */
  function bar(scale, range, colours) {
    if (!range) return make("p", "", "No place can be told from an empty one.");
    const [low, high] = scale === "log" ? range : [0, range[1]];
    const middle = scale === "log" ? Math.sqrt(low * high) : high / 2;
    const labels = make("div");
    labels.append(...[low, middle, high].map((value) => make("span", "", rounded(value))));
    const box = make("div", "heat-bar");
    box.append(colourStrip(colours), labels);
    return box;
  }

  /** @type {(colours: Colour[]) => HTMLElement} */
  function bands(colours) {
    const list = make("ul", "legend-classes");
    list.append(...BANDS.map(([, label], index) => {
      const row = make("li");
      row.append(colourStrip([colour(colours, shareOfBand(index))], "swatch"), label);
      return row;
    }));
    return list;
  }

  return { show };
}
