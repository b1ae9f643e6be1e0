// Shows what a chosen file has, and which of its columns will be read. Without it, the columns are typed.
/** @typedef {{ columns: string[], guess: Record<string, string>, rows: string[][] }} Preview */

const HEAD_BYTES = 2 ** 18;
const MOST_BYTES = 8 * 2 ** 20; // that the server takes for a preview
const TAIL_BYTES = 2 ** 20;
/** @type {Record<string, string>} */
const FIELDS = { user: "User", time: "Time", lat: "Latitude", lon: "Longitude" };

const form = /** @type {HTMLFormElement} */ (document.getElementById("upload-form"));
const input = /** @type {HTMLInputElement} */ (document.getElementById("file"));
const chosen = /** @type {HTMLInputElement} */ (document.getElementById("columns"));
const panel = /** @type {HTMLElement} */ (document.getElementById("preview"));
const news = /** @type {HTMLElement} */ (document.getElementById("preview-news"));
const choices = /** @type {HTMLElement} */ (document.getElementById("preview-choices"));
const rows = /** @type {HTMLElement} */ (document.getElementById("preview-rows"));
let latest = 0;

input.addEventListener("change", show);
form.addEventListener("reset", () => {
  latest += 1;
  panel.hidden = true;
});

async function show() {
  const turn = (latest += 1);
  const file = input.files?.[0];
  panel.hidden = true;
  chosen.value = "";
  if (!file) return;
  try {
    const response = await fetch(form.dataset.preview ?? "", { method: "POST", body: await partOf(file) });
    const found = await response.json();
    if (turn !== latest) return; // another file was chosen meanwhile
    clear();
    if (response.ok) showColumns(found);
    else say(`${found.error}.`, "bad");
    if (chosenFiles() > 1) tellWhich(file.name);
    panel.hidden = false;
  } catch {
    // Without a preview the file can be sent all the same; the server checks it.
  }
}

function chosenFiles() {
  return input.files?.length ?? 0;
}

/** @type {(name: string) => void} */
function tellWhich(name) {
  const text = `This is ${name}. Its columns are used for all ${chosenFiles()} files.`;
  news.prepend(element("p", text));
}

/** @type {(file: File) => Promise<FormData>} */
async function partOf(file) {
  const body = new FormData();
  body.append("csrfmiddlewaretoken", /** @type {HTMLInputElement} */ (form.elements.namedItem("csrfmiddlewaretoken")).value);
  const isParquet = (await file.slice(0, 4).text()) === "PAR1";
  if (!isParquet) {
    body.append("file", file.slice(0, HEAD_BYTES), file.name);
  } else if (file.size <= MOST_BYTES) {
    body.append("file", file, file.name);
  } else {
    // Its columns stand at the end.
    body.append("file", new Blob([file.slice(0, 4), file.slice(-TAIL_BYTES)]), file.name);
    body.append("partial", "1");
  }
  return body;
}

function clear() {
  for (const part of [news, choices, rows]) part.replaceChildren();
}

/** @type {(found: Preview) => void} */
function showColumns(found) {
  for (const [field, title] of Object.entries(FIELDS)) {
    const pick = document.createElement("div");
    const label = element("label", title);
    const select = document.createElement("select");
    label.htmlFor = select.id = `preview-${field}`;
    select.dataset.field = field;
    select.append(new Option("none", ""), ...found.columns.map((name) => new Option(name, name)));
    select.value = found.guess[field];
    select.addEventListener("change", () => choose(found.columns));
    pick.append(label, select);
    choices.append(pick);
  }
  if (found.rows.length) rows.append(tableOf(found));
  choose(found.columns);
}

/** @type {(columns: string[]) => void} */
function choose(columns) {
  /** @type {string[]} */
  const parts = [];
  /** @type {string[]} */
  const missing = [];
  for (const select of choices.querySelectorAll("select")) {
    const { field = "" } = select.dataset;
    const own = columns.some((name) => name.toLowerCase() === field);
    if (!select.value && field !== "time") missing.push(FIELDS[field].toLowerCase());
    else if (select.value ? select.value.toLowerCase() !== field : own) parts.push(part(field, select.value));
  }
  chosen.value = parts.join(",");
  say(missing.length ? `Choose the column for ${missing.join(", ")}.` : "", "warn");
}

/** @type {(field: string, column: string) => string} */
function part(field, column) {
  const text = `${field}=${column}`;
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @type {(found: Preview) => HTMLTableElement} */
function tableOf(found) {
  const table = document.createElement("table");
  table.append(element("caption", "The first rows"));
  const head = document.createElement("tr");
  for (const name of found.columns) {
    const cell = element("th", name);
    cell.scope = "col";
    head.append(cell);
  }
  table.createTHead().append(head);
  const body = table.createTBody();
  for (const row of found.rows) {
    const line = body.insertRow();
    for (const value of row) line.insertCell().textContent = value;
  }
  return table;
}

/** @type {(text: string, kind: string) => void} */
function say(text, kind) {
  news.replaceChildren();
  if (!text) return;
  const note = element("div", "");
  note.className = `note space ${kind}`;
  note.append(element("p", text));
  news.append(note);
}

/** @template {keyof HTMLElementTagNameMap} Name @param {Name} tag @param {string} text */
function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}
