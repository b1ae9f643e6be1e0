// Beside a map in its frame: keeps what the map shows in the address of this page, and copies links, embed codes
// and other texts. The fragment of an address is sent to nobody.
/** @type {HTMLIFrameElement | null} */
const frame = document.querySelector("iframe.map-frame");
const told = /** @type {HTMLElement} */ (document.getElementById("share-told"));
const field = /** @type {HTMLTextAreaElement} */ (document.getElementById("share-field"));
/** @type {Record<string, (button: HTMLButtonElement) => string>} */
const TEXTS = { link, embed, text: ({ dataset }) => String(dataset.text) };
let shown = { fragment: "", whole: true }; // as the map in the frame says it

/** @type {(fragment: string) => boolean} */
function isView(fragment) {
  return fragment.startsWith("map=");
}

// --- the frame ---

function send() {
  const fragment = window.location.hash.slice(1);
  if (isView(fragment)) frame?.contentWindow?.postMessage({ hazemap: "show", fragment }, window.location.origin);
}

/** @type {(told: typeof shown) => void} */
function keep({ fragment, whole }) {
  shown = { fragment, whole };
  window.history.replaceState(null, "", `#${fragment}`);
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll("a[data-with-view]");
  for (const one of links) one.hash = fragment;
}

if (frame) {
  window.addEventListener("message", ({ source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== window.location.origin) return;
    if (data?.hazemap === "ready") send();
    if (data?.hazemap === "view" && isView(String(data.fragment))) keep(data);
  });
  window.addEventListener("hashchange", send);
  send();
}

// --- copying ---

/** @type {(button: HTMLButtonElement) => string} */
function link(button) {
  return `${button.dataset.text}${shown.fragment && "#"}${shown.fragment}`;
}

/** @type {(button: HTMLButtonElement) => string} */
function embed(button) {
  const [source, title] = [link(button), String(button.dataset.title)].map(escaped);
  return `<iframe src="${source}" title="${title}" width="100%" height="560" loading="lazy" `
    + 'referrerpolicy="no-referrer" allow="fullscreen" style="border: 0"></iframe>';
}

/** @type {(text: string) => string} */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** @type {(button: HTMLButtonElement) => Promise<void>} */
async function copy(button) {
  const text = TEXTS[String(button.dataset.copy)](button);
  const left = shown.whole || button.dataset.copy === "text" ? "" : " Its areas are too large for a link.";
  const fallback = /** @type {HTMLElement} */ (field.parentElement);
  fallback.hidden = true;
  told.textContent = ""; // the same words again are said again
  try {
    await navigator.clipboard.writeText(text);
    told.textContent = `${button.dataset.said}${left}`;
  } catch {
    fallback.hidden = false;
    field.value = text;
    field.focus();
    field.select();
    told.textContent = `Press Ctrl+C or ⌘C to copy.${left}`;
  }
}

/** @type {NodeListOf<HTMLButtonElement>} */
const buttons = document.querySelectorAll("button[data-copy]");
for (const button of buttons) {
  button.addEventListener("click", () => copy(button));
}
document.getElementById("print")?.addEventListener("click", () => window.print());
