/** The contributors' page: reads a link, shows what is asked, and sends one report. */

import { keepPage, pinnedBundle, servedBundle, switchTo } from "./bundle_watch.js";
import { showDevice } from "./device_list.js";
import { byId, make, show } from "./dom.js";
import { FactsError } from "./facts.js";
import { change, allRecords, forgetAll } from "./odometer.js";
import { fillRound } from "./round_text.js";
import { loadRound, Unreachable } from "./round.js";
import { enterSending, resume } from "./sending.js";
import { loadTowns } from "./towns.js";

const LINK = /^#([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.([A-Za-z0-9_-]{22}))?$/;

/** @typedef {{ round: string, secret: string }} Link */

/** @returns {Link | null} */
function readLink() {
  const found = LINK.exec(location.hash);
  return found && { round: found[1], secret: found[2] ?? "" };
}

async function start() {
  byId("forget").addEventListener("click", forget);
  // The address holds the link, which a jump by "#main" would replace.
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  byId("start").addEventListener("click", () => {
    byId("place").scrollIntoView();
    byId("place").focus({ preventScroll: true });
  });
  for (const [name, isOff] of /** @type {const} */ ([["offline", true], ["online", false]])) {
    addEventListener(name, () => show(byId("offline"), isOff));
  }
  show(byId("offline"), !navigator.onLine);
  await settleBroken();
  await showDevice();
  void keepPage();
  const bundle = watchBundle();
  const link = readLink();
  addEventListener("hashchange", () => readLink() && location.reload());
  if (link) await openRound(link, bundle);
  else if (location.hash.length > 1) refuse("This link is not complete. Copy the whole of it.");
  else welcome();
  show(byId("loading"), false);
}

function welcome() {
  byId("news").replaceChildren(make("p", { class: "note" }, "Open the link of your invitation to take part in a round."));
}

/** A report that was begun by a page that is gone was never sealed: nothing of it was seen. */
async function settleBroken() {
  await navigator.locks.request("hazemap draw", { ifAvailable: true }, async (lock) => {
    if (!lock) return; // another tab draws at this moment
    for (const { id, state } of await allRecords()) {
      if (state === "begun" && id !== undefined) await change(id, { state: "broken" });
    }
  });
}

/**
 * @param {Link} link
 * @param {Promise<string>} bundle
 */
async function openRound(link, bundle) {
  const towns = loadTowns();
  try {
    const round = await loadRound(link.round);
    const here = (await allRecords()).filter((record) => record.round === link.round);
    await fillRound(round, await towns);
    show(byId("plain-title"), false);
    show(byId("round"), true);
    void compareBundle(round.facts.page_sha384, bundle);
    await enterSending(round, link.secret, await towns, here);
  } catch (error) {
    if (error instanceof FactsError) {
      refuse(error.message);
      // Over by this device's clock: whether a report that waits came in time, its shuffler says.
      if (error.code === "over") void resume();
    } else if (error instanceof Unreachable) await unreachable(error);
    else throw error;
  }
}

/** @param {Unreachable} error */
async function unreachable(error) {
  const role = error.role === "shuffler" ? "The server of this page" : "The analyser, whose facts have to be compared,";
  refuse(
    navigator.onLine
      ? `${role} cannot be reached. Nothing can be sent now. Try again later.`
      : "You are offline. A round can be read, and a report sent, only with a connection. What this device sent is "
        + "listed below.",
    true,
  );
  await resume();
}

/**
 * @param {string} words
 * @param {boolean} [isPassing]
 */
function refuse(words, isPassing = false) {
  const note = make("div", { class: `note ${isPassing ? "warn" : "bad"}` }, make("p", {}, words));
  if (isPassing) {
    const again = make("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => location.reload());
    note.append(make("p", { class: "actions" }, again));
  }
  byId("refused").replaceChildren(note);
}

/** The bundle in use; asks where the server has another. */
async function watchBundle() {
  const [pinned, served] = await Promise.all([pinnedBundle(), servedBundle()]);
  const bundle = pinned || served;
  byId("page-hash").textContent = bundle || "unknown";
  if (pinned && served && pinned !== served) askForSwitch(pinned, served);
  return bundle;
}

/**
 * @param {string} pinned
 * @param {string} served
 */
function askForSwitch(pinned, served) {
  [byId("changed-old").textContent, byId("changed-new").textContent] = [pinned, served];
  show(byId("changed"), true);
  byId("changed-keep").addEventListener("click", () => show(byId("changed"), false), { once: true });
  byId("changed-switch").addEventListener("click", async () => {
    try {
      await switchTo(served);
      location.reload();
    } catch {
      refuse("The new page could not be loaded whole. You still have the old one.", true);
    }
  });
}

/**
 * @param {string} expected
 * @param {Promise<string>} bundle
 */
async function compareBundle(expected, bundle) {
  const ours = await bundle;
  if (!expected || !ours || expected === ours) return;
  const note = byId("unknown-page");
  note.textContent = "This page is not the one that the analyser of this round knows. That may be an older or newer "
    + "version. If you did not expect it, ask before you send.";
  show(note, true);
}

async function forget() {
  const words = "Empty this device’s list? A report that still waits will not be sent. This cannot be undone.";
  if (!confirm(words)) return;
  await forgetAll();
  await showDevice();
  location.reload();
}

start().catch(() => refuse("Something went wrong on this page. Nothing was sent. Load it again.", true));
