// Everything works without this; it only saves a step here and there.
"use strict";

// Copy buttons appear where copying is possible.
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = before; }, 2000);
  });
}

// A page that shows a secret once came from a form. Reloading it opens the
// list and does not create another one.
const once = document.querySelector("[data-back]");
if (once) history.replaceState(null, "", once.dataset.back);

// The permission table: the number of tools follows what is chosen.
const table = document.querySelector("form[data-tools]");
if (table) {
  const total = table.querySelector("output");
  const tally = () => {
    let n = Number(table.dataset.tools);
    for (const on of table.querySelectorAll('input[value="allow"]:checked')) {
      n += Number(on.dataset.tools);
      // Some also need the permission to see.
      const see = on.name.replace(/\.[^.]*$/, ".read");
      if (on.dataset.reads && !table.querySelector('input[name="' + see + '"][value="allow"]:checked')) n -= Number(on.dataset.reads);
    }
    total.textContent = n === 1 ? "1 tool" : n + " tools";
  };
  table.addEventListener("change", tally);
}

// Relative times stay true while a page is open.
const ago = (ms) => {
  const future = ms < 0;
  const minutes = Math.floor(Math.abs(ms) / 60000);
  if (minutes < 1 && !future) return "just now";
  if (minutes >= 60 * 24 * 30) return "";
  const [n, unit] = minutes < 60 ? [Math.max(1, minutes), "minute"] : minutes < 60 * 24 ? [Math.floor(minutes / 60), "hour"] : [Math.floor(minutes / 1440), "day"];
  const text = n + " " + unit + (n === 1 ? "" : "s");
  return future ? "in " + text : text + " ago";
};
// The server's clock may differ: only the time since the page was made counts.
const began = Date.now();
const made = Date.parse(document.body.dataset.now);
setInterval(() => {
  const now = made + Date.now() - began;
  for (const t of document.querySelectorAll("time[data-live]")) t.textContent = ago(now - Date.parse(t.dateTime)) || t.textContent;
}, 30000);
