/** Seals messages and packets by HPKE (RFC 9180): X25519, HKDF-SHA256, AES-128-GCM, base mode. */

import { joinedBytes } from "./bytes.js";

/** @type {Promise<[typeof import("@hpke/core"), typeof import("@hpke/dhkem-x25519")]>} */
const libraries = Promise.all([
  import(new URL("./hpke/core/mod.js", import.meta.url).href),
  import(new URL("./hpke/dhkem-x25519/mod.js", import.meta.url).href),
]);

const AT_ONCE = 32; // messages

/** @typedef {import("@hpke/core").CipherSuite} Suite */
/** @type {Promise<Suite> | undefined} */
let own;

/** Bytes that sealing adds: the encapsulated key and the tag. */
export const ADDED_BYTES = 48;

/**
 * One report's messages and, joined, its packet, all sealed; each message is an encryption of its own.
 * @param {{ analyserKey: Uint8Array, shufflerKey: Uint8Array, factsSha256: Uint8Array }} facts
 * @param {Uint8Array[]} messages all of one length
 * @param {(done: number) => void} [onProgress]
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function packetOf(facts, messages, onProgress) {
  if (messages.some(({ length }) => length !== messages[0].length)) throw new RangeError("messages have one length");
  const sealMessage = await sealer(facts.analyserKey, "hazemap message 1", facts.factsSha256);
  const sealPacket = await sealer(facts.shufflerKey, "hazemap packet 1", facts.factsSha256);
  const sealed = [];
  for (let first = 0; first < messages.length; first += AT_ONCE) {
    sealed.push(...(await Promise.all(messages.slice(first, first + AT_ONCE).map(sealMessage))));
    onProgress?.(sealed.length);
  }
  return sealPacket(joinedBytes(sealed));
}

/**
 * Encrypts to one key with one purpose; every call draws an encapsulated key of its own.
 * @param {Uint8Array} key 32 bytes of X25519
 * @param {string} purpose
 * @param {Uint8Array} factsSha256
 * @param {Promise<Suite>} [suite]
 * @returns {Promise<(plain: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>>}
 */
export async function sealer(key, purpose, factsSha256, suite = ownSuite()) {
  const hpke = await suite;
  const recipientPublicKey = await hpke.kem.deserializePublicKey(copied(key));
  const info = purposeBytes(purpose, factsSha256);
  return async (plain) => {
    const { enc, ct } = await hpke.seal({ recipientPublicKey, info }, copied(plain));
    return joinedBytes([new Uint8Array(enc), new Uint8Array(ct)]);
  };
}

/**
 * Decrypts what `sealer` made; here for tests and for whoever reads the protocol.
 * @param {Uint8Array} privateKey 32 bytes
 * @param {string} purpose
 * @param {Uint8Array} factsSha256
 * @param {Uint8Array} sealed
 */
export async function opened(privateKey, purpose, factsSha256, sealed) {
  const suite = await ownSuite();
  const recipientKey = await suite.kem.deserializePrivateKey(copied(privateKey));
  const info = purposeBytes(purpose, factsSha256);
  const [enc, ct] = [copied(sealed.subarray(0, 32)), copied(sealed.subarray(32))];
  return new Uint8Array(await suite.open({ recipientKey, enc, info }, ct));
}

function ownSuite() {
  own ??= hasX25519().then(suiteOf);
  return own;
}

/**
 * X25519 of the browser where it has it: several times as fast, and in constant time.
 * @param {boolean} isNative
 */
export async function suiteOf(isNative) {
  const [core, curve] = await libraries;
  const { DhkemX25519HkdfSha256 } = isNative ? core : curve;
  return new core.CipherSuite({
    kem: new DhkemX25519HkdfSha256(), kdf: new core.HkdfSha256(), aead: new core.Aes128Gcm(),
  });
}

async function hasX25519() {
  try {
    await crypto.subtle.generateKey("X25519", false, ["deriveBits"]);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {string} purpose
 * @param {Uint8Array} factsSha256
 */
function purposeBytes(purpose, factsSha256) {
  return joinedBytes([new TextEncoder().encode(purpose), Uint8Array.of(0), factsSha256]).buffer;
}

/**
 * The library takes buffers, not views of them.
 * @param {Uint8Array} bytes
 * @returns {ArrayBuffer}
 */
function copied(bytes) {
  return joinedBytes([bytes]).buffer;
}
