// Areas that a reader draws or pastes on a released map, and the people in them (static/hazemap/areas.js).
// Everything is computed here: nothing is asked of a server, and it costs no budget.
// measure: what is told of an area, as `peopleIn` below; also: maps beside this one that show the areas, too.
import { areaDrawing } from "./area_drawing.js";
import { boxRing, holds, read, sum } from "./areas.js";
import { csvText } from "./csv.js";
import { districtFiles } from "./district_files.js";
import { addControl, button, make } from "./dom.js";
import { percent, withError } from "./numbers.js";
import { readoutLine } from "./readout.js";
import { sortableTable } from "./sortable_table.js";

/** @type {(map: L.Map, measure: Measure, also: L.Map[]) => AreasOfReader} */
export function areaSums(map, measure, also) {
  const LEAST = 1e-3; // of an area, or of the map: what both have in common
  const maps = [map, ...also];
  /** @type {(Row & Area & { given: string, file: string, outlines: L.Polygon[] })[]} */
  const found = []; // given: the name without what is added to it; file: that it comes from, or ""
  /** @type {(typeof found)[]} */
  const steps = []; // what there was before each change, for taking it back

  const panel = make("details", "leaflet-bar sums");
  const news = make("p", "told");
  const problem = make("p", "problem");
  const text = make("textarea");
  const table = sortableTable(measure.caption, measure.columns, measure.sortedBy, removeOne);
  const drawing = areaDrawing(map, addRing);
  const files = districtFiles((areas, title) => tried(() => add(areas, title)), refuse);
  const actions = make("p");
  const undoing = button("Undo", undo);
  const csv = button("CSV", download);
  const clearing = button("Remove all", remove);
  build();

  function build() {
    news.setAttribute("aria-live", "polite");
    problem.setAttribute("role", "alert");
    problem.hidden = true;
    const label = make("label", "", "Areas as GeoJSON");
    text.rows = 3;
    text.spellcheck = false;
    label.append(text);
    actions.append(undoing, csv, clearing);
    panel.append(
      make("summary", "", measure.title), ...files, ...drawing.buttons, button("Take this view", addView), label,
      button("Add these areas", addText), problem, news,
    );
    (measure.tablePlace ?? panel).append(table.element, actions);
    for (const shown of maps) shown.createPane("areas").style.zIndex = "450";
    addControl(map, panel, "topleft");
    map.getContainer().addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target !== text) undo();
    });
    show();
  }

  function show() {
    table.element.hidden = csv.hidden = clearing.hidden = !found.length;
    undoing.hidden = !steps.length;
    measure.settle(found);
    table.show(found);
  }

  // --- areas ---

  function addView() {
    const view = map.getBounds();
    const ring = boxRing([[view.getWest(), view.getSouth()], [view.getEast(), view.getNorth()]]);
    if (ring) addRing("Box", ring);
  }

  /** @type {(kind: AreaKind, ring: Corner[]) => void} */
  function addRing(kind, ring) {
    let number = found.length + 1;
    while (found.some(({ given }) => given === `${kind} ${number}`)) number += 1;
    tried(() => add([{ name: `${kind} ${number}`, polygons: [[ring]] }]));
  }

  function addText() {
    if (tried(() => add(read(text.value)))) text.value = "";
    else text.focus();
  }

  // Whether it was done; what is wrong is said.
  /** @type {(work: () => void) => boolean} */
  function tried(work) {
    problem.hidden = true;
    try {
      work();
      return true;
    } catch (error) {
      refuse(error);
      return false;
    }
  }

  /** @type {(error: unknown) => void} */
  function refuse(error) {
    problem.textContent = error instanceof Error ? error.message : String(error);
    problem.hidden = false;
  }

  // title: of a file of districts, of which those that lie elsewhere are left out.
  /** @type {(areas: Area[], title?: string) => void} */
  function add(areas, title = "") {
    const told = areas.map((area) => ({ ...area, ...measure.of(area), given: area.name, file: title }));
    const inside = told.filter(isOnMap);
    const outside = told.find((area) => !isOnMap(area));
    if (outside && !(title && inside.length)) throw new Error(`${title || outside.name} lies outside this map.`);
    if (title && found.some(({ file }) => file === title)) throw new Error(`${title}: added already.`);
    steps.push([...found]);
    for (const area of inside) {
      const rings = area.polygons.map((polygon) => polygon.map((ring) => ring.map(([lon, lat]) => L.latLng(lat, lon))));
      const outlines = maps.map((shown) => L.polygon(rings, {
        className: "area", interactive: false, pane: "areas",
      }).addTo(shown));
      if (area.covered < 1 - LEAST) area.name += area.filled > 1 - LEAST ? " (all of this map)" : " (the part on this map)";
      found.push({ ...area, outlines });
    }
    show();
    news.textContent = areas.length === 1
      ? measure.told(found[found.length - 1])
      : `${title && `${title}: `}${inside.length} areas added${outside ? "; the others lie outside this map" : ""}`;
    panel.scrollTop = news.offsetTop - panel.clientHeight / 2; // what was asked for is in sight
    map.fire("areaschange");
  }

  // A country may hold the whole map and be a thousand times as large.
  /** @type {(area: { covered: number, filled: number }) => boolean} */
  function isOnMap({ covered, filled }) {
    return Math.max(covered, filled) >= LEAST;
  }

  // Other areas in place of all there are. Errors: as `add`, and then nothing is another.
  /** @type {AreasOfReader["replace"]} */
  function replace(areas) {
    const before = found.splice(0);
    try {
      if (areas.length) add(areas);
    } catch (error) {
      found.push(...before);
      throw error;
    }
    for (const { outlines } of before) outlines.forEach((outline) => outline.remove());
    steps.length = 0;
    show();
  }

  function remove() {
    change([], "All areas removed");
    drawing.buttons[0].focus();
  }

  /** @type {(row: Row) => void} */
  function removeOne(row) {
    const place = table.rows().indexOf(row);
    change(found.filter((area) => area !== row), `${row.name} removed`);
    const [next = drawing.buttons[0]] = [...table.element.querySelectorAll("td button")].slice(Math.min(place, found.length - 1));
    /** @type {HTMLElement} */ (next).focus();
  }

  function undo() {
    const before = steps.pop();
    if (!before) return;
    keep(before);
    news.textContent = "Undone";
    if (undoing.hidden) drawing.buttons[0].focus();
  }

  /** @type {(areas: typeof found, words: string) => void} */
  function change(areas, words) {
    steps.push([...found]);
    keep(areas);
    news.textContent = words;
  }

  // Exactly these of the areas that were added once.
  /** @type {(areas: typeof found) => void} */
  function keep(areas) {
    for (const { outlines } of found) outlines.forEach((outline) => outline.remove());
    for (const { outlines } of areas) outlines.forEach((outline, at) => outline.addTo(maps[at]));
    found.splice(0, found.length, ...areas);
    show();
    map.fire("areaschange");
  }

  function download() {
    const lines = csvText(measure.csvHead, table.rows().map(measure.csvRow));
    const file = new Blob([lines], { type: "text/csv" });
    const link = make("a");
    link.href = URL.createObjectURL(file);
    link.download = "areas.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // The smallest area around a place, for the readout: no line, or one.
  /** @type {(point: L.LatLng) => HTMLElement[]} */
  function linesAt(point) {
    const near = found.filter(({ outlines }) => outlines[0].getBounds().contains(point));
    const around = near.filter((area) => holds(measure.region, area, point));
    const area = around.sort((one, other) => measure.size(one) - measure.size(other))[0];
    return area ? [readoutLine(area.name, measure.words(area))] : [];
  }

  return { all: () => found.map(({ given, polygons }) => ({ name: given, polygons })), linesAt, replace };
}

// What a released map tells of an area: its people with their error, and their share of all.
/** @type {(content: HeatContent) => Measure} */
export function peopleIn(content) {
  const WITHIN = 2; // standard errors to either side
  /** @type {(area: Row) => string} */
  const people = ({ value, error }) => withError(value, WITHIN * error);
  /** @type {(area: Row) => string} */
  const words = (area) => `${people(area)} people, ${percent(area.share)}`;

  return {
    title: "People in an area",
    caption: `± holds the truth ${content.isBound ? "at least " : ""}19 times in 20`,
    columns: [
      { name: "name", title: "Area", words: (area) => area.name },
      { name: "value", title: "People", words: (area) => people(area).split(" ± ")[0] },
      { name: "error", title: "±", words: (area) => people(area).split(" ± ")[1] },
      { name: "share", title: "Share", words: (area) => percent(area.share) },
    ],
    sortedBy: ["value", -1],
    region: content.region,
    of: (area) => sum(content, area),
    size: (area) => area.value,
    settle: () => {}, // no area's numbers depend on the others
    told: (area) => `${area.name}: ${words(area)} of all`,
    words,
    csvHead: ["area", "people", "within", "share"],
    csvRow: ({ name, value, error, share }) => [name, value, WITHIN * error, share],
  };
}
