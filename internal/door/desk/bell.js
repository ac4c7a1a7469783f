// The bell and the list behind it. It uses what desk.js has, which calls ring when news comes.

// == Notices: over the page where there is room, else a page of their own
let told;
async function showNotices(url, options) {
  const res = await fetch(url, { headers: { Accept: "text/html" }, ...options });
  const list = $(".notices", new DOMParser().parseFromString(await res.text(), "text/html"));
  if (!res.ok || !list) { location.assign("/notifications"); return; }
  const fresh = document.importNode(list, true);
  fresh.classList.add("over");
  if (told) told.replaceWith(fresh); else document.body.append(fresh);
  told = fresh;
  $("#bell")?.setAttribute("aria-expanded", "true");
}
function closeNotices() {
  if (!told) return;
  told.remove();
  told = null;
  $("#bell")?.removeAttribute("aria-expanded");
}
function ring(unread) {
  const bell = $("#bell");
  if (!bell || bell.dataset.unread === String(unread)) return;
  bell.dataset.unread = unread;
  bell.setAttribute("aria-label", unread ? "Notices, " + unread + " unread" : "Notices");
  if (told) showNotices($(".tabs [aria-current]", told).href);
  else if (location.pathname === "/notifications") refresh();
}
addEventListener("click", (event) => {
  if (event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const bell = event.target.closest("#bell"), tab = event.target.closest(".notices.over :is(.tabs,footer) a");
  if (bell && roomy() && location.pathname !== "/notifications") { event.preventDefault(); if (told) closeNotices(); else showNotices(bell.href); return; }
  if (tab) { event.preventDefault(); showNotices(tab.href); return; }
  if (told && (!told.contains(event.target) || event.target.closest("a"))) closeNotices();
}, true);
addEventListener("submit", (event) => {
  const form = event.target;
  if (!told || !told.contains(form)) return;
  event.preventDefault();
  showNotices(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) }).then(() => {
    const n = $("header .faint", told)?.textContent.split(" ")[0] || 0;
    ring(n);
    channel?.postMessage({ unread: n });
  });
}, true);
addEventListener("keydown", (event) => { if (told && event.key === "Escape") { closeNotices(); $("#bell")?.focus(); } });
// Whoever signs out gets no more notices in this browser: its push service then tells the server.
addEventListener("submit", (event) => {
  if (event.target.getAttribute("action") === "/sign-out") navigator.serviceWorker?.getRegistration().then((w) => w?.pushManager.getSubscription()).then((s) => s?.unsubscribe()).catch(() => {});
}, true);
