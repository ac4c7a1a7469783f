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
