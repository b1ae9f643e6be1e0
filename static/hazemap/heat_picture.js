// The heat of a map: one picture over its region, below everything else that is drawn.
// name: of its pane.
import { bandShare, colour, fade, share } from "./heat_colours.js";

/**
 * @param {L.Map} map
 * @param {Box} region
 * @param {number} side
 * @param {string} name
 */
export function heatPicture(map, region, side, name) {
  const BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";
  const [west, south, east, north] = region;
  const pane = map.createPane(name);
  pane.style.zIndex = "200";
  pane.classList.add("pane-through");
  const picture = L.imageOverlay(BLANK, [[south, west], [north, east]], {
    pane: name, className: "heat", interactive: false, alt: "",
  }).addTo(map);

  // density: as `densityOf` smoothed it; colours: of the ramp.
  /** @type {(density: SmoothDensity, chosen: Chosen, colours: Colour[]) => void} */
  function draw(density, { layer, scale, opacity }, colours) {
    const isSure = layer === "sure";
    paint(opacity, (pixel) => {
      if (!density.range || !density.isClear(pixel)) return null;
      const sureness = density.sureness(pixel);
      const part = isSure ? bandShare(sureness) : share(density.value(pixel), density.range, scale);
      return [...colour(colours, part), 255 * (isSure ? 1 : fade(sureness, density.least))];
    });
  }

  // colourAt: [red, green, blue, alpha] of a pixel, or null where nothing is drawn.
  /** @type {(opacity: number, colourAt: (pixel: number) => number[] | null) => void} */
  function paint(opacity, colourAt) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = side;
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(side, side);
    for (let pixel = 0; pixel < side * side; pixel += 1) {
      const found = colourAt(pixel);
      if (found) image.data.set(found, 4 * pixel);
    }
    context.putImageData(image, 0, 0);
    picture.setUrl(canvas.toDataURL());
    picture.setOpacity(opacity);
  }

  return { draw, paint, pane };
}
