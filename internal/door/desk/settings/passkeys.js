// Passkeys exist only in scripts: the form gets what the browser answers.
"use strict";

const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const toText = (buffer) => buffer === null || buffer === undefined ? undefined
  : btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// A description of a credential as the server wrote it, with bytes for texts.
const known = (list) => (list || []).map((c) => ({ ...c, id: toBytes(c.id) }));

async function create(o) {
  const made = await navigator.credentials.create({ publicKey: {
    ...o, challenge: toBytes(o.challenge), user: { ...o.user, id: toBytes(o.user.id) }, excludeCredentials: known(o.excludeCredentials) } });
  const r = made.response;
  return { id: made.id, rawId: toText(made.rawId), type: made.type, authenticatorAttachment: made.authenticatorAttachment || undefined,
    clientExtensionResults: {},
    response: { clientDataJSON: toText(r.clientDataJSON), attestationObject: toText(r.attestationObject),
      transports: r.getTransports ? r.getTransports() : [] } };
}

async function get(o) {
  const made = await navigator.credentials.get({ publicKey: { ...o, challenge: toBytes(o.challenge), allowCredentials: known(o.allowCredentials) } });
  const r = made.response;
  return { id: made.id, rawId: toText(made.rawId), type: made.type, authenticatorAttachment: made.authenticatorAttachment || undefined,
    clientExtensionResults: {},
    response: { clientDataJSON: toText(r.clientDataJSON), authenticatorData: toText(r.authenticatorData),
      signature: toText(r.signature), userHandle: toText(r.userHandle) } };
}

function offerPasskeys() {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    if (window.PublicKeyCredential) form.querySelector("button").disabled = false;
    else form.querySelector("[data-says]").textContent = "This browser has no passkeys.";
  }
}
addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.passkey) return;
  event.preventDefault();
  const says = form.querySelector("[data-says]");
  says.textContent = "";
  try {
    const options = JSON.parse(form.dataset.options);
    form.elements.credential.value = JSON.stringify(await (form.dataset.passkey === "create" ? create : get)(options));
    form.submit();
  } catch (err) {
    says.textContent = err.name === "InvalidStateError" ? "This device already has a passkey for your account."
      : err.name === "NotAllowedError" ? "Nothing was sent: the browser's question was closed or took too long. Try again."
      : "The browser could not use a passkey: " + err.message;
  }
}, true); // before the desk's own
offerPasskeys();
addEventListener("shown", offerPasskeys); // another page of the desk
