/** Small acts on bytes. */

/**
 * @param {Uint8Array[]} parts
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function joinedBytes(parts) {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** @param {Uint8Array} bytes */
export function hexadecimal(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {"SHA-256" | "SHA-384"} [name]
 */
export async function digest(bytes, name = "SHA-256") {
  return new Uint8Array(await crypto.subtle.digest(name, bytes));
}

/** @param {Uint8Array} bytes */
export function base64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/**
 * Of the url-safe kind without padding; the spelling must be the only one.
 * @param {string} text
 */
export function fromBase64url(text) {
  const decoded = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(decoded, (letter) => letter.charCodeAt(0));
  if (base64url(bytes) !== text) throw new RangeError("not base64url");
  return bytes;
}

/** @param {Uint8Array} bytes */
export function base64url(bytes) {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
