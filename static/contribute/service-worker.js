/**
 * Keeps the page as it was first used: installs the files of one manifest after checking each SHA-384, answers
 * with these alone, and goes over to another bundle only when the page says that the person wants it.
 * A classic script in one file: not every browser takes modules here.
 */
(() => {
  /** @typedef {[path: string, sha384: string]} Entry */
  const worker = /** @type {any} */ (globalThis);
  const STATE = "hazemap contribute";
  const PINNED = "pinned"; // an address below /contribute/ that only this cache has
  /** @type {(sha384: string) => string} */
  const cacheName = (sha384) => `hazemap contribute ${sha384}`;
  /** @type {(path: string) => string} */
  const address = (path) => new URL(path, worker.registration.scope).href;

  /** @param {BufferSource} bytes */
  async function sha384(bytes) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-384", bytes));
    return btoa(String.fromCharCode(...digest));
  }

  async function pinned() {
    const kept = await (await caches.open(STATE)).match(address(PINNED));
    return kept ? kept.text() : "";
  }

  /** @param {string} wanted the SHA-384 of a manifest; empty: whatever the server has */
  async function install(wanted) {
    const response = await fetch(address("bundle.json"), { cache: "no-store" });
    if (!response.ok) throw new Error("there is no list of files");
    /** @type {Entry[]} */
    const manifest = await response.json();
    const found = await sha384(new TextEncoder().encode(JSON.stringify(manifest)));
    if (wanted && found !== wanted) throw new Error("the page has changed again");
    const cache = await caches.open(cacheName(found));
    try {
      await Promise.all(manifest.map((entry) => keep(cache, entry)));
    } catch (error) {
      if ((await pinned()) !== found) await caches.delete(cacheName(found));
      throw error;
    }
    await (await caches.open(STATE)).put(address(PINNED), new Response(found));
    for (const name of await caches.keys()) {
      if (name.startsWith(`${STATE} `) && name !== cacheName(found)) await caches.delete(name);
    }
    return found;
  }

  /**
   * @param {Cache} cache
   * @param {Entry} entry
   */
  async function keep(cache, [path, expected]) {
    const response = await fetch(address(path), { cache: "no-store" });
    const bytes = await response.arrayBuffer();
    if (!response.ok || (await sha384(bytes)) !== expected) throw new Error("a file is not the one in the list");
    const headers = new Headers(response.headers);
    for (const name of ["content-encoding", "content-length", "set-cookie"]) headers.delete(name);
    await cache.put(address(path), new Response(bytes, { headers }));
  }

  /** @param {Request} request */
  async function answer(request) {
    const bundle = await pinned();
    const url = request.url.split(/[?#]/)[0];
    const kept = bundle && (await (await caches.open(cacheName(bundle))).match(url));
    return kept || fetch(request);
  }

  worker.addEventListener("install", (/** @type {any} */ event) => {
    // A browser renews this script by itself. That alone must not change the page.
    event.waitUntil(pinned().then((bundle) => bundle || install("")));
  });
  worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
  worker.addEventListener("fetch", (/** @type {any} */ event) => {
    const { method, url } = event.request;
    if (method === "GET" && url.startsWith(worker.registration.scope)) event.respondWith(answer(event.request));
  });
  worker.addEventListener("message", (/** @type {any} */ event) => {
    const [port] = event.ports;
    const done = install(event.data.switchTo).then(
      (bundle) => ({ bundle }),
      (/** @type {Error} */ error) => ({ refused: error.message }),
    );
    event.waitUntil(done.then((told) => port.postMessage(told)));
  });
})();
