// CSV of a table. Pure: tests run it in node.
/** @type {(header: string[], rows: (string | number)[][]) => string} */
export function csvText(header, rows) {
  // Text is quoted on one line, and no program takes it for a formula.
  /** @type {(value: string | number) => string} */
  function field(value) {
    if (typeof value === "number") return String(value);
    const plain = value.replace(/\s+/g, " ").trim().replace(/^[=+\-@]/, "'$&");
    return `"${plain.replaceAll('"', '""')}"`;
  }

  return [header.join(","), ...rows.map((row) => row.map(field).join(",")), ""].join("\r\n");
}
