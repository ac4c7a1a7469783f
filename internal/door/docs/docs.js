// Trying calls and filtering the list: only what improves a page that reads
// without it.
"use strict";

const key = document.getElementById("key");
document.getElementById("key-form").hidden = false;
document.getElementById("key-form").addEventListener("submit", (e) => e.preventDefault());
key.value = sessionStorage.getItem("key") || "";
key.addEventListener("input", () => sessionStorage.setItem("key", key.value));

for (const box of document.querySelectorAll(".try")) {
  box.hidden = false;
  box.querySelector("form").addEventListener("submit", (e) => {
    e.preventDefault();
    send(box.closest("article"), e.target);
  });
}

async function send(article, form) {
  const out = form.querySelector("output");
  let path = article.dataset.path;
  const query = new URLSearchParams();
  const headers = { Authorization: "Bearer " + key.value.trim() };
  for (const input of form.querySelectorAll("input")) {
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

const filter = document.getElementById("filter");
filter.closest("label").hidden = false;
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const item of document.querySelectorAll("nav li")) {
    const text = item.textContent.toLowerCase();
    item.hidden = !words.every((w) => text.includes(w));
  }
});
