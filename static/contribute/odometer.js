/**
 * What this device sent, and what that adds up to: written before a report is drawn, never with a place.
 * A sealed packet is kept until its receipt, so that sending again sends the same bytes.
 */

/** @typedef {import("./facts.js").Loss} Loss */
/** @typedef {"begun" | "sealed" | "sent" | "refused" | "broken"} State */
/**
 * @typedef {{
 *   id?: number, state: State, round: string, collection: string, title: string, number: number,
 *   factsSha256: string, loss: Loss, begunAt: number, closesAt: number,
 *   secret?: string, secretSha256: string, packet?: ArrayBuffer, sendAt?: number, sentAt?: number,
 *   receipt?: string, code?: string,
 * }} Record times in milliseconds since 1970
 */

const DATABASE = "hazemap contribute";
const STORE = "reports";

/** A link was used before, or all reports of a person were sent. */
export class AlreadySent extends Error {
  name = "AlreadySent";
}

/** @returns {Promise<IDBDatabase>} */
function database() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(STORE, { keyPath: "id", autoIncrement: true }).createIndex("round", "round");
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

/**
 * On disk when the promise is kept.
 * @template Answer
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore, keep: (answer: Answer) => void, transaction: IDBTransaction) => void} act
 * @returns {Promise<Answer>}
 */
async function within(mode, act) {
  const opened = await database();
  return new Promise((resolve, reject) => {
    const transaction = opened.transaction(STORE, mode, { durability: "strict" });
    /** @type {Answer} */
    let answer;
    /** @type {unknown} */
    let failure;
    transaction.oncomplete = () => {
      opened.close();
      resolve(answer);
    };
    transaction.onabort = () => {
      opened.close();
      reject(failure ?? transaction.error);
    };
    try {
      act(transaction.objectStore(STORE), (kept) => (answer = kept), transaction);
    } catch (error) {
      failure = error;
      transaction.abort();
    }
  });
}

/** @returns {Promise<Record[]>} all reports, the latest first */
export async function allRecords() {
  const found = await within("readonly", (store, keep) => {
    const asked = store.getAll();
    asked.onsuccess = () => keep(/** @type {Record[]} */ (asked.result));
  });
  return /** @type {Record[]} */ (found).toReversed();
}

/**
 * Notes a report that is about to be drawn; its id. Errors: `AlreadySent`.
 * @param {Record} record
 * @param {number} reportsPerPerson
 * @returns {Promise<number>}
 */
export async function begin(record, reportsPerPerson) {
  let isRefused = false;
  try {
    return await within("readwrite", (store, keep, transaction) => {
      const asked = store.index("round").getAll(record.round);
      asked.onsuccess = () => {
        const taken = asked.result.filter(counts);
        isRefused = taken.length >= reportsPerPerson
          || taken.some(({ secretSha256 }) => secretSha256 === record.secretSha256);
        if (isRefused) return transaction.abort();
        const added = store.add(record);
        added.onsuccess = () => keep(Number(added.result));
      };
    });
  } catch (error) {
    throw isRefused ? new AlreadySent("all of a person's reports") : error;
  }
}

/**
 * Whether a report counts among those of a person: one that broke off before it was sealed was seen by nobody. One
 * that was refused was seen: whoever refuses may keep it, and would have another draw of the same place.
 * @param {Record} record
 */
export function counts({ state }) {
  return state !== "broken";
}

/**
 * @param {number} id
 * @param {Partial<Record>} changes undefined takes a value away
 * @returns {Promise<Record>}
 */
export async function change(id, changes) {
  const changed = await within("readwrite", (store, keep, transaction) => {
    const asked = store.get(id);
    asked.onsuccess = () => {
      if (!asked.result) return transaction.abort(); // the list was emptied meanwhile
      const record = { ...asked.result, ...changes };
      for (const name of /** @type {(keyof Record)[]} */ (Object.keys(changes))) {
        if (changes[name] === undefined) delete record[name];
      }
      store.put(record);
      keep(/** @type {Record} */ (record));
    };
  });
  return /** @type {Record} */ (changed);
}

/**
 * @param {number} id
 * @returns {Promise<Record | undefined>}
 */
export function recordOf(id) {
  return within("readonly", (store, keep) => {
    const asked = store.get(id);
    asked.onsuccess = () => keep(/** @type {Record | undefined} */ (asked.result));
  });
}

/** Empties the list. */
export async function forgetAll() {
  await within("readwrite", (store) => void store.clear());
}
