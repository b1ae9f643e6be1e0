// Counts down to the public moment of a queued release, then looks until its page can be shown.
const FIRST_WAIT = 400;
const LONGEST_WAIT = 15000;
const STEP = 250;

const queued = /** @type {HTMLElement | null} */ (document.getElementById("queued"));
const told = /** @type {HTMLElement} */ (document.getElementById("countdown"));
const bar = /** @type {HTMLProgressElement} */ (queued?.querySelector("progress"));
let moment = 0;

/** @type {(seconds: number) => void} */
function setMoment(seconds) {
  moment = performance.now() + 1000 * seconds;
}

function left() {
  return Math.max(0, moment - performance.now());
}

/** @type {(seconds: number) => string} */
function words(seconds) {
  return seconds < 60 ? `, in ${seconds} s` : `, in ${Math.ceil(seconds / 60)} min`;
}

// The sentence is read out when the page opens; a reader is not told every second.
function countDown() {
  told.setAttribute("aria-hidden", "true");
  told.textContent = left() ? words(Math.ceil(left() / 1000)) : "";
  bar.value = bar.max - left() / 1000;
  if (left()) setTimeout(countDown, STEP);
  else look(FIRST_WAIT);
}

/** @type {(wait: number) => Promise<void>} */
async function look(wait) {
  try {
    const response = await fetch(queued?.dataset.stateUrl ?? "", { headers: { Accept: "application/json" } });
    const state = response.ok && !response.redirected ? await response.json() : null;
    if (response.redirected || response.status === 404 || (state && state.state !== "queued")) {
      window.location.reload();
      return;
    }
    if (state && state.seconds) {
      setMoment(state.seconds); // it is late, or was put off
      countDown();
      return;
    }
  } catch {
    // The server is not there at the moment: look again.
  }
  setTimeout(look, wait, Math.min(wait * 1.3, LONGEST_WAIT));
}

if (queued) {
  setMoment(Number(queued.dataset.seconds));
  bar.max = Math.max(1, Number(queued.dataset.seconds));
  countDown();
}
