// The legend of a difference between two maps, under the map.
import { colour, GROWTH } from "./change_colours.js";
import { colourStrip, make } from "./dom.js";
import { length, number } from "./numbers.js";

/**
 * @param {L.Map} map
 * @param {string[]} names
 * @param {number} rate
 * @param {ChangePalettes} palette
 */
export function changeLegend(map, names, rate, palette) {
  const legend = make("aside", "legend change-legend");
  legend.setAttribute("aria-label", "Legend of the difference");
  legend.hidden = true;
  map.getContainer().closest(".map-ground")?.after(legend);

  /** @type {(difference: ChangedDensity, isDark: boolean) => void} */
  function show(difference, isDark) {
    legend.hidden = false;
    const isClear = Number.isFinite(difference.least);
    legend.replaceChildren(
      make("h2", "legend-title", `${names[1]} compared with ${names[0]}, in standard errors`),
      isClear ? classes(difference.least, isDark) : make("p", "", "No clear change anywhere."),
      make("p", "legend-note", `Smoothed over ${length(difference.width)}. Where nothing is drawn, there is no clear `
        + `change. At most ${Math.round(100 * rate)} % of the area drawn is expected to be unchanged.`),
    );
  }

  /** @type {(least: number, isDark: boolean) => HTMLElement} */
  function classes(least, isDark) {
    const list = make("ul", "legend-classes");
    const row = (/** @type {number} */ sign, /** @type {number} */ at) => {
      const item = make("li");
      const [low, high] = [GROWTH[at] * least, (GROWTH[at + 1] ?? Infinity) * least];
      const shade = /** @type {Colour} */ (colour(palette, isDark, sign * low, least));
      const words = Number.isFinite(high) ? `${number(low, 1)} – ${number(high, 1)}` : `over ${number(low, 1)}`;
      item.append(colourStrip([shade], "swatch"), `${words} ${sign > 0 ? "more" : "fewer"}`);
      return item;
    };
    const steps = GROWTH.map((_, at) => at);
    const neutral = make("li");
    neutral.append(make("span", "swatch"), "no clear change");
    list.append(...steps.toReversed().map((at) => row(-1, at)), neutral, ...steps.map((at) => row(1, at)));
    return list;
  }

  return { hide: () => { legend.hidden = true; }, show };
}
