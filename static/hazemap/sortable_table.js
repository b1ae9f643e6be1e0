// A table that its heads sort, by pointer and by keyboard. The first column names a row and sorts as text.
// columns: {name, title, words}, the words of a row's cell; sortedBy: a column's name and 1 or -1; remove: what a
// button in each row does, if there is one.
import { button, make } from "./dom.js";

/**
 * @param {string} caption
 * @param {Column[]} columns
 * @param {[name: string, direction: Direction]} sortedBy
 * @param {(row: Row) => void} [remove]
 * @returns {SortableTable}
 */
export function sortableTable(caption, columns, sortedBy, remove) {
  const table = make("table");
  let [key, direction] = sortedBy;
  /** @type {Row[]} */
  let rows = [];

  /** @type {SortableTable["show"]} */
  function show(given) {
    rows = [...given].sort((one, other) => direction * order(one[key], other[key]));
    const [header, body] = [make("thead"), make("tbody")];
    header.append(head());
    body.append(...rows.map(line));
    table.replaceChildren(make("caption", "", caption), header, body);
  }

  /** @type {(one: any, other: any) => number} */
  function order(one, other) {
    return typeof one === "string" ? one.localeCompare(other) : one - other;
  }

  function head() {
    const row = make("tr");
    for (const { name, title } of columns) {
      const cell = make("th");
      cell.scope = "col";
      if (name === key) cell.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      cell.append(button(title, () => sort(name)));
      row.append(cell);
    }
    if (remove) row.append(make("td"));
    return row;
  }

  /** @type {(row: Row) => HTMLElement} */
  function line(row) {
    const made = make("tr");
    const [naming, ...others] = columns;
    const name = make("th", "", naming.words(row));
    name.scope = "row";
    made.append(name, ...others.map(({ words }) => make("td", "", words(row))));
    if (remove) made.append(removal(row, naming.words(row), remove));
    return made;
  }

  /** @type {(row: Row, name: string, run: (row: Row) => void) => HTMLElement} */
  function removal(row, name, run) {
    const cell = make("td");
    const made = button("×", () => run(row));
    made.setAttribute("aria-label", `Remove ${name}`);
    cell.append(made);
    return cell;
  }

  /** @type {(name: string) => void} */
  function sort(name) {
    if (name === key) direction = direction > 0 ? -1 : 1;
    else direction = name === columns[0].name ? 1 : -1;
    key = name;
    show(rows);
    table.querySelectorAll("button")[columns.findIndex((column) => column.name === name)].focus();
  }

  return { element: table, rows: () => rows, show };
}
