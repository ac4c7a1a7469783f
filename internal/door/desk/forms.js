// What forms gain with scripts: files with progress, and placeholders put where the
// cursor is. It needs desk.js before it.
"use strict";

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

// == Drafts: what is typed into a form is kept by the server and comes back
const texts = "textarea, input:not([type]), input[type=text], input[type=email], input[type=url], input[type=number], input[type=tel], input[type=date], input[type=datetime-local]";
const worth = (form) => form && posts(form) && form.closest("#content") && form.dataset.nodraft === undefined && !$("[type=password]", form) &&
  form.dataset.lines === undefined && ($("textarea", form) || $$(texts, form).length > 1);
const placeOf = (form) => new URL(form.getAttribute("action") || location.href, location.href).pathname;
function saveDraft(form) {
  if (!form.typed || form.sending) return;
  form.typed = false;
  const data = new URLSearchParams({ place: placeOf(form) });
  for (const [name, value] of new FormData(form)) if (typeof value === "string" && name !== "once") data.append("f." + name, value);
  fetch("/draft", { method: "POST", body: data, keepalive: data.toString().length < 60000 }).catch(() => { form.typed = true; });
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
addEventListener("visibilitychange", () => { if (document.hidden) saveAll(); });

// restore puts a draft back into its form, and says so.
async function restore(form) {
  const res = await fetch("/draft?place=" + encodeURIComponent(placeOf(form)));
  if (!res.ok || !form.isConnected || form.typed) return;
  const { fields, saved } = await res.json();
  let changed = false;
  for (const field of form.elements) {
    if (!field.name || ["hidden", "file", "submit", "button", "password"].includes(field.type) || field.nodeName === "BUTTON") continue;
    const values = fields[field.name];
    const before = field.type === "checkbox" || field.type === "radio" ? field.checked : field.value;
    if (field.type === "checkbox" || field.type === "radio") field.checked = !!values && values.includes(field.value);
    else if (values) field.value = values.length > 1 && field.nodeName !== "SELECT" ? values[$$("[name=\"" + CSS.escape(field.name) + "\"]", form).indexOf(field)] ?? field.value : values[0];
    else continue;
    if (before !== (field.type === "checkbox" || field.type === "radio" ? field.checked : field.value)) changed = field.unsent = true;
    if (field.dataset.grow !== undefined) grow(field);
  }
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
function restoreDrafts() {
  const places = ($("#content")?.dataset.drafts || "").split(" ");
  for (const form of $$("#content form")) if (!form.looked && worth(form) && places.includes(placeOf(form)) && !$("[aria-invalid]", form)) { form.looked = true; restore(form); }
}
addEventListener("shown", restoreDrafts);
restoreDrafts();
