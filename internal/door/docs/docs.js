// Trying calls, copying, and the chosen language: only what improves pages that
// read without it.
"use strict";

const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const keep = {
  get: (store, name) => { try { return store.getItem(name); } catch { return null; } },
  set: (store, name, value) => { try { store.setItem(name, value); } catch { /* a private window */ } },
};
const theme = keep.get(localStorage, "theme"); // as chosen in the console
if (theme) document.documentElement.dataset.theme = theme;

// The current page is in sight among the contents.
const current = document.querySelector("nav [aria-current]"), nav = current && current.closest("nav");
if (nav && nav.scrollHeight > nav.clientHeight) nav.scrollTop = current.offsetTop - nav.offsetTop - 120;

// Copy buttons.
if (navigator.clipboard) for (const pre of $$("pre")) {
  const box = document.createElement("div"), button = document.createElement("button");
  box.className = "box " + pre.className;
  button.className = "copy";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  pre.replaceWith(box);
  box.append(pre, button);
}

// One language for all samples.
function speak(language) {
  for (const r of $$(".langs input")) if (r.value === language) r.checked = true;
}
if (keep.get(localStorage, "language")) speak(keep.get(localStorage, "language"));
addEventListener("change", (event) => {
  if (!event.target.closest(".langs")) return;
  const before = event.target.getBoundingClientRect().top;
  keep.set(localStorage, "language", event.target.value);
  speak(event.target.value);
  scrollBy(0, event.target.getBoundingClientRect().top - before); // the reader stays where they are
});

// Trying calls.
const key = document.getElementById("key"), keyForm = document.getElementById("key-form");
if (key) {
  keyForm.hidden = false;
  keyForm.addEventListener("submit", (e) => e.preventDefault());
  key.value = keep.get(sessionStorage, "key") || "";
  key.addEventListener("input", () => keep.set(sessionStorage, "key", key.value));
  for (const box of $$(".try")) {
    box.hidden = false;
    box.querySelector("form").addEventListener("submit", (e) => {
      e.preventDefault();
      send(box.closest("article"), e.target);
    });
  }
}

async function send(article, form) {
  const out = form.querySelector("output");
  if (!key.value.trim()) {
    out.textContent = "Enter an API key at the top of this page first.";
    return;
  }
  let path = article.dataset.path;
  const query = new URLSearchParams();
  const headers = { Authorization: "Bearer " + key.value.trim() };
  for (const input of $$("input, select", form)) {
    const value = input.value.trim();
    if (input.dataset.in === "path") path = path.replace("{" + input.name + "}", encodeURIComponent(value || input.placeholder));
    else if (value && input.dataset.in === "query") query.set(input.name, value);
    else if (value && input.dataset.in === "key") headers["Idempotency-Key"] = value;
  }
  const body = form.querySelector("textarea");
  if (body) headers["Content-Type"] = "application/json";
  if ([...query].length) path += "?" + query;
  out.textContent = "…";
  try {
    const began = performance.now();
    const res = await fetch(path, { method: article.dataset.method, headers, body: body ? body.value : undefined });
    const took = Math.round(performance.now() - began);
    let text = await res.text();
    try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: as it is */ }
    out.textContent = res.status + " " + res.statusText + " in " + took + " ms\n\n" + text;
  } catch (err) {
    out.textContent = "The request did not reach the server: " + err.message;
  }
}
