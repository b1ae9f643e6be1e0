// Looks for the end of a queued release, less and less often, and then shows its page.
const FIRST_WAIT = 1500;
const LONGEST_WAIT = 15000;

const queued = document.getElementById("queued");

async function look(wait) {
  try {
    const response = await fetch(queued.dataset.stateUrl, { headers: { Accept: "application/json" } });
    if (response.redirected || response.status === 404 || (response.ok && (await response.json()).state !== "queued")) {
      window.location.reload();
      return;
    }
  } catch {
    // The server is not there at the moment: look again.
  }
  setTimeout(look, wait, Math.min(wait * 1.3, LONGEST_WAIT));
}

if (queued) setTimeout(look, FIRST_WAIT, FIRST_WAIT);
