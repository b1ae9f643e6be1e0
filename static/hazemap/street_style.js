// How vector tiles of streets look: rules of protomaps-leaflet, in the colours of map.css.
// That one is a classic script, which stands before.

/** @type {(element: HTMLElement) => { ground: object[]; names: object[] }} */
export function streetStyle(element) {
  /** @typedef {{ props: Record<string, any> }} Feature */
  const style = getComputedStyle(element);
  /** @type {(name: string) => string} */
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return { ground: [...areas(), ...lines()], names: names() };

  function areas() {
    const [land, park, wood, built] = ["ground", "park", "wood", "built"].map(colour);
    /** @type {{ dataLayer: string }[]} */
    const rules = protomapsL.paintRules({
      earth: land, water: colour("water"), buildings: colour("building"), glacier: built,
      park_a: park, park_b: park, scrub_a: park, scrub_b: park, zoo: park, wood_a: wood, wood_b: wood,
      hospital: built, industrial: built, school: built, aerodrome: built, pedestrian: built,
      pier: built, beach: built, sand: built, runway: built, major: land, railway: land, boundaries: land,
    });
    return rules.filter(({ dataLayer }) => !["roads", "boundaries"].includes(dataLayer));
  }

  // The narrow ones first, and every edge below every street, so that crossings are open.
  function lines() {
    const [street, edge, path, rail] = ["street", "street-edge", "path", "rail"].map(colour);
    /** @type {[kind: string, colour: string, from: number, widths: number[][]][]} */
    const streets = [
      ["minor_road", street, 12, [[12, 0.4], [14, 1.6], [16, 5], [19, 18]]],
      ["major_road", street, 6, [[7, 0.4], [12, 1.6], [14, 3.2], [16, 8], [19, 26]]],
      ["highway", colour("highway"), 4, [[4, 0.5], [10, 1.6], [14, 4], [16, 9], [19, 28]]],
    ];
    return [
      line("aeroway", edge, 10, [[10, 0.5], [14, 4], [19, 40]]),
      line("path", path, 15, [[15, 0.6], [19, 2.4]]),
      line("other", path, 14, [[14, 0.5], [19, 4]]),
      ...streets.map(([kind, , from, widths]) => line(kind, edge, from, widths, { edge: 1.5, tunnels: false })),
      ...streets.map(([kind, fill, from, widths]) => line(kind, fill, from, widths)),
      line("rail", rail, 11, [[11, 0.5], [15, 1], [19, 2]], { side: false }),
      line("rail", rail, 16, [[16, 0.4], [19, 1.4]], { side: true }),
    ];
  }

  // `widths`: pixels at some zooms; `side`: tracks beside the line alone, or all but those.
  /**
   * @type {(kind: string, color: string, from: number, widths: number[][],
   *   more?: { edge?: number, tunnels?: boolean, side?: boolean }) => object}
   */
  function line(kind, color, from, widths, { edge = 0, tunnels = true, side } = {}) {
    /** @type {(zoom: number) => number} */
    const width = (zoom) => protomapsL.exp(1.6, widths)(zoom) + edge;
    /** @type {(zoom: number, feature: Feature) => boolean} */
    const filter = (_zoom, { props }) =>
      props.kind === kind && (tunnels || !props.is_tunnel) && (side === undefined || Boolean(props.is_side) === side);
    const symbolizer = new protomapsL.LineSymbolizer({ color, width, lineCap: "round", lineJoin: "round" });
    return { dataLayer: "roads", minzoom: from, symbolizer, filter };
  }

  function names() {
    return [
      place("locality", 5, 600, colour("ink")),
      place("neighbourhood", 12, 500, colour("ink-soft")),
      streetNames(13, ["highway", "major_road"]),
      streetNames(15, ["minor_road"]),
      streetNames(17, ["path", "other"]),
    ];
  }

  /** @type {(kind: string, from: number, weight: number, fill: string) => object} */
  function place(kind, from, weight, fill) {
    const symbolizer = new protomapsL.CenteredTextSymbolizer(letters(fill, `${weight} 12.5px system-ui, sans-serif`));
    /** @type {(zoom: number, feature: Feature) => boolean} */
    const filter = (_zoom, { props }) => props.kind === kind;
    /** @type {(one: Feature["props"], other: Feature["props"]) => number} */
    const sort = (one, other) => (one.min_zoom ?? 0) - (other.min_zoom ?? 0); // the most important first
    return { dataLayer: "places", minzoom: from, symbolizer, filter, sort };
  }

  /** @type {(from: number, kinds: string[]) => object} */
  function streetNames(from, kinds) {
    const look = letters(colour("ink-soft"), "500 11px system-ui, sans-serif");
    /** @type {(zoom: number, feature: Feature) => boolean} */
    const filter = (_zoom, { props }) => kinds.includes(props.kind);
    return { dataLayer: "roads", minzoom: from, symbolizer: new protomapsL.LineLabelSymbolizer(look), filter };
  }

  /** @type {(fill: string, font: string) => object} */
  function letters(fill, font) {
    return { labelProps: ["name:en", "name"], fill, font, stroke: colour("name-halo"), width: 2, lineHeight: 1.2 };
  }
}
