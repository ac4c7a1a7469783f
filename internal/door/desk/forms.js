// What forms gain with scripts: files with progress, values put where the cursor is, drafts, and lines that save
// themselves. It needs desk.js before it.

// == A placeholder goes into the field of its step that was used last.
let used;
addEventListener("focusin", (event) => { if (event.target.matches("input, textarea")) used = event.target; });
addEventListener("click", (event) => {
  const button = event.target.closest("[data-put]");
  if (!button) return;
  const step = button.closest(".move"), typed = "textarea, input:not([type=hidden])";
  const field = used && used.isConnected && step.contains(used) ? used : $(typed, step);
  if (!field) return;
  field.focus();
  field.setRangeText(button.dataset.put, field.selectionStart, field.selectionEnd, "end");
  field.unsent = true;
});

// == Files: dropped or chosen, with progress
function upload(to, data, done) {
  const bar = document.createElement("div");
  bar.className = "toast";
  bar.innerHTML = '<span role="status">Uploading…</span><progress max="100" value="0" aria-label="Upload"></progress>';
  $("#toasts").replaceChildren(bar);
  const x = new XMLHttpRequest();
  x.open("POST", to);
  x.upload.onprogress = (e) => { if (e.lengthComputable) { $("progress", bar).value = 100 * e.loaded / e.total; $("span", bar).textContent = "Uploading… " + Math.round(100 * e.loaded / e.total) + "%"; } };
  x.onerror = () => { $("span", bar).textContent = "The upload was cut off. Try again."; };
  x.onload = () => done(x);
  x.send(data);
}
function uploadTo(form, files) {
  const queue = [...files];
  const next = (x) => {
    const file = queue.shift();
    if (!file) { if (x) { show(x.responseText, x.responseURL, "page"); history.pushState({}, "", x.responseURL); cleanAddress(); } return; }
    const data = new FormData(form);
    data.delete("file");
    data.append("file", file, file.name); // at the end, when the other fields are known
    upload(form.getAttribute("action"), data, next);
  };
  next();
}
addEventListener("submit", (event) => {
  if (event.target.dataset.upload === undefined) return;
  event.preventDefault();
  uploadTo(event.target, $("input[type=file]", event.target).files);
});
addEventListener("change", (event) => { if (event.target.type === "file" && event.target.form && event.target.form.dataset.upload === "now") event.target.form.requestSubmit(); });
addEventListener("dragover", (event) => { const box = event.target.closest && event.target.closest("[data-drop]"); if (box) { event.preventDefault(); box.classList.add("over"); } });
addEventListener("dragleave", (event) => { const box = event.target.closest && event.target.closest("[data-drop]"); if (box && !box.contains(event.relatedTarget)) box.classList.remove("over"); });
addEventListener("drop", (event) => {
  const box = event.target.closest && event.target.closest("[data-drop]");
  if (!box) return;
  event.preventDefault();
  box.classList.remove("over");
  const form = $("form[data-upload]");
  if (form) uploadTo(form, event.dataTransfer.files);
});

// == Set-up: the letterhead changes while it is typed
let papered;
addEventListener("input", (event) => {
  const page = event.target.closest(".begin"), form = event.target.form;
  if (!page || !form || form.dataset.upload !== undefined) return;
  clearTimeout(papered);
  papered = setTimeout(() => {
    const typed = new URLSearchParams();
    for (const field of $$("form:not([data-upload]) :is(textarea, select, input:not([type=hidden]))", page)) if (field.type !== "radio" || field.checked) typed.set(field.name, field.value);
    if (typed.get("accentColor") === "other") typed.set("accentColor", typed.get("other"));
    const frame = $("iframe", page);
    frame.contentWindow.location.replace(frame.src + "?" + typed);
  }, 300);
});

// == Drafts: what is typed into a form is kept by the server and comes back
const texts = "textarea, input:not([type]), input[type=text], input[type=email], input[type=url], input[type=number], input[type=tel], input[type=date], input[type=datetime-local]";
const worth = (form) => form && posts(form) && form.closest("#content") && form.dataset.nodraft === undefined && !$("[type=password]", form) &&
  form.dataset.lines === undefined && ($("textarea", form) || $$(texts, form).length > 1);
const placeOf = (form) => new URL(form.getAttribute("action") || location.href, location.href).pathname;
// This browser has a copy until the server says that it has the draft: the server may be down, or the session over.
const copies = "draft " + ($("#content")?.dataset.person || "") + " ";
// A draft says which version it goes on from: what another tab or device has typed meanwhile is then joined to it.
function saveDraft(form) {
  if (!form.typed || form.sending || !form.isConnected) return;
  form.typed = false;
  const place = placeOf(form), version = Math.random().toString(36).slice(2);
  const unsent = store.get(copies + place), before = new URLSearchParams(unsent || "");
  const from = unsent ? [...before.getAll("from"), before.get("version")] : [form.version || ""];
  if (unsent && form.settled && before.get("version") !== form.version) put(form, grouped(before));
  let data = new URLSearchParams();
  if (form.settled) {
    const isText = new Set($$(texts, form).map((field) => field.name));
    for (const [name, value] of new FormData(form)) if (typeof value === "string") data.append((isText.has(name) ? "t." : "f.") + name, value);
    for (const field of $$(texts, form)) field.kept = field.value;
  } else { // its draft is not back yet: only what was typed here is added to that
    data = before;
    for (const field of $$(texts, form)) {
      if (!field.name || !field.value || field.value === field.defaultValue) continue;
      const name = (data.has("t." + field.name) ? "t." : "m.") + field.name, was = data.get(name) || "";
      if (!was.includes(field.value)) data.set(name, (was ? was + (field.nodeName === "TEXTAREA" ? "\n" : " ") : "") + field.value);
    }
  }
  data.set("place", place);
  data.set("version", form.version = version);
  data.delete("from");
  for (const v of from.slice(-50)) data.append("from", v);
  store.set(copies + place, data.toString());
  sendCopy(place);
}
async function sendCopy(place) {
  const body = store.get(copies + place);
  if (!body) return false;
  const sent = await fetch("/draft", { method: "POST", body: new URLSearchParams(body), keepalive: body.length < 60000 }).catch(() => ({}));
  if (!sent.ok || sent.redirected) return false;
  if (store.get(copies + place) === body) store.drop(copies + place);
  const { fields, version } = await sent.json();
  if (version !== new URLSearchParams(body).get("version")) tell(place, fields, version, true);
  return true;
}
// tell puts what was typed elsewhere into the forms of a place. One that waits for its draft gets it with that.
function tell(place, fields, version, settled) {
  for (const form of $$("#content form")) if (worth(form) && placeOf(form) === place && (form.settled || !settled)) { put(form, fields); form.version = version; }
}
// A form that was sent has no draft. One that waits for its sender to sign in has a copy, until that is done.
addEventListener("carriedout", (event) => {
  store.drop(copies + event.detail);
  for (const form of $$("#content form")) if (placeOf(form) === event.detail) form.typed = false;
});
addEventListener("kept", (event) => {
  const body = store.get(copies + event.detail);
  if (body) { store.set("kept " + copies + event.detail, body); store.drop(copies + event.detail); }
});
function settleKept() {
  for (const key of store.keys("kept " + copies)) {
    if (!$(".toast")) store.set(key.slice(5), store.get(key));
    store.drop(key);
  }
}
let saving;
addEventListener("input", (event) => {
  const form = event.target.form;
  if (!worth(form)) return;
  form.typed = true;
  clearTimeout(saving);
  saving = setTimeout(() => saveDraft(form), 500);
});
const saveAll = () => { for (const form of $$("#content form")) if (form.typed) saveDraft(form); };
addEventListener("pagehide", saveAll);
addEventListener("leaving", saveAll); // another page of the desk
addEventListener("unsent", saveAll); // the server did not answer
addEventListener("visibilitychange", () => { if (document.hidden) saveAll(); });

// put writes a draft into its form. What was typed here meanwhile stays, below what the draft has.
function put(form, fields) {
  let changed = false;
  for (const field of form.elements) {
    if (field.name === "once" && fields.once) field.value = fields.once[0]; // whoever sends it again does nothing twice
    if (!field.name || ["hidden", "file", "submit", "button", "password"].includes(field.type) || field.nodeName === "BUTTON") continue;
    const values = fields[field.name], ticks = field.type === "checkbox" || field.type === "radio";
    const before = ticks ? field.checked : field.value;
    if (ticks) field.checked = !!values && values.includes(field.value);
    else if (!values) continue;
    else {
      const kept = values.length > 1 && field.nodeName !== "SELECT" ? values[$$("[name=\"" + CSS.escape(field.name) + "\"]", form).indexOf(field)] ?? field.value : values[0];
      const typed = field.matches(texts) && field.value !== (field.kept ?? field.defaultValue) && !kept.includes(field.value);
      if (!typed) field.value = kept;
      else if (!field.value.includes(kept)) field.value = kept + (field.nodeName === "TEXTAREA" ? "\n" : " ") + field.value;
      field.kept = kept;
    }
    if (before !== (ticks ? field.checked : field.value)) changed = field.unsent = true;
    if (field.dataset.grow !== undefined) grow(field);
  }
  return changed;
}
const grouped = (typed) => { const out = {}; for (const [name, value] of typed) if (/^[fmt]\./.test(name)) (out[name.slice(2)] ||= []).push(value); return out; };
addEventListener("storage", (event) => { // another tab has the same form open
  if (!event.newValue || !event.key.startsWith(copies)) return;
  const typed = new URLSearchParams(event.newValue);
  tell(typed.get("place"), grouped(typed), typed.get("version"));
});

// restore puts a draft back into its form, and says so.
async function restore(form) {
  const res = await fetch("/draft?place=" + encodeURIComponent(placeOf(form)));
  if (!res.ok || !form.isConnected) return;
  const { fields, saved, version } = await res.json();
  const changed = put(form, fields);
  form.version = version;
  form.settled = true;
  form.dispatchEvent(new CustomEvent("restored", { bubbles: true, detail: fields }));
  if (!changed) return;
  for (const box of $$("details", form)) if ($$(texts, box).some((f) => f.unsent)) box.open = true;
  const said = document.createElement("p");
  said.className = "note draft-note";
  said.setAttribute("role", "status");
  said.append("What you typed " + saved + " is back. ");
  const away = Object.assign(document.createElement("button"), { type: "button", className: "btn slim", textContent: "Discard" });
  away.addEventListener("click", async () => {
    await fetch("/draft/discard", { method: "POST", body: new URLSearchParams({ place: placeOf(form) }) });
    form.typed = false;
    for (const f of form.elements) f.unsent = f.typing = false;
    go(location.href, {}, "back");
  });
  said.append(away);
  form.prepend(said);
}
async function restoreDrafts() {
  const places = ($("#content")?.dataset.drafts || "").split(" ");
  for (const key of store.keys(copies)) {
    const place = key.slice(copies.length);
    if (await sendCopy(place)) { places.push(place); continue; }
    const body = store.get(key); // the server does not take it now
    for (const form of $$("#content form")) if (body && worth(form) && placeOf(form) === place) put(form, grouped(new URLSearchParams(body)));
  }
  for (const form of $$("#content form")) if (!places.includes(placeOf(form))) form.settled = true;
  for (const form of $$("#content form")) if (!form.looked && worth(form) && places.includes(placeOf(form)) && !$("[aria-invalid]", form)) { form.looked = true; restore(form); }
}
addEventListener("shown", restoreDrafts);
settleKept();
restoreDrafts();

// == Lines that save themselves
// A line that is still being written is not sent: the server would refuse the half of it.
const halfLine = (form) => $$("tr", form).some((tr) => {
  const what = $("[name=description]", tr), price = $("[name=price]", tr);
  if (!what) return false;
  return what.value.trim() ? !price.value.trim() : !what.defaultValue && !!price.value.trim();
});
// What changed while the lines were being sent is sent after them, unless somebody is typing; then a link that was pressed is followed.
function sendLines(form) {
  if (!form.isConnected || form.sending || [...form.elements].some((f) => f.typing)) return;
  if (form.again && !halfLine(form)) { form.again = false; form.requestSubmit(); return; }
  const next = form.next;
  form.next = null;
  if (next && !$(".wrong", form)) go(next);
}
// Whoever leaves a line unfinished is told what is missing.
addEventListener("focusout", (event) => {
  const form = event.target.form;
  if (!form || form.dataset.lines === undefined || !document.hasFocus() || form.contains(event.relatedTarget)) return;
  event.target.typing = false;
  if (halfLine(form)) form.requestSubmit(); else sendLines(form);
});
