// What two maps say of a place and of areas: both values, their difference, and whether the change is clear.
import { WORDS } from "./change_colours.js";
import { areaOf, changes } from "./difference.js";
import { make } from "./dom.js";
import { withError } from "./numbers.js";
import { densityWords, readoutLine } from "./readout.js";

/**
 * @param {[SmoothDensity, SmoothDensity, ChangedDensity]} densities
 * @param {string[]} names
 * @param {number} pixel
 * @param {string} where
 */
export function changeLines(densities, names, pixel, where) {
  const [one, other, difference] = densities;
  const changed = withError(difference.value(pixel), difference.reach * difference.error(pixel));
  const lines = [one, other].map((map, at) => `${names[at]}: ${densityWords(map, pixel)}`);

  return [
    readoutLine(where, `${WORDS[difference.change(pixel)]}: ${changed} people per km²`),
    ...lines.map((words) => make("span", "", words)),
    make("span", "", `± holds ${one.isBound || other.isBound ? "at least " : ""}19 of 20 places shown`),
  ];
}

// The measure of areas (sums.js) for two maps.
/** @type {(content: CompareContent) => Measure} */
export function changeIn(content) {
  const { isBound, maps, names, region, rate } = content;
  const WITHIN = 2; // standard errors to either side
  /** @type {(area: Row) => string} */
  const people = ({ value, error }) => withError(value, WITHIN * error);
  const wordsOf = (/** @type {Change} */ change) => WORDS[change];
  /** @type {(area: AreaChange) => Row & { covered: number, filled: number }} */
  const flat = ({ one, other, ...area }) => ({ ...area, one: one.value, oneSum: one, other: other.value, otherSum: other });

  /** @type {(area: Row) => string} */
  const words = (area) => `${wordsOf(area.change).toLowerCase()}, ${people(area)} people`;

  return {
    title: "People in an area",
    caption: `± holds the truth ${isBound ? "at least " : ""}19 times in 20. At most ${Math.round(100 * rate)} % of the clear changes are expected to be none.`,
    columns: [
      { name: "name", title: "Area", words: (area) => area.name },
      { name: "one", title: names[0], words: (area) => people(area.oneSum) },
      { name: "other", title: names[1], words: (area) => people(area.otherSum) },
      { name: "value", title: "Difference", words: people },
      { name: "change", title: "Change", words: (area) => wordsOf(area.change) },
    ],
    sortedBy: ["value", -1],
    tablePlace: document.getElementById("areas"),
    region,
    of: (area) => flat(areaOf(maps, region, area)),
    size: (area) => Math.max(area.one, area.other),
    settle: (areas) => changes(/** @type {AreaChange[]} */ (areas), rate).forEach((change, at) => { areas[at].change = change; }),
    told: (area) => `${area.name}: ${words(area)}`,
    words,
    csvHead: ["area", ...["one", "other"].flatMap((name) => [name, `${name}_within`]), "difference", "within", "change"],
    csvRow: ({ name, oneSum, otherSum, value, error, change }) => [
      name, ...[oneSum, otherSum].flatMap((sum) => [sum.value, WITHIN * sum.error]), value, WITHIN * error, change,
    ],
  };
}
