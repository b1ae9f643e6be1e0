/** The region's towns: one file for everybody, loaded whole before any place is known. */

/** @typedef {import("./picture.js").Town} Town */

const MOST = 20_000;

/** @returns {Promise<Town[]>} none where there is no such file */
export async function loadTowns() {
  try {
    const response = await fetch("places.json", { credentials: "omit" });
    if (!response.ok) return [];
    const found = await response.json();
    return Array.isArray(found) ? found.filter(isTown).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** @param {any} one */
function isTown(one) {
  return typeof one?.name === "string" && Number.isFinite(one.lat) && Number.isFinite(one.lon);
}
