/** Takes a report from consent to its receipt, also over visits: the same bytes until they arrived. */

import { digest, hexadecimal } from "./bytes.js";
import { showDevice } from "./device_list.js";
import { byId, inputById, make, show } from "./dom.js";
import { AlreadySent, allRecords, change, counts } from "./odometer.js";
import { placeForm } from "./place_form.js";
import { askInvitation, deliver, drawReport, Refused, soon } from "./report.js";
import { clock, moment, refusal } from "./words.js";

/** @typedef {import("./odometer.js").Record} Record */
/** @typedef {import("./round.js").Round} Round */

const LONGEST_WAIT_MS = 60_000; // then the clock is looked at again: computers sleep
const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 300_000;

/**
 * Shows what can be done in a round now.
 * @param {Round} round
 * @param {string} secret
 * @param {import("./picture.js").Town[]} towns
 * @param {Record[]} here this device's records of the round
 */
export async function enterSending(round, secret, towns, here) {
  const { facts } = round;
  void resume();
  const waiting = here.find(({ state }) => state === "sealed");
  const sent = here.filter(counts);
  const link = secret && hexadecimal(await digest(new TextEncoder().encode(secret)));
  if (waiting) return hideForm();
  const refused = sent.find(({ state, secretSha256 }) => state === "refused" && (!link || secretSha256 === link));
  if (refused && (link || sent.length >= facts.reports_per_person)) {
    return finished("Not taken", `${refusal(refused.code ?? "")} ${usedUp(link)}`);
  }
  if (link && sent.some(({ secretSha256 }) => secretSha256 === link)) {
    return finished("Sent", "You sent the report of this link. Thank you.", true);
  }
  if (sent.length >= facts.reports_per_person) return finished("Sent", "You sent all your reports to this round. Thank you.", true);
  if (Date.now() / 1000 < facts.opens_at) {
    finished("Not open yet", `This round opens ${moment(facts.opens_at)}. Keep this page open, or come back then.`);
    void until(1000 * facts.opens_at).then(async () => {
      if ((await allRecords()).some(({ state }) => state === "sealed")) return; // of another round
      showForm();
      offerForm(round, secret, towns);
    });
  } else {
    offerForm(round, secret, towns);
  }
}

/**
 * Asks for a place, where a report can be sent.
 * @param {Round} round
 * @param {string} secret
 * @param {import("./picture.js").Town[]} towns
 */
function offerForm(round, secret, towns) {
  const { facts } = round;
  if (Date.now() / 1000 >= facts.closes_at) return finished("Closed", "This round is closed. Nothing can be sent to it any more.");
  if (!secret && !facts.open_link) {
    return finished("By invitation", "This round takes reports only by an invitation’s own link.");
  }
  const form = placeForm(facts, towns);
  byId("place").addEventListener("submit", async (event) => {
    event.preventDefault();
    await submitted(round, secret, form);
  });
}

/**
 * @param {Round} round
 * @param {string} secret
 * @param {import("./place_form.js").PlaceForm} form
 */
async function submitted(round, secret, form) {
  const button = /** @type {HTMLButtonElement} */ (byId("send"));
  const cells = form.cells();
  if (!cells) return;
  const consent = inputById("consent");
  if (!consent.checked) {
    byId("place-error").textContent = "Tick the box first if you want to send a report.";
    consent.focus();
    return;
  }
  button.disabled = true;
  try {
    const invitation = secret || (await askInvitation(round.facts.round));
    form.empty();
    hideForm();
    status("Blurring and sealing …", "This takes a moment. Keep the page open.");
    const bar = /** @type {HTMLProgressElement} */ (byId("sealing"));
    show(bar, true);
    byId("sending").focus();
    await navigator.locks.request("hazemap draw", () =>
      drawReport(round, cells, invitation, (share) => (bar.value = share)));
    show(bar, false);
    void resume();
  } catch (error) {
    show(byId("sealing"), false);
    if (error instanceof AlreadySent) finished("Sent before", "This device already used this link, or sent all its reports. One that was refused counts.");
    else if (error instanceof Refused) finished("Not sent", refusal(error.code));
    else {
      button.disabled = false;
      show(byId("place"), true);
      byId("place-error").textContent = "That did not work, and nothing was sent. Try again.";
      show(byId("sending"), false);
    }
  }
  await showDevice();
}

/** Sends what waits, at its moment; the earliest first. */
export async function resume() {
  await showDevice();
  const waiting = (await allRecords()).filter(({ state }) => state === "sealed").at(-1);
  if (!waiting || waiting.id === undefined) return;
  const { id } = waiting;
  hideForm();
  let at = waiting.sendAt ?? 0;
  if (at < performance.timeOrigin) {
    // What should have left while the page was closed does not leave at the moment when it is opened.
    at = soon(waiting.closesAt);
    await change(id, { sendAt: at });
  }
  const sooner = byId("sooner");
  show(sooner, at - Date.now() > LONGEST_WAIT_MS);
  sooner.onclick = async () => {
    at = soon(waiting.closesAt);
    await change(id, { sendAt: at });
    show(sooner, false);
    announceWait(at);
    wake();
  };
  let wake = () => {};
  announceWait(at);
  while (Date.now() < at) await Promise.race([until(at), new Promise((resolve) => (wake = () => resolve(null)))]);
  show(sooner, false);
  await deliverUntilTaken(waiting, id);
}

/**
 * Why no other report is drawn after one that was refused.
 * @param {string} link "" where anybody may take part
 */
function usedUp(link) {
  return `${link ? "This invitation is used up" : "You sent all your reports to this round"}: whoever refused the report `
    + "may have kept it, and a second one would tell more about your place.";
}

/** @param {number} at */
function announceWait(at) {
  status(
    `Will be sent at about ${clock(at, Date.now())}`,
    "Keep this page open. The moment is random, so that it says less about you. If you close the page, the same "
    + "report is sent when you come back, as long as the round is open.",
  );
}

/**
 * @param {Record} record
 * @param {number} id
 */
async function deliverUntilTaken(record, id) {
  for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, LAST_RETRY_MS)) {
    try {
      const sent = await deliver(id);
      finished("Sent", `Your report for ${record.title} was taken ${moment((sent.sentAt ?? Date.now()) / 1000)}. Thank you.`, true);
      note("Sending itself is not hidden: the shuffler, and whoever runs your network, can see that something was sent, and when.");
      break;
    } catch (error) {
      if (error instanceof Refused) {
        finished("Not taken", refusal(error.code));
        break;
      }
      status("Not sent yet", `The shuffler cannot be reached. The same report is sent again at about ${clock(Date.now() + wait, Date.now())}.`);
      await new Promise((resolve) => {
        setTimeout(resolve, wait);
        addEventListener("online", resolve, { once: true });
      });
    }
  }
  await showDevice();
}

function hideForm() {
  show(byId("place"), false);
  show(byId("start"), false);
}

function showForm() {
  show(byId("sending"), false);
  show(byId("place"), true);
  show(byId("start"), true);
  byId("news").replaceChildren(make("p", { class: "unseen" }, "This round is open now."));
}

/** @param {number} at ms since 1970 */
async function until(at) {
  while (Date.now() < at) {
    const left = Math.min(at - Date.now(), LONGEST_WAIT_MS);
    await new Promise((resolve) => setTimeout(resolve, left));
  }
}

/**
 * Says where a report stands, also to who does not see the page.
 * @param {string} title
 * @param {string} words
 */
function status(title, words) {
  show(byId("sending"), true);
  byId("sending-title").textContent = title;
  byId("sending-words").textContent = words;
  byId("news").replaceChildren(make("p", { class: "unseen" }, `${title}. ${words}`));
}

/**
 * @param {string} title
 * @param {string} words
 * @param {boolean} [isGood]
 */
function finished(title, words, isGood = false) {
  hideForm();
  status(title, words);
  byId("sending").classList.toggle("done", isGood);
}

/** @param {string} words */
function note(words) {
  byId("sending-note").textContent = words;
}
