// Web Push exists only in scripts: the form gets the address that the browser was given.
"use strict";

{
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

  async function subscribe(form) {
    const said = form.querySelector("[role=status]");
    if (await Notification.requestPermission() !== "granted") {
      said.textContent = "The browser does not allow it. Its settings for this site can.";
      return;
    }
    try {
      const worker = await navigator.serviceWorker.register("/push-worker.js");
      await navigator.serviceWorker.ready;
      const old = await worker.pushManager.getSubscription();
      if (old) await old.unsubscribe(); // it may be of another server's key
      const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(form.dataset.push) });
      form.elements.endpoint.value = made.endpoint;
      form.elements.key.value = text(made.getKey("p256dh"));
      form.elements.auth.value = text(made.getKey("auth"));
      form.requestSubmit();
    } catch {
      said.textContent = "The browser could not reach its push service. Try again later.";
    }
  }

  function offer() {
    const form = document.querySelector("form[data-push]");
    if (!form || !("serviceWorker" in navigator) || !("PushManager" in window)) return; // it needs https
    form.hidden = false;
    form.dataset.shown = "yes";
    form.querySelector("button").onclick = () => subscribe(form);
  }
  addEventListener("shown", offer);
  offer();
}
