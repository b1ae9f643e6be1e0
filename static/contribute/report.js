/** Draws a report once, and sends its packet until there is a receipt. */

import { digest, fromBase64url, hexadecimal } from "./bytes.js";
import { messagesOf } from "./encodings/encoding.js";
import { begin, change, recordOf } from "./odometer.js";
import { systemWords, uniformBelow } from "./random_words.js";
import { packetOf } from "./sealing.js";

/** @typedef {import("./odometer.js").Record} Record */
/** @typedef {import("./places.js").Cell} Cell */
/** @typedef {import("./round.js").Round} Round */

const LAST_MS = 60_000; // of a round: for packets that have to be sent again
const SOON_MS = 60_000;

/** The shuffler refused for good; `code` is of docs/explanation/collections.md. */
export class Refused extends Error {
  name = "Refused";

  /** @param {string} code */
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/**
 * Draws, seals and keeps one report. The charge is written first; nothing of the draw is shown or returned.
 * @param {Round} round
 * @param {Cell[]} places
 * @param {string} secret of the invitation
 * @param {(share: number) => void} [onProgress]
 * @returns {Promise<number>} the record's id
 */
export async function drawReport({ facts, factsSha256, table }, places, secret, onProgress) {
  const id = await begin(
    {
      state: "begun",
      round: facts.round,
      collection: facts.collection,
      title: facts.title,
      number: facts.number,
      factsSha256: hexadecimal(factsSha256),
      loss: facts.loss,
      begunAt: Date.now(),
      closesAt: 1000 * facts.closes_at,
      secret,
      secretSha256: hexadecimal(await digest(new TextEncoder().encode(secret))),
    },
    facts.reports_per_person,
  );
  const messages = messagesOf(facts.encoding, table, places, systemWords());
  if (messages.length !== facts.messages || messages.some(({ length }) => length !== facts.message_bytes)) {
    throw new RangeError("the report does not have the size that the round says");
  }
  const keys = {
    analyserKey: fromBase64url(facts.analyser.key), shufflerKey: fromBase64url(facts.shuffler.key), factsSha256,
  };
  const packet = await packetOf(keys, messages, (done) => onProgress?.(done / messages.length));
  await change(id, { state: "sealed", packet: packet.buffer, sendAt: randomMoment(1000 * facts.closes_at) });
  return id;
}

/**
 * A uniform moment of what is left of a round, but for its last minute or the second half of less than two.
 * @param {number} closesAt
 */
function randomMoment(closesAt) {
  const left = Math.max(0, closesAt - Date.now());
  return Date.now() + within(Math.max(left - LAST_MS, left / 2));
}

/**
 * A uniform moment of the next minute, or of half of what is left of a round where that is less.
 * @param {number} closesAt
 */
export function soon(closesAt) {
  return Date.now() + within(Math.min(SOON_MS, Math.max(0, closesAt - Date.now()) / 2));
}

/** @param {number} ms */
function within(ms) {
  return Number(uniformBelow(systemWords(), BigInt(Math.floor(ms) + 1)));
}

/**
 * Sends a sealed report. Errors: `Refused`, for good; TypeError or Error where sending again may help.
 * @param {number} id
 * @returns {Promise<Record>}
 */
export async function deliver(id) {
  return navigator.locks.request(`hazemap report ${id}`, async () => {
    const record = await recordOf(id);
    if (record?.state !== "sealed" || !record.packet) throw new Refused("not_waiting");
    const response = await fetch(`/rounds/${record.round}/reports/`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream", "Hazemap-Invitation": record.secret ?? "" },
      body: record.packet,
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    if (response.status >= 500 || response.status === 429) throw new Error("busy");
    const told = await response.json();
    if (response.ok && told.receipt === hexadecimal(await digest(new Uint8Array(record.packet)))) {
      return change(id, {
        state: "sent", sentAt: Date.now(), receipt: told.receipt, packet: undefined, secret: undefined,
      });
    }
    const code = String(told.code);
    // A receipt of other bytes, or a clock of ours that is fast: the same bytes are sent again.
    if (response.ok || code === "round_not_open") throw new Error("no receipt");
    await change(id, { state: "refused", code, packet: undefined, secret: undefined });
    throw new Refused(code);
  });
}

/**
 * An invitation for whoever asks, where a round is open to everybody. Errors: as `deliver`.
 * @param {string} round
 * @returns {Promise<string>}
 */
export async function askInvitation(round) {
  const response = await fetch(`/rounds/${round}/invitations/`, {
    method: "POST", credentials: "omit", referrerPolicy: "no-referrer",
  });
  const told = await response.json();
  if (!response.ok) throw new Refused(String(told.code));
  return String(told.invitation);
}
