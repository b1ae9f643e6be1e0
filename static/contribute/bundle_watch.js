/** Which bundle of files this page is, and whether the server has another by now. */

import { base64, digest } from "./bytes.js";

const STATE = "hazemap contribute";

/** The SHA-384 of the bundle that the service worker stays on; empty before there is one. */
export async function pinnedBundle() {
  if (!globalThis.caches) return "";
  const kept = await (await caches.open(STATE)).match(new URL("pinned", document.baseURI).href);
  return kept ? kept.text() : "";
}

/** The SHA-384 of the server's list of files; empty where it cannot be asked. */
export async function servedBundle() {
  try {
    const response = await fetch("bundle.json", { cache: "no-store" });
    if (!response.ok) return "";
    const manifest = JSON.stringify(await response.json());
    return base64(await digest(new TextEncoder().encode(manifest), "SHA-384"));
  } catch {
    return "";
  }
}

/** Starts to keep the page for use without a connection, where the browser can. */
export async function keepPage() {
  try {
    await navigator.serviceWorker?.register("service-worker.js", { updateViaCache: "none" });
  } catch {
    // Private windows refuse; the page works all the same, with a connection.
  }
}

/**
 * Asks the service worker to go over to another bundle. Errors: Error with words for people.
 * @param {string} sha384
 */
export async function switchTo(sha384) {
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  const told = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  active?.postMessage({ switchTo: sha384 }, [port2]);
  const { refused } = /** @type {{ refused?: string }} */ (await told);
  if (refused) throw new Error(refused);
}
