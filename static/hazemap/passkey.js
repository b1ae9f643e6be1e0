// Forms that need a passkey: asks the browser for one, puts what it says into the form and sends that. Who has no
// script keeps the button hidden: there are other ways to sign in.
const CANCELLED = "No passkey was used: it was cancelled, took too long, or is not on this device.";
/** @type {Record<string, string>} */
const WORDS = {
  NotAllowedError: CANCELLED,
  AbortError: CANCELLED,
  InvalidStateError: "This device already holds a passkey of your account.",
  SecurityError: "Passkeys do not work at this address.",
};
const FAILED = "That did not work. Try again, or choose another way.";
const UNSUPPORTED = "This browser cannot use passkeys.";

// --- bytes and their letters (base64url) ---

/** @type {(letters: string) => BufferSource} */
function bytes(letters) {
  const text = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** @type {(buffer: ArrayBuffer | null) => string | null} */
function letters(buffer) {
  if (!buffer) return null;
  const text = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** @type {(listed: { id: string }[] | null | undefined) => object[]} */
function known(listed) {
  return (listed ?? []).map((one) => ({ ...one, id: bytes(one.id) }));
}

// --- ceremonies ---

/** @type {(asked: any) => Promise<object>} */
async function made(asked) {
  const publicKey = {
    ...asked.publicKey,
    challenge: bytes(asked.publicKey.challenge),
    user: { ...asked.publicKey.user, id: bytes(asked.publicKey.user.id) },
    excludeCredentials: known(asked.publicKey.excludeCredentials),
  };
  const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey }));
  const response = /** @type {AuthenticatorAttestationResponse} */ (credential.response);
  return told(credential, {
    clientDataJSON: letters(response.clientDataJSON),
    attestationObject: letters(response.attestationObject),
    transports: response.getTransports?.() ?? [],
  });
}

/** @type {(asked: any) => Promise<object>} */
async function used(asked) {
  const publicKey = {
    ...asked.publicKey,
    challenge: bytes(asked.publicKey.challenge),
    allowCredentials: known(asked.publicKey.allowCredentials),
  };
  const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey }));
  const response = /** @type {AuthenticatorAssertionResponse} */ (credential.response);
  return told(credential, {
    clientDataJSON: letters(response.clientDataJSON),
    authenticatorData: letters(response.authenticatorData),
    signature: letters(response.signature),
    userHandle: letters(response.userHandle),
  });
}

/** @type {(credential: PublicKeyCredential, response: object) => object} */
function told(credential, response) {
  return {
    id: credential.id,
    rawId: letters(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment,
    clientExtensionResults: credential.getClientExtensionResults(),
    response,
  };
}

// --- forms ---

/** @type {(form: HTMLFormElement) => Promise<any>} */
async function options(form) {
  if (form.dataset.options) return JSON.parse(form.dataset.options);
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return (await answer.json()).request_options;
}

/** @type {(form: HTMLFormElement, words: string) => void} */
function say(form, words) {
  const place = form.querySelector("[data-told]");
  if (place) place.textContent = words;
}

/** @type {(form: HTMLFormElement) => Promise<void>} */
async function run(form) {
  say(form, "");
  try {
    const asked = await options(form);
    const credential = await (form.dataset.passkey === "make" ? made(asked) : used(asked));
    /** @type {HTMLInputElement} */ (form.elements.namedItem("credential")).value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    say(form, WORDS[error instanceof Error || error instanceof DOMException ? error.name : ""] ?? FAILED);
  }
}

/** @type {NodeListOf<HTMLFormElement>} */
const forms = document.querySelectorAll("form[data-passkey]");
for (const form of forms) {
  const button = form.querySelector("button");
  if (!window.PublicKeyCredential || !button) {
    say(form, UNSUPPORTED);
    continue;
  }
  button.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void run(form);
  });
}
