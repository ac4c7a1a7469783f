// Everything works without this script; it makes pages quicker and keeps them
// current. The server's pages are the only source: a click fetches the next page
// and changes what differs (morph), and so does news from the event log.
"use strict";

const root = document.documentElement;
const framed = !!document.getElementById("content"); // not sign-in or consent
root.classList.add("js");
const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const store = {
  get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* a private window */ } },
  drop: (key) => { try { localStorage.removeItem(key); } catch { /* a private window */ } },
  keys: (start) => { try { return Object.keys(localStorage).filter((key) => key.startsWith(start)); } catch { return []; } },
};

// == Light or dark: kept in this browser
if (store.get("theme")) root.dataset.theme = store.get("theme");

// == Morph: make one tree like another, and keep what has focus or was typed
// getAttribute, because a field that is called "id" hides the id of its form.
const keyOf = (node) => node.nodeType === 1 ? node.getAttribute("id") || node.dataset.row || node.dataset.key || "" : "";
const sameKind = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

function morph(from, to) {
  if (from.nodeType === 3) { if (from.data !== to.data) from.data = to.data; return; }
  if (from.nodeType !== 1 || from.isEqualNode(to)) return;
  // A draft is sent as it was read: what changed it meanwhile is not put into its form.
  if (morph.mark && from.dataset.keeps && from.dataset.keeps === to.dataset?.keeps) return;
  const before = from.value;
  for (const { name } of [...from.attributes]) {
    if (to.hasAttribute(name) || name === "open" && from.nodeName === "DETAILS") continue;
    if (name === "hidden" && from.dataset.shown) continue;
    from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (name === "hidden" && from.dataset.shown) continue;
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  if (["INPUT", "TEXTAREA", "SELECT"].includes(from.nodeName)) {
    // What was typed and not sent yet is the person's, not the server's.
    const theirs = from.unsent || morph.mark && from === document.activeElement;
    if (from.nodeName === "SELECT") { if (theirs) return; children(from, to); }
    if (!theirs && from.type !== "checkbox" && from.type !== "file") {
      from.value = to.value;
      // Select what has just appeared under the cursor, so that typing replaces it.
      if (from === document.activeElement && before !== from.value) from.select?.();
    }
    return;
  }
  if (from.nodeName === "IFRAME" || from.dataset.here) return; // what they hold comes by another way
  children(from, to);
}

function children(from, to) {
  const keyed = new Map();
  for (const child of from.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  let at = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    let match = null;
    if (keyOf(wanted)) {
      match = keyed.get(keyOf(wanted)) || null;
    } else {
      for (let n = at; n; n = n.nextSibling) if (sameKind(n, wanted)) { match = n; break; }
    }
    if (match && match.parentNode === from && match.nodeName === wanted.nodeName) {
      if (match !== at) from.insertBefore(match, at);
      else at = at.nextSibling;
      morph(match, wanted);
    } else {
      const fresh = document.importNode(wanted, true);
      from.insertBefore(fresh, at);
      if (morph.mark && fresh.nodeType === 1) fresh.classList.add("fresh");
    }
  }
  while (at) { const next = at.nextSibling; at.remove(); at = next; }
}

// == Pages without a reload
let asked = 0;
const sheets = (doc) => $$('link[rel="stylesheet"]', doc).map((l) => l.getAttribute("href")).join();

// show puts a fetched page in place of this one.
function show(text, url, how) {
  const next = new DOMParser().parseFromString(text, "text/html");
  if (!$("#content", next) || sheets(next) !== sheets(document)) { location.assign(url); return false; }
  for (const { src } of $$("script[src]", next)) if (![...document.scripts].some((s) => s.src === src)) document.head.append(Object.assign(document.createElement("script"), { src }));
  document.title = next.title;
  root.dataset.density = next.documentElement.dataset.density || "";
  morph.mark = how === "live";
  if (how !== "live") for (const d of $$("details[open]")) d.open = false;
  morph($("#rail"), $("#rail", next));
  morph($(".bar"), $(".bar", next));
  if (how === "same") for (const form of $$("form[data-exchange]")) takeBack(form);
  if (how === "live" || how === "same") morph($("#content"), $("#content", next));
  else $("#content").replaceWith(document.importNode($("#content", next), true));
  if (how !== "live") { $("#toasts").replaceChildren(...$("#toasts", next).childNodes); }
  ready(how);
  return true;
}

// takeBack makes the fields of a form that was sent what the server last said, so
// that what stays equal shows it too.
function takeBack(form) {
  for (const f of form.elements) {
    if (f.unsent || ["radio", "checkbox", "submit"].includes(f.type)) continue;
    if (f.nodeName === "SELECT") for (const o of f.options) o.selected = o.defaultSelected;
    else f.value = f.defaultValue;
  }
}

async function go(url, options = {}, how = "page") {
  const mine = ++asked;
  if (!options.method) dispatchEvent(new Event("leaving"));
  root.classList.add("busy");
  try {
    const res = await fetch(url, { headers: { Accept: "text/html" }, ...options });
    if (mine !== asked) return;
    const kind = res.headers.get("Content-Type") || "";
    if (!kind.startsWith("text/html")) { location.assign(url); return; }
    const text = await res.text();
    if (mine !== asked) return;
    const to = new URL(how === "same" && options.method && !res.redirected ? location.href : res.url);
    const stays = how === "same" || to.pathname === location.pathname && options.method === "POST";
    if (options.method && !res.redirected && !/ id="content"/.test(text)) { // the session ended: this page keeps what was sent
      dispatchEvent(new CustomEvent("kept", { detail: new URL(url).pathname }));
      document.open(); document.write(text); document.close();
      return;
    }
    if (options.method && res.ok) dispatchEvent(new CustomEvent("carriedout", { detail: new URL(url).pathname }));
    if (!show(text, res.redirected || !options.method ? res.url : location.href, stays ? "same" : "page")) return;
    if (how === "back" || $("[data-back]")) { /* the address is already right */ }
    else if (how === "same") history.replaceState(history.state, "", to);
    else if (to.href !== location.href) history.pushState({}, "", to);
    if (!stays && how !== "back") {
      scrollTo(0, 0);
      if (!$("#content [autofocus]")) $("#content").focus({ preventScroll: true }); // readers begin with the new page
      if (to.hash && document.getElementById(to.hash.slice(1))) document.getElementById(to.hash.slice(1)).scrollIntoView({ block: "center" });
    }
    cleanAddress();
  } catch (err) {
    if (mine !== asked) return;
    if (!options.method) { location.assign(url); return; }
    say("The server does not answer. What you typed is still here; try again in a moment.");
  } finally {
    root.classList.remove("busy");
  }
}

// What was just done is said once: a reload does not say it again.
function cleanAddress() {
  const u = new URL(location.href);
  if (!u.searchParams.has("done")) return;
  for (const name of ["done", "undo", "n"]) u.searchParams.delete(name);
  history.replaceState(history.state, "", u);
}

// A field may be called "method" or "action", and hides the form's own.
const posts = (form) => form.getAttribute("method") === "post";
const ours = (url) => url.origin === location.origin && !/^\/(v1|docs|f|assets|healthz|metrics)(\/|$)/.test(url.pathname);

addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.target || link.hasAttribute("download") || !framed) return;
  const url = new URL(link.href);
  if (!ours(url)) return;
  if (link.dataset.insert) { event.preventDefault(); insert(url, document.getElementById(link.dataset.insert)); return; }
  if (link.dataset.cancel !== undefined) { event.preventDefault(); go(url, {}, "same"); return; }
  if (url.pathname === location.pathname && url.search === location.search && url.hash) return;
  event.preventDefault();
  closePalette();
  const lines = link.closest(".head") && $("form[data-lines]"); // an invoice is issued as it was typed
  if (lines && halfLine(lines)) { lines.requestSubmit($("button", lines)); return; }
  if (lines && lines.sending) { lines.next = url; return; }
  go(url, {}, link.dataset.edit !== undefined ? "same" : "page");
});

addEventListener("submit", (event) => {
  const form = event.target, button = event.submitter;
  if (event.defaultPrevented || form.hasAttribute("target") || form.dataset.upload !== undefined) return;
  if (!framed || form.dataset.leaves !== undefined || button?.hasAttribute("formtarget")) return; // another site, or a frame
  const url = new URL(button && button.hasAttribute("formaction") ? button.formAction : form.getAttribute("action") || location.href, location.href);
  if (!ours(url) || url.pathname === "/sign-out") return;
  event.preventDefault();
  const filled = new FormData(form, button);
  const data = form.getAttribute("enctype") === "multipart/form-data" ? filled : new URLSearchParams(filled);
  const sendsNow = posts(form) && !form.sending;
  if (sendsNow) for (const field of form.elements) if (button || !field.typing) field.unsent = false;
  if (posts(form)) {
    if (form.sending) { form.again = form.dataset.lines !== undefined; return; } // a double click, or typed meanwhile
    form.sending = true;
    go(url, { method: "POST", body: data }, form.dataset.lines !== undefined ? "same" : "page").then(() => {
      form.sending = false;
      dispatchEvent(new Event("unsent"));
      sendLines(form);
    });
    return;
  }
  for (const [name, value] of [...data]) if (value === "") data.delete(name);
  url.search = data;
  closePalette();
  go(url);
});

// A press selects a sum, so that typing replaces it; a second press sets the cursor.
let pressed = null;
addEventListener("mousedown", (event) => { pressed = event.target !== document.activeElement && event.target.matches("input[inputmode=decimal]") ? event.target : null; });
addEventListener("click", (event) => { if (pressed && event.target === pressed && pressed.selectionStart === pressed.selectionEnd) pressed.select(); pressed = null; });

addEventListener("popstate", () => go(location.href, {}, "back"));

// say shows a sentence where answers appear.
function say(words) {
  const bar = document.createElement("div");
  bar.className = "toast";
  bar.setAttribute("role", "alert");
  bar.textContent = words;
  $("#toasts").replaceChildren(bar);
}

// == What each new page needs
let toastTimer;

let shownPages = 0;
function ready(how) {
  root.dataset.shown = ++shownPages; // for whoever waits for the page, a test for one
  for (const b of $$("[data-copy]")) if (navigator.clipboard) { b.hidden = false; b.dataset.shown = "yes"; }
  for (const b of $$("[data-switch-theme],[data-all]")) { b.hidden = false; b.dataset.shown = "yes"; }
  const once = $("[data-back]"); // a secret is shown once: a reload opens the list
  if (once) history.replaceState(null, "", once.dataset.back);
  tally();
  if (how !== "live") {
    const first = $("#content [autofocus]");
    if (first && (how !== "same" || !asking())) { first.focus(); if (first.nodeName === "TEXTAREA") first.setSelectionRange(0, 0); else if (first.select && first.type !== "checkbox") first.select(); }
    clearTimeout(toastTimer);
    if ($(".toast")) toastTimer = setTimeout(() => { $("#toasts").replaceChildren(); }, 10000);
  }
  for (const box of $$("[data-drop]")) box.classList.add("can-drop");
  for (const t of $$("[data-grow]")) grow(t);
  for (const zone of $$(".begin #timezone")) if (zone.defaultValue === "UTC") zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (how === "same") $(".queue .cur")?.scrollIntoView({ block: "nearest" });
  const reads = $("[data-here]")?.dataset.here || 0;
  const arrives = here !== reads;
  if (here && arrives) navigator.sendBeacon(here + "?left=yes");
  here = reads;
  if (here && arrives) present();
  state(connected);
  dispatchEvent(new Event("shown"));
}

// == What changes with a choice
addEventListener("change", (event) => {
  const box = event.target;
  tally();
  box.typing = false;
  if (box.dataset && box.dataset.submit !== undefined) {
    if (box.form.dataset.lines === undefined || !halfLine(box.form)) box.form.requestSubmit();
  }
  const press = box.closest("[data-press]"); // what the form asks next depends on it
  if (press) box.form.requestSubmit(document.getElementById(press.dataset.press));
  if (box.dataset && box.dataset.files) document.getElementById(box.dataset.files).textContent = [...box.files].map((f) => f.name).join(", ");
});
// The permission table of an agent: the number of tools follows what is chosen.
function tally() {
  const table = $("form[data-tools]");
  if (!table) return;
  let n = Number(table.dataset.tools);
  for (const on of $$('input[value="allow"]:checked', table)) {
    n += Number(on.dataset.tools);
    const see = on.name.replace(/\.[^.]*$/, ".read"); // some also need the permission to see
    if (on.dataset.reads && !$('input[name="' + see + '"][value="allow"]:checked', table)) n -= Number(on.dataset.reads);
  }
  $("output", table).textContent = n === 1 ? "1 tool" : n + " tools";
}

// == Typing: search as you type, suggestions, fields that grow
let typing;
function grow(t) { t.style.height = "auto"; t.style.height = Math.min(t.scrollHeight + 2, 400) + "px"; }
addEventListener("input", (event) => {
  const field = event.target;
  field.unsent = field.typing = true;
  if (field.dataset?.grow !== undefined) grow(field);
  const form = field.form;
  if (form && form.dataset.instant !== undefined) {
    clearTimeout(typing);
    typing = setTimeout(() => {
      const url = new URL(location.href), data = new URLSearchParams(new FormData(form));
      for (const [name, value] of [...data]) if (value === "") data.delete(name);
      url.search = data;
      go(url, {}, "same");
    }, 180);
  }
  if (field.dataset && field.dataset.pick) {
    clearTimeout(typing);
    typing = setTimeout(() => suggest(field), 180);
  }
  if (field.id === "palette-input") { clearTimeout(typing); typing = setTimeout(seek, 120); }
});

// A template goes where the cursor is, and nothing that was typed is lost.
async function insert(url, box) {
  for (const d of $$("details.menu[open]")) d.open = false;
  const to = $("[name=to]", box.form);
  if (to && to.value) url.searchParams.set("to", to.value); // whom it is filled in for
  const res = await fetch(url);
  const doc = new DOMParser().parseFromString(await res.text(), "text/html"), from = doc.getElementById(box.id);
  if (!res.ok || !from || !box.isConnected) { go(url); return; }
  const line = $("[name=subject]", box.form), theirs = $("[name=subject]", from.form);
  if (line && theirs && !line.value) line.value = theirs.value;
  const used = $("[name=template]", box.form), chosen = $("[name=template]", from.form);
  if (used && chosen) used.value = chosen.value; // its design goes with the text
  const whole = box.dataset.inserted === box.value || !box.unsent; // another template takes the place of the first
  box.focus();
  if (whole) box.value = from.value; else box.setRangeText(from.value, box.selectionStart, box.selectionEnd, "end");
  box.unsent = true;
  box.dataset.inserted = box.value;
  const open = $("[data-gaps]", from.form), at = box.value.indexOf($("[data-gap]", open)?.dataset.gap);
  $("[data-gaps]", box.form)?.replaceChildren(...open.childNodes);
  if (at >= 0) box.setSelectionRange(at, at + $("[data-gap]", box.form).dataset.gap.length); // to be filled in first
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

// == Who else reads this: asked every few seconds, said when one leaves
let here = 0;
async function present() {
  const box = $("[data-here]");
  if (!box || document.hidden) return;
  try {
    const res = await fetch(box.dataset.here, { method: "POST" });
    if (!res.ok || !box.isConnected) return;
    const doc = new DOMParser().parseFromString(await res.text(), "text/html");
    if (doc.body.innerHTML.trim() !== box.innerHTML.trim()) box.replaceChildren(...doc.body.childNodes);
  } catch { /* the stream says so */ }
}
setInterval(present, 8000);
addEventListener("pagehide", () => { if (here) navigator.sendBeacon(here + "?left=yes"); });

async function suggest(field) {
  let list = document.getElementById(field.id + "-list");
  if (!list) {
    list = document.createElement("datalist");
    list.id = field.id + "-list";
    field.after(list);
    field.setAttribute("list", list.id);
  }
  if (field.value.trim().length < 1) return;
  const res = await fetch("/search?only=" + encodeURIComponent(field.dataset.pick) + "&query=" + encodeURIComponent(field.value.split(" · ")[0]));
  if (!res.ok) return;
  const doc = new DOMParser().parseFromString(await res.text(), "text/html");
  list.replaceChildren(...$$("#hits .rows > li", doc).map((li) => {
    const option = document.createElement("option");
    const detail = $(".faint", li);
    option.value = $("a", li).textContent + (detail ? " · " + detail.textContent : "");
    return option;
  }));
}

// == Copy
addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 2000);
});
addEventListener("click", (event) => {
  if (event.target.closest("[data-switch-theme]")) {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    store.set("theme", root.dataset.theme);
  }
  for (const d of $$("details.menu[open]")) if (!d.contains(event.target)) d.open = false;
});

// == Ctrl-K
let palette, picked = 0, before;
function openPalette(text = "") {
  if (palette) return;
  before = document.activeElement;
  palette = document.createElement("div");
  palette.className = "veil";
  palette.innerHTML = '<div class="palette" role="dialog" aria-modal="true" aria-label="Search or create"><div><svg class="i" aria-hidden="true"><use href="#i-search"/></svg>' +
    '<input id="palette-input" type="text" role="combobox" aria-label="Search or create" aria-expanded="true" aria-controls="palette-hits" autocomplete="off" maxlength="200" placeholder="Search or create"><kbd>Esc</kbd></div>' +
    '<div id="palette-hits" role="listbox" aria-label="Found"></div><footer><span><kbd>↑</kbd> <kbd>↓</kbd> move</span><span><kbd>↵</kbd> open</span><span><kbd>?</kbd> all keys</span></footer></div>';
  document.body.append(palette);
  palette.addEventListener("mousedown", (event) => { if (event.target === palette) closePalette(); });
  $("#palette-input").value = text;
  $("#palette-input").focus();
  seek();
}
function closePalette() {
  if (!palette) return;
  palette.remove();
  palette = null;
  if (before && before.isConnected) before.focus();
}
let seeking = 0;
async function seek() {
  const mine = ++seeking, input = $("#palette-input");
  const res = await fetch("/search?query=" + encodeURIComponent(input.value.trim()));
  if (!res.ok || mine !== seeking || !palette) return;
  const doc = new DOMParser().parseFromString(await res.text(), "text/html");
  const box = $("#palette-hits");
  box.replaceChildren();
  let i = 0;
  for (const section of $$("#hits > .hits", doc)) {
    const group = document.createElement("div");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", $("h2", section).textContent);
    const kind = document.createElement("div");
    kind.className = "kind";
    kind.setAttribute("aria-hidden", "true");
    kind.textContent = $("h2", section).textContent;
    group.append(kind);
    for (const li of $$("li", section)) {
      const link = $("a", li), hit = document.createElement("a");
      hit.className = "hit";
      hit.href = link.getAttribute("href");
      hit.id = "hit-" + i++;
      hit.setAttribute("role", "option");
      hit.tabIndex = -1;
      const mark = $(".av, svg", li);
      if (mark) hit.append(document.importNode(mark, true));
      const words = document.createElement("span");
      words.className = "cut";
      words.append(document.importNode($("bdi", link), true));
      if ($(".faint", li)) words.append(" ", document.importNode($(".faint", li), true));
      hit.append(words);
      const more = document.createElement("span");
      more.className = "more";
      for (const bit of $$(".pill, .num", li)) more.append(document.importNode(bit, true));
      hit.append(more);
      group.append(hit);
    }
    box.append(group);
  }
  if (!i) { const p = document.createElement("p"); p.className = "none"; p.textContent = "Nothing found."; box.append(p); }
  pickHit(0);
}
function pickHit(n) {
  const hits = $$(".palette .hit");
  picked = Math.max(0, Math.min(n, hits.length - 1));
  hits.forEach((h, i) => h.setAttribute("aria-selected", String(i === picked)));
  if (hits[picked]) { hits[picked].scrollIntoView({ block: "nearest" }); $("#palette-input").setAttribute("aria-activedescendant", hits[picked].id); }
}

// == Keys
const places = { h: "/", i: "/inbox", c: "/contacts", u: "/customers", t: "/tasks", v: "/invoices", f: "/files", d: "/domains", r: "/review", a: "/activity", s: "/settings" };
let going = 0, rowAt = -1;
function rows() { return $$("#content tbody tr[data-row], #content .rows > li, #content .threads > li").filter((r) => $("a[href]", r)); }
function moveRow(step) {
  const near = $(`.decide [data-key-press="${step > 0 ? "j" : "k"}"]`); // in review the page has the order
  if (near) { near.click(); return; }
  const all = rows();
  if (!all.length) return;
  const focused = all.findIndex((r) => r.contains(document.activeElement));
  rowAt = Math.max(0, Math.min((focused >= 0 ? focused : rowAt) + step, all.length - 1));
  $("a[href]", all[rowAt]).focus();
}
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openPalette(); return; }
  if (palette) {
    if (event.key === "Escape") { event.preventDefault(); closePalette(); }
    if (event.key === "Tab") { event.preventDefault(); pickHit(picked + (event.shiftKey ? -1 : 1)); }
    if (event.key === "ArrowDown") { event.preventDefault(); pickHit(picked + 1); }
    if (event.key === "ArrowUp") { event.preventDefault(); pickHit(picked - 1); }
    if (event.key === "Enter") { event.preventDefault(); const hit = $$(".palette .hit")[picked]; if (hit) { const to = hit.href; closePalette(); ours(new URL(to)) ? go(to) : location.assign(to); } }
    return;
  }
  const field = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (field) {
    if (event.key === "Escape") { const cancel = field.form && $("[data-cancel]", field.form); if (cancel) { event.preventDefault(); cancel.click(); } else field.blur(); }
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && field.matches("form.write input:not([type=submit])")) { // a mail is sent by its button
      event.preventDefault();
      const all = $$("input:not([type=hidden]), textarea", field.form).filter((f) => f.offsetParent);
      all[all.indexOf(field) + 1]?.focus();
    }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && field.form) { event.preventDefault(); field.form.requestSubmit($("button.main", field.form)); }
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (going && Date.now() - going < 1500 && places[event.key]) { event.preventDefault(); going = 0; go(places[event.key]); return; }
  going = 0;
  const press = (selector) => {
    const found = $$(selector), b = found.find((one) => one.offsetParent) || found[0]; // what is seen, first
    if (!b) return;
    event.preventDefault();
    if (b.dataset.one !== undefined && ![...b.form.elements].some((e) => e.name === "id" && e.checked)) { // the row at hand
      const row = rows().find((r) => r.contains(document.activeElement)) || rows()[0], box = row && $('input[name="id"]', row);
      if (box) box.checked = true;
    }
    b.click();
    if (b.nodeName === "SUMMARY") $(".item, input:not([type=hidden]), select", b.parentNode)?.focus(); // a menu begins with its first entry
  };
  switch (event.key) {
    case "g": going = Date.now(); break;
    case "/": { event.preventDefault(); const q = $("#q"); if (q) { q.focus(); q.select(); } else openPalette(); break; }
    case "j": moveRow(1); break;
    case "k": moveRow(-1); break;
    case "x": { const row = document.activeElement.closest("tr, li:has(.pick)") || $(".queue .cur"); const box = row && $('input[name="id"][type="checkbox"]', row); if (box) box.click(); break; }
    case "c": press('[data-key-press~="c"], .head .btn.main'); break;
    case "r": { const box = $("form.write:not(:has([name=note])) textarea"); if (box) { event.preventDefault(); box.focus(); } else press('[data-key-press~="r"]'); break; }
    case "ArrowDown": case "ArrowUp": {
      const items = $$("details.menu[open] .item"), now = items.indexOf(document.activeElement);
      if (now >= 0) { event.preventDefault(); items[Math.max(0, Math.min(now + (event.key === "ArrowDown" ? 1 : -1), items.length - 1))].focus(); }
      break;
    }
    case "z": press('.toast button, [data-key-press~="z"]'); break;
    case "?": go("/keys"); break;
    case "Escape": { const reset = $(".sel [type=reset]"); if (reset) reset.click(); for (const d of $$("details.menu[open]")) d.open = false; break; }
    default: if (event.key.length === 1) press('[data-key-press~="' + CSS.escape(event.key) + '"]');
  }
});
// The field in the rail opens the palette when it is used, not when Tab passes by.
const find = $("#find"), roomy = () => matchMedia("(min-width: 720px)").matches;
find?.addEventListener("mousedown", (event) => { if (roomy()) { event.preventDefault(); openPalette(); } });
find?.addEventListener("input", () => { if (roomy()) { const text = find.value; find.value = ""; openPalette(text); } });

// == Live: one stream for all tabs, by whichever tab holds the lock
let connected = null, stale = 0, fresh;
const channel = "BroadcastChannel" in window ? new BroadcastChannel("desk") : null;
function state(on) {
  connected = on;
  const text = $("[data-live-state]");
  if (!text || on === null) return;
  text.textContent = on ? "Live" : "Not live; reload to see news";
  text.classList.toggle("live", on);
  text.classList.toggle("off", !on);
}
function news(lines) {
  const watch = ($("#content")?.dataset.watch || "").split(" ").filter(Boolean);
  const here = location.pathname;
  const relevant = lines.some((line) => {
    const [type, id] = line.split(" ");
    return type === "all" || watch.includes("*") || here.includes(id) || watch.some((w) => type.startsWith(w + "."));
  });
  if (!relevant) return;
  stale++;
  clearTimeout(fresh);
  // Many pages hear the same news: a little apart, they do not all ask at once.
  fresh = setTimeout(refresh, 60 + Math.random() * 240);
}
async function refresh() {
  if (document.hidden || palette || $("#content :is(details[open]:not([data-keeps] .towards), .preview-frame)") || asking()) { stale = 1; return; }
  stale = 0;
  const mine = asked, page = shownPages;
  try {
    const res = await fetch(location.href, { headers: { Accept: "text/html" } });
    const text = await res.text();
    if (page !== shownPages) { stale = 1; fresh = setTimeout(refresh, 300); return; } // another page by now, or a newer one
    if (res.ok && mine === asked && !asking() && new URL(res.url).pathname === location.pathname) show(text, location.href, "live");
  } catch { /* the stream says so */ }
}
// Somebody who is filling in a form is not disturbed.
const asking = () => { const f = document.activeElement; return f && f.form && posts(f.form) && f.type !== "checkbox" && !f.matches("button"); };
addEventListener("visibilitychange", () => { if (!document.hidden && stale) refresh(); });
addEventListener("focusout", () => setTimeout(() => { if (stale && !asking()) refresh(); }, 300));
function listen() {
  return new Promise((done) => {
    const stream = new EventSource("/live");
    const tell = (message) => { channel?.postMessage(message); hear(message); };
    stream.onopen = () => tell({ on: true });
    stream.onerror = () => { tell({ on: false }); if (stream.readyState === EventSource.CLOSED) setTimeout(done, 15000); };
    stream.addEventListener("news", (event) => tell({ lines: event.data.split("\n") }));
    stream.addEventListener("unread", (event) => tell({ unread: Number(event.data) }));
    stream.addEventListener("all", () => tell({ lines: ["all"] }));
    addEventListener("pagehide", () => stream.close());
  });
}
function hear(message) {
  if (message.lines) news(message.lines);
  if (message.unread !== undefined) window.ring?.(message.unread); // bell.js
  if (message.on !== undefined) { if (message.on && connected === false) refresh(); state(message.on); }
  if (message.ask && connected !== null && leading) channel.postMessage({ on: connected });
}
let leading = false;
if (channel) { channel.onmessage = (event) => hear(event.data); channel.postMessage({ ask: true }); }
if ($("[data-live-state]") && "EventSource" in window) {
  if (navigator.locks) navigator.locks.request("desk-live", async () => { leading = true; for (;;) await listen(); });
  else listen();
}

history.replaceState(history.state, "");
ready("page");
cleanAddress();
