// Counts down to the moments of queued releases, then says when one can be opened.
const STEP = 1000;
const LOOK = 3000;

/** @type {(seconds: number) => string} */
function words(seconds) {
  if (seconds < 120) return `appears in ${seconds} s`;
  return seconds < 7200 ? `appears in ${Math.ceil(seconds / 60)} min` : `appears in ${Math.ceil(seconds / 3600)} hours`;
}

/** @type {(item: HTMLElement, told: HTMLElement, moment: number) => void} */
function countDown(item, told, moment) {
  const left = Math.ceil((moment - performance.now()) / 1000);
  told.textContent = left > 0 ? words(left) : "appears any moment";
  if (left > 0) setTimeout(countDown, STEP, item, told, moment);
  else setTimeout(look, LOOK, item, told);
}

/** @type {(item: HTMLElement, told: HTMLElement) => Promise<void>} */
async function look(item, told) {
  try {
    const response = await fetch(item.dataset.stateUrl ?? "", { headers: { Accept: "application/json" } });
    const state = response.ok && !response.redirected ? await response.json() : null;
    if (!state) return;
    if (state.state !== "queued") {
      told.textContent = state.state === "published" ? "ready" : "ended without a result";
      return;
    }
    countDown(item, told, performance.now() + 1000 * state.seconds);
  } catch {
    setTimeout(look, LOOK, item, told); // the server is not there at the moment
  }
}

for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-state-url][data-seconds]"))) {
  const told = /** @type {HTMLElement} */ (item.querySelector(".countdown"));
  countDown(item, told, performance.now() + 1000 * Number(item.dataset.seconds));
}
