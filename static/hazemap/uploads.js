// Sends a file with progress, and follows uploads that are being read. Without it the form works by itself.
/** @typedef {{ item: HTMLElement, state: HTMLElement, bar: HTMLProgressElement }} Line */
/** @typedef {{ name: string, label: string, url: string, error?: string }} Sent */

const POLL_WAIT = 1000;

const form = /** @type {HTMLFormElement} */ (document.getElementById("upload-form"));
const input = /** @type {HTMLInputElement} */ (document.getElementById("file"));
const drop = /** @type {HTMLElement} */ (document.getElementById("drop"));
const send = /** @type {HTMLButtonElement} */ (document.getElementById("send"));
const sending = /** @type {HTMLElement} */ (document.getElementById("sending"));
const news = /** @type {HTMLElement} */ (document.getElementById("upload-news"));
let someRefused = false; // then the page stays as it is, so that the reasons can be read

const dropHint = /** @type {HTMLElement} */ (document.getElementById("drop-hint"));
dropHint.hidden = false;
form.addEventListener("submit", submit);
for (const name of /** @type {const} */ (["dragenter", "dragover"])) drop.addEventListener(name, (event) => over(event, true));
for (const name of /** @type {const} */ (["dragleave", "drop"])) drop.addEventListener(name, (event) => over(event, false));
drop.addEventListener("drop", (event) => {
  const files = event.dataTransfer?.files;
  if (!files?.length) return;
  input.files = files;
  input.dispatchEvent(new Event("change"));
});
for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-poll]"))) follow(item, item.dataset.poll ?? "");

/** @type {(event: DragEvent, isOver: boolean) => void} */
function over(event, isOver) {
  event.preventDefault();
  drop.classList.toggle("over", isOver);
}

/** @type {(event: SubmitEvent) => void} */
function submit(event) {
  event.preventDefault();
  const files = [...(input.files ?? [])];
  if (!files.length) {
    say("Choose a file first.", "bad");
    input.focus();
    return;
  }
  const lines = files.map((file) => lineOf(file));
  const request = new XMLHttpRequest(); // fetch tells nothing about the progress of sending
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  request.upload.addEventListener("progress", (moved) => advance(files, lines, moved));
  request.addEventListener("load", () => received(request, lines));
  request.addEventListener("error", () => finished("The connection broke; nothing was stored.", "bad"));
  sending.replaceChildren(...lines.map((line) => line.item));
  sending.hidden = false;
  send.disabled = true;
  say("");
  request.send(new FormData(form));
}

// They are sent one after the other, in their order, as the parts of one form.
/** @type {(files: File[], lines: Line[], moved: ProgressEvent) => void} */
function advance(files, lines, moved) {
  if (!moved.lengthComputable) return;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  let left = Math.max(0, moved.loaded - (moved.total - total));
  for (const [at, { bar, state }] of lines.entries()) {
    const { size } = files[at];
    bar.value = size ? (100 * Math.min(left, size)) / size : 100;
    state.textContent = left >= size ? "sent" : "sending";
    left = Math.max(0, left - size);
  }
}

/** @type {(file: File) => Line} */
function lineOf(file) {
  const item = document.createElement("li");
  const top = element("div", "upload-top");
  const state = element("span", "tag", "sending");
  const bar = document.createElement("progress");
  bar.max = 100;
  bar.value = 0;
  bar.setAttribute("aria-label", `Sending ${file.name}`);
  top.append(element("span", "upload-name", file.name), state);
  item.append(top, bar);
  return { item, state, bar };
}

/** @type {(request: XMLHttpRequest, lines: Line[]) => void} */
function received(request, lines) {
  /** @type {Sent[] | undefined} */
  const files = request.response?.files;
  if (!files) {
    const error = request.response?.error;
    finished(error ? `The upload was refused: ${error}.` : "The upload was refused.", "bad");
    return;
  }
  const taken = files.filter((file) => !file.error);
  files.forEach((file, at) => {
    if (file.error) refuse(lines[at], file.error);
  });
  taken.forEach((file) => follow(addItem(file), file.url));
  if (taken.length) form.reset();
  const news = [taken.length ? `${named(taken)} here and being read.` : ""];
  news.push(taken.length < files.length ? "Some files were refused; each says why." : "");
  finished(news.join(" ").trim(), taken.length < files.length ? "bad" : "", taken.length < files.length);
}

/** @type {(files: Sent[]) => string} */
function named(files) {
  return files.length === 1 ? `${files[0].name} is` : `${files.length} files are`;
}

/** @type {(line: Line, reason: string) => void} */
function refuse({ item, state, bar }, reason) {
  bar.remove();
  state.textContent = "refused";
  state.className = "tag failed";
  item.append(element("p", "note bad", `${reason}.`));
  someRefused = true;
}

/** @type {(text: string, kind: string, keepLines?: boolean) => void} */
function finished(text, kind, keepLines = false) {
  if (keepLines) for (const item of [...sending.children]) item.querySelector("progress") && item.remove();
  sending.hidden = !keepLines;
  send.disabled = false;
  say(text, kind);
}

/** @type {(text: string, kind?: string) => void} */
function say(text, kind = "") {
  news.replaceChildren();
  if (!text) return;
  const note = element("div", `note space ${kind}`);
  note.append(element("p", "", text));
  news.append(note);
}

/** @type {(upload: Sent) => HTMLElement} */
function addItem(upload) {
  const item = document.createElement("li");
  const top = element("div", "upload-top");
  const state = element("span", "tag", upload.label);
  state.dataset.state = "";
  top.append(element("span", "upload-name", upload.name), state);
  const progress = document.createElement("progress");
  progress.max = 100;
  progress.setAttribute("aria-label", `Reading ${upload.name}`);
  item.append(top, progress);
  /** @type {HTMLElement} */ (document.getElementById("uploads")).prepend(item);
  return item;
}

/** @type {(item: HTMLElement, url: string) => Promise<void>} */
async function follow(item, url) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" } });
    if (!response.ok || response.redirected) {
      window.location.reload();
      return;
    }
    const upload = await response.json();
    const state = /** @type {HTMLElement} */ (item.querySelector("[data-state]"));
    state.textContent = upload.label;
    state.className = `tag ${upload.state}`;
    const progress = item.querySelector("progress");
    if (progress) progress.value = upload.percent;
    if (!upload.active) {
      // What is said about an upload that ended stands in one place, the page itself.
      if (!someRefused) window.location.reload();
      return;
    }
  } catch {
    // The server is not there at the moment: look again.
  }
  setTimeout(follow, POLL_WAIT, item, url);
}

/** @template {keyof HTMLElementTagNameMap} Name @param {Name} tag @param {string} className @param {string} [text] */
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
