// The panel in which a reader chooses what a map shows. It sets the view (view.js) and follows it.
// layers: [value, words] of what there is to show; none where that is chosen elsewhere.
import { addControl, make } from "./dom.js";
import { length } from "./numbers.js";

/**
 * @param {L.Map} map
 * @param {View} view
 * @param {Pick<HeatContent, "palettes" | "width">} content
 * @param {[value: string, words: string][]} layers
 */
export function layersPanel(map, view, content, layers) {
  const { palettes } = content;
  /** @type {(() => void)[]} */
  const shown = []; // functions that put what is chosen into the fields

  const box = make("details", "leaflet-bar layers");
  box.append(make("summary", "", "Layers"), ...fields());
  addControl(map, box, "topright");
  view.onChange(() => shown.forEach((show) => show()));

  function fields() {
    return [
      ...(layers.length ? [radios("Show", "layer", layers)] : []),
      radios("Scale", "scale", [["log", "Logarithmic"], ["linear", "Linear"]]),
      radios("Colours", "palette", Object.keys(palettes).map((name) => [name, name])),
      slider("Smoothed over", "width", view.allowed.numbers.width, length),
      slider("Opacity", "opacity", view.allowed.numbers.opacity, (value) => `${Math.round(100 * value)} %`),
    ];
  }

  /** @type {(title: string, name: "layer" | "palette" | "scale", options: [value: string, words: string][]) => HTMLElement} */
  function radios(title, name, options) {
    const set = make("fieldset");
    set.append(make("legend", "", title));
    for (const [value, words] of options) {
      const label = make("label");
      const input = make("input");
      Object.assign(input, { type: "radio", name: `map-${name}`, value });
      input.addEventListener("change", () => view.set({ [name]: value }));
      follow(() => {
        input.checked = view.chosen()[name] === value;
      });
      label.append(input, words);
      set.append(label);
    }
    return set;
  }

  // Sliders move in even proportions.
  /** @type {(title: string, name: "width" | "opacity", range: [low: number, high: number], words: (value: number) => string) => HTMLElement} */
  function slider(title, name, [low, high], words) {
    const label = make("label");
    const input = make("input");
    const told = make("output");
    const proportion = Math.log(high / low);
    let waiting = 0; // for the next frame
    const tell = (/** @type {number} */ value) => {
      told.textContent = words(value);
      input.setAttribute("aria-valuetext", told.textContent);
    };
    Object.assign(input, { type: "range", min: 0, max: 100 });
    input.addEventListener("input", () => {
      const value = low * Math.exp((proportion * Number(input.value)) / 100);
      tell(value);
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => view.set({ [name]: value }));
    });
    follow(() => {
      const value = view.chosen()[name];
      input.value = String(Math.round((100 * Math.log(value / low)) / proportion));
      tell(value);
    });
    label.append(title, input, told);
    return label;
  }

  /** @type {(show: () => void) => void} */
  function follow(show) {
    shown.push(show);
    show();
  }
}
