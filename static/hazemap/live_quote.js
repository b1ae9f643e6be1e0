// The cost of a question while it is asked. Every change makes what is shown old: nothing can be spent until the
// new cost is there, and the button spends what was shown, not what the form says by then.
const form = /** @type {HTMLFormElement} */ (document.getElementById("release-form"));
const showCost = /** @type {HTMLButtonElement} */ (document.getElementById("show-cost"));
const slide = /** @type {HTMLInputElement} */ (document.getElementById("accuracy-slide"));
const epsilon = /** @type {HTMLInputElement} */ (form.elements.namedItem("epsilon"));
const error = /** @type {HTMLInputElement | null} */ (form.elements.namedItem("error_m"));
const isGathering = form.method === "post";

const WAIT_MS = 350; // after the last key
const MOST_WAITS = 5; // for another question of the same person to end
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 15, 20];
const SENTENCES = [1, 2, 3, 4];
const BLANKS = ["part", "distance_m", "epsilon"];

/** What ε follows from: itself, a largest error, or sentences of what to protect. */
let source = error?.value ? "error" : SENTENCES.some((row) => sentence(row).some(Boolean)) ? "sentences" : "epsilon";
let turn = 0; // of asking; an older one shows nothing
let timer = 0;
let request = new AbortController();
let shownQuestion = isQuoted() ? spelled() : "";
let isTellingMore = false;
let sentStart = document.getElementById("start")?.outerHTML ?? "";
let usual = method()?.dataset.epsilon ?? epsilon.value; // of the chosen method

start();

function start() {
  showCost.hidden = true;
  slide.max = String(STEPS.length - 1);
  /** @type {HTMLElement} */ (document.getElementById("accuracy")).hidden = false;
  follow();
  slide.addEventListener("input", chooseStep);
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.addEventListener("region", changed); // drawn on the map
  form.addEventListener("submit", submitted);
  if (!isQuoted() && !document.querySelector(".errorlist, [role=alert]") && hasSomething()) ask(0);
}

function isQuoted() {
  return document.getElementById("spend") !== null;
}

function hasSomething() {
  if (!isGathering) return true;
  return Boolean(/** @type {HTMLTextAreaElement} */ (form.elements.namedItem(form.dataset.gathered ?? "")).value.trim());
}

/** @type {() => HTMLInputElement | null} */
function method() {
  return form.querySelector('input[name="mechanism"]:checked, input[type="hidden"][name="mechanism"]');
}

// --- the question ---

/** @type {(row: number) => string[]} */
function sentence(row) {
  return BLANKS.map((blank) => {
    const box = form.elements.namedItem(`wish${row}_${blank}`);
    return box instanceof HTMLInputElement ? box.value.trim() : "";
  });
}

// What the form says, without half a sentence and without what ε does not follow from.
function question() {
  const typed = new FormData(form);
  if (source !== "error") typed.delete("error_m");
  for (const row of SENTENCES) {
    const isAsked = source === "sentences" && sentence(row).every(Boolean);
    if (!isAsked) for (const blank of BLANKS) typed.delete(`wish${row}_${blank}`);
  }
  return typed;
}

function spelled() {
  const parts = [...question()].filter(([name]) => name !== "open" && name !== "csrfmiddlewaretoken");
  return JSON.stringify(parts.map(([name, value]) => [name, value instanceof File ? [value.name, value.size, value.lastModified] : value]));
}

// --- one control for ε and the error ---

function chooseStep() {
  epsilon.value = String(STEPS[Number(slide.value)]);
  source = "epsilon";
  if (error) error.value = "";
  tellStep();
}

function follow() {
  const near = (/** @type {number} */ step) => Math.abs(Math.log(step / (Number(epsilon.value) || 1)));
  slide.value = String(STEPS.indexOf(STEPS.reduce((best, step) => (near(step) < near(best) ? step : best))));
  tellStep();
}

function tellStep() {
  slide.setAttribute("aria-valuetext", `ε = ${epsilon.value}`);
}

/** @type {(event: Event) => void} */
function changed({ target }) {
  if (target === epsilon || target === slide) {
    source = "epsilon";
    if (error) error.value = "";
    if (target === epsilon) follow();
  } else if (target === error) {
    source = error?.value ? "error" : "epsilon";
  } else if (target instanceof HTMLInputElement && target.name.startsWith("wish")) {
    source = "sentences";
    if (error) error.value = "";
  } else if (target instanceof HTMLInputElement && target.name === "mechanism") {
    openWithItsOwn(target);
  }
  if (spelled() === shownQuestion) return;
  ask(WAIT_MS);
}

// An ε that nobody changed becomes the one that the chosen method opens with.
/** @type {(radio: HTMLInputElement) => void} */
function openWithItsOwn(radio) {
  const { epsilon: own = usual } = radio.dataset;
  if (source === "epsilon" && epsilon.value === usual) epsilon.value = own;
  usual = own;
  follow();
}

// --- asking ---

/** @type {(event: SubmitEvent) => void} */
function submitted(event) {
  const act = event.submitter?.getAttribute("value") ?? "";
  if (["add", "part", "method", "protect"].includes(act)) return; // another page
  event.preventDefault();
  isTellingMore ||= act === "more";
  ask(0);
}

/** @type {(wait: number, waits?: number) => void} */
function ask(wait, waits = 0) {
  const own = ++turn;
  makeOld();
  clearTimeout(timer);
  request.abort();
  timer = setTimeout(async () => {
    request = new AbortController();
    const asked = spelled();
    try {
      const answer = await send(request.signal);
      if (own !== turn) return;
      if ([429, 503].includes(answer.status) && waits < MOST_WAITS) {
        ask(1000 * Number(answer.headers.get("Retry-After") ?? 1), waits + 1);
        return;
      }
      const content = await answer.text();
      if (own === turn) show(content, asked);
    } catch {
      if (own === turn) tellFailure();
    }
  }, wait);
}

// The button that works without scripts is there then.
function tellFailure() {
  const quote = /** @type {HTMLElement} */ (document.getElementById("quote"));
  quote.removeAttribute("aria-busy");
  quote.querySelector(".unread")?.remove();
  const told = document.createElement("p");
  told.className = "note bad unread";
  told.setAttribute("role", "alert");
  told.textContent = "The cost could not be read. Try again.";
  quote.prepend(told);
  showCost.hidden = false;
}

/** @type {(signal: AbortSignal) => Promise<Response>} */
function send(signal) {
  const typed = question();
  typed.set("live", "1");
  typed.set("act", isTellingMore ? "more" : "quote");
  if (isGathering) return fetch(form.action, { method: "POST", body: typed, signal });
  const pairs = [...typed].map(([name, value]) => [name, String(value)]);
  return fetch(`${form.action}?${new URLSearchParams(pairs)}`, { signal });
}

function makeOld() {
  shownQuestion = ""; // going back to it asks again: the answer to what was typed between may be under way
  const quote = /** @type {HTMLElement} */ (document.getElementById("quote"));
  quote.setAttribute("aria-busy", "true");
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (quote.querySelectorAll("form button"))) button.disabled = true;
}

// What the release is called has nothing to do with its cost.
/** @type {(quote: HTMLElement) => void} */
function keepName(quote) {
  for (const name of ["name", "note"]) {
    const [old, made] = [document, quote].map((one) => /** @type {HTMLInputElement | null} */ (one.querySelector(`#spend [name="${name}"]`)));
    if (old && made) made.value = old.value;
  }
}

// What fits as a start follows from the rest of the question; what is wrong with that leaves it as it is.
/** @type {(made: HTMLElement, isQuoted: boolean) => void} */
function showStart(made, isQuoted) {
  const old = /** @type {HTMLElement} */ (document.getElementById("start"));
  if (!(isQuoted || made.querySelector(".errorlist")) || made.outerHTML === sentStart) return;
  sentStart = made.outerHTML;
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(made);
  if (hadFocus) made.querySelector("select")?.focus();
  shownQuestion = spelled();
}

/** @type {(content: string, asked: string) => void} */
function show(content, asked) {
  const page = new DOMParser().parseFromString(content, "text/html");
  const quote = page.getElementById("quote");
  const price = page.getElementById("price");
  const own = page.getElementById("own");
  const start = page.getElementById("start");
  if (!quote || !price || !own || !start) throw new Error("no quote");
  shownQuestion = asked;
  keepName(quote);
  const keepsFocus = document.activeElement?.closest("#quote");
  document.getElementById("quote")?.replaceWith(quote);
  if (keepsFocus) {
    quote.tabIndex = -1;
    quote.focus();
  }
  const told = /** @type {HTMLElement} */ (document.getElementById("price"));
  if (told.textContent !== price.textContent) told.replaceChildren(...price.childNodes);
  if (own.dataset.mechanism !== document.getElementById("own")?.dataset.mechanism) {
    document.getElementById("own")?.replaceWith(own);
    shownQuestion = spelled();
  }
  if (quote.dataset.epsilon && source !== "epsilon") {
    epsilon.value = quote.dataset.epsilon;
    follow();
    shownQuestion = spelled();
  }
  showStart(start, Boolean(quote.dataset.epsilon));
  if (error) error.placeholder = quote.dataset.errorM ?? "";
}
