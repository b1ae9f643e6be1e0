// Elements that the map's scripts make. Text goes in as text: no name is ever read as HTML.

/**
 * @type {<Name extends keyof HTMLElementTagNameMap>(name: Name, className?: string, words?: string) =>
 *   HTMLElementTagNameMap[Name]}
 */
export function make(element, className = "", words = "") {
  const made = document.createElement(element);
  if (className) made.className = className;
  if (words) made.textContent = words;
  return made;
}

/** @type {(words: string, run: () => void) => HTMLButtonElement} */
export function button(words, run) {
  const made = make("button", "", words);
  made.type = "button";
  made.addEventListener("click", run);
  return made;
}

// A row of so many colours as pixels, [red, green, blue] each.
/** @type {(colours: Colour[], className?: string) => HTMLCanvasElement} */
export function colourStrip(colours, className = "") {
  const canvas = make("canvas", className);
  [canvas.width, canvas.height] = [colours.length, 1];
  canvas.setAttribute("aria-hidden", "true");
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(colours.length, 1);
  colours.forEach((colour, index) => image.data.set([...colour, 255], 4 * index));
  context.putImageData(image, 0, 0);
  return canvas;
}

// A control of the map: what is done in it does not move the map.
/** @type {(map: L.Map, element: HTMLElement, position: L.ControlPosition) => void} */
export function addControl(map, element, position) {
  const control = new L.Control({ position });
  control.onAdd = () => {
    L.DomEvent.disableClickPropagation(element);
    L.DomEvent.disableScrollPropagation(element);
    return element;
  };
  control.addTo(map);
}
