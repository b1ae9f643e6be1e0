// Sends a file with progress, and follows uploads that are being read. Without it the form works by itself.
const POLL_WAIT = 1000;

const form = document.getElementById("upload-form");
const input = document.getElementById("file");
const drop = document.getElementById("drop");
const send = document.getElementById("send");
const sending = document.getElementById("sending");
const bar = document.getElementById("sending-bar");
const label = document.getElementById("sending-label");
const news = document.getElementById("upload-news");

document.getElementById("drop-hint").hidden = false;
form.addEventListener("submit", submit);
for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => over(event, true));
for (const name of ["dragleave", "drop"]) drop.addEventListener(name, (event) => over(event, false));
drop.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  input.files = event.dataTransfer.files;
  input.dispatchEvent(new Event("change"));
});
for (const item of document.querySelectorAll("[data-poll]")) follow(item, item.dataset.poll);

function over(event, isOver) {
  event.preventDefault();
  drop.classList.toggle("over", isOver);
}

function submit(event) {
  event.preventDefault();
  if (!input.files.length) {
    say("Choose a file first.", "bad");
    input.focus();
    return;
  }
  const request = new XMLHttpRequest(); // fetch tells nothing about the progress of sending
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.responseType = "json";
  request.upload.addEventListener("progress", (moved) => {
    bar.value = moved.lengthComputable ? (100 * moved.loaded) / moved.total : 0;
  });
  request.addEventListener("load", () => received(request));
  request.addEventListener("error", () => finished("The connection broke; nothing was stored.", "bad"));
  label.textContent = `Sending ${input.files[0].name}`;
  sending.hidden = false;
  send.disabled = true;
  say("");
  request.send(new FormData(form));
}

function received(request) {
  const answer = request.response;
  if (request.status === 201 && answer) {
    finished(`${answer.name} is here and is being read.`, "");
    form.reset();
    follow(addItem(answer), answer.url);
  } else {
    finished(answer?.error ? `The upload was refused: ${answer.error}.` : "The upload was refused.", "bad");
  }
}

function finished(text, kind) {
  sending.hidden = true;
  send.disabled = false;
  say(text, kind);
}

function say(text, kind = "") {
  news.replaceChildren();
  if (!text) return;
  const note = element("div", `note space ${kind}`);
  note.append(element("p", "", text));
  news.append(note);
}

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
  document.getElementById("uploads").prepend(item);
  return item;
}

async function follow(item, url) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" } });
    if (!response.ok || response.redirected) {
      window.location.reload();
      return;
    }
    const upload = await response.json();
    const state = item.querySelector("[data-state]");
    state.textContent = upload.label;
    state.className = `tag ${upload.state}`;
    const progress = item.querySelector("progress");
    if (progress) progress.value = upload.percent;
    if (!upload.active) {
      // What is said about an upload that ended stands in one place, the page itself.
      window.location.reload();
      return;
    }
  } catch {
    // The server is not there at the moment: look again.
  }
  setTimeout(follow, POLL_WAIT, item, url);
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
