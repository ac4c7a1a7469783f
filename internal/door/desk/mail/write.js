// Writing mail: marks by buttons and keys, what "/" puts in, and how the reader will see it. What is written stays a
// text; all of it works without this script too, but for the marks, which can be typed. It needs desk.js.
"use strict";

(() => {
  const boxOf = (node) => node.closest?.("textarea[data-marks]") || (node.form || node.closest?.("form"))?.querySelector("textarea[data-marks]");

  // type puts a text in place of what is selected, in a way that Ctrl+Z takes back.
  function type(box, text) {
    box.focus();
    if (document.execCommand(text ? "insertText" : "delete", false, text)) return;
    box.setRangeText(text, box.selectionStart, box.selectionEnd, "end");
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // == Marks
  function wrap(box, mark) {
    const text = box.value;
    let from = box.selectionStart, to = box.selectionEnd;
    while (from < to && /\s/.test(text[from])) from++;
    while (from < to && /\s/.test(text[to - 1])) to--;
    const n = mark.length, inside = text.slice(from, to);
    if (text.slice(from - n, from) === mark && text.slice(to, to + n) === mark) { // it is marked: take the marks away
      box.setSelectionRange(from - n, to + n);
      type(box, inside);
      box.setSelectionRange(from - n, to - n);
      return;
    }
    box.setSelectionRange(from, to);
    type(box, mark + inside + mark);
    box.setSelectionRange(from + n, to + n);
  }
  function begin(box, mark) {
    const from = box.value.lastIndexOf("\n", box.selectionStart - 1) + 1;
    let to = box.value.indexOf("\n", Math.max(from, box.selectionEnd - (box.selectionEnd > box.selectionStart ? 1 : 0)));
    if (to < 0) to = box.value.length;
    const lines = box.value.slice(from, to).split("\n");
    const marked = lines.every((l) => l.startsWith(mark));
    const made = lines.map((l) => marked ? l.slice(mark.length) : mark + l).join("\n");
    box.setSelectionRange(from, to);
    type(box, made);
    box.setSelectionRange(lines.length > 1 ? from : from + made.length, from + made.length);
  }
  function link(box) {
    const from = box.selectionStart, words = box.value.slice(from, box.selectionEnd);
    const address = /^(https?:\/\/|mailto:)\S+$/.test(words);
    type(box, address ? "[](" + words + ")" : "[" + words + "](https://)");
    const at = address || !words ? from + 1 : from + words.length + 3;
    box.setSelectionRange(at, address || !words ? at : at + 8);
  }
  const marks = {
    bold: (box) => wrap(box, "**"), italic: (box) => wrap(box, "_"), link,
    list: (box) => begin(box, "- "), quote: (box) => begin(box, "> "),
    plus: (box) => type(box, (/(^|\s)$/.test(box.value.slice(0, box.selectionStart)) ? "" : " ") + "/"),
  };
  addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-mark]"), gap = event.target.closest?.("[data-gap]");
    const box = (button || gap) && boxOf(button || gap);
    if (!box) return;
    box.focus();
    if (button) marks[button.dataset.mark](box);
    else pick(box, gap.dataset.gap);
  });

  // == What a template left open: chosen by a press, gone once it is filled in
  function pick(box, mark) {
    const at = box.value.indexOf(mark);
    if (at >= 0) box.setSelectionRange(at, at + mark.length);
  }
  function gaps(box) {
    const text = box.value + "\n" + ($("[name=subject]", box.form)?.value || "");
    let open = 0;
    for (const mark of $$("[data-gap]", box.form)) { mark.hidden = !text.includes(mark.dataset.gap); open += mark.hidden ? 0 : 1; }
    const said = $("[data-gaps]", box.form);
    if (said) said.hidden = !open;
  }

  // == "/" at the beginning of a word
  let menu = null, asked = 0, waiting, left = -1;
  const close = () => {
    if (!menu) return;
    menu.list.remove();
    for (const name of ["aria-controls", "aria-activedescendant"]) menu.box.removeAttribute(name);
    menu = null;
  };
  // slash is where the "/" before the cursor is, and the words after it.
  function slash(box) {
    const found = /(?:^|\s)\/((?:[^\s/][^\n/]{0,39})?)$/.exec(box.value.slice(0, box.selectionStart));
    return found && box.selectionStart === box.selectionEnd ? { from: box.selectionStart - found[1].length - 1, words: found[1].trim() } : null;
  }
  function look(box) {
    const at = slash(box);
    if (!at || at.from === left) { if (!at) left = -1; close(); return; }
    clearTimeout(waiting);
    waiting = setTimeout(() => offer(box), 120);
  }
  async function offer(box) {
    const mine = ++asked, at = slash(box);
    if (!at) { close(); return; }
    const address = new URL(box.dataset.marks, location.href);
    address.searchParams.set("query", at.words);
    for (const name of ["to", "contactId"]) { const field = $(`[name=${name}]`, box.form); if (field?.value) address.searchParams.set(name, field.value); }
    const res = await fetch(address);
    if (!res.ok || mine !== asked || !box.isConnected || slash(box)?.from !== at.from) return;
    const found = new DOMParser().parseFromString(await res.text(), "text/html").body;
    const models = $$("a[data-insert]", box.form).filter((a) => a.textContent.toLowerCase().includes(at.words.toLowerCase())).slice(0, 5);
    close();
    if (models.length) found.append(group(models));
    if (!found.children.length) return;
    const list = document.createElement("div");
    list.className = "puts";
    list.id = "puts";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Put in");
    list.append(...found.childNodes);
    box.after(list);
    menu = { box, list, from: at.from, options: $$("[role=option]", list), now: 0 };
    menu.options.forEach((o, i) => { o.id = "put-" + i; });
    box.setAttribute("aria-controls", "puts");
    move(0);
  }
  // group offers the templates of the form's own menu.
  function group(models) {
    const box = document.createElement("div"), head = document.createElement("div");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Templates");
    head.className = "kind";
    head.setAttribute("aria-hidden", "true");
    head.textContent = "Templates";
    box.append(head);
    for (const a of models) {
      const option = document.createElement("div");
      option.className = "hit";
      option.setAttribute("role", "option");
      option.dataset.href = a.href;
      option.append(...[...a.childNodes].map((n) => n.cloneNode(true)));
      box.append(option);
    }
    return box;
  }
  function move(n) {
    menu.now = (n + menu.options.length) % menu.options.length;
    menu.options.forEach((o, i) => o.setAttribute("aria-selected", String(i === menu.now)));
    menu.options[menu.now].scrollIntoView({ block: "nearest" });
    menu.box.setAttribute("aria-activedescendant", menu.options[menu.now].id);
  }
  function choose(option) {
    const { box, from } = menu, file = $("template", option), to = option.dataset.href;
    close();
    box.setSelectionRange(from, box.selectionStart);
    type(box, option.dataset.text || "");
    if (file) $("[data-kept]", box.form).append(document.importNode(file.content, true), " ");
    if (to) insert(new URL(to), box);
  }
  addEventListener("mousedown", (event) => {
    const option = event.target.closest?.("#puts [role=option]");
    if (menu && option) { event.preventDefault(); choose(option); } else if (!event.target.closest?.("#puts")) close();
  });
  addEventListener("input", (event) => {
    const box = boxOf(event.target);
    if (!box) return;
    gaps(box);
    if (box === event.target) look(box);
  });
  addEventListener("focusout", (event) => { if (menu && event.target === menu.box) close(); });

  // Before desk.js, which has other uses for Ctrl+K, Enter and Escape.
  addEventListener("keydown", (event) => {
    const box = event.target.closest?.("textarea[data-marks]");
    if (!box || !event.key || event.isComposing) return;
    const done = () => { event.preventDefault(); event.stopImmediatePropagation(); };
    if (menu && menu.box === box && !event.ctrlKey && !event.metaKey) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) { done(); move(menu.now + step); return; }
      if (event.key === "Enter" || event.key === "Tab") { done(); choose(menu.options[menu.now]); return; }
      if (event.key === "Escape") { done(); left = menu.from; close(); return; }
    }
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const mark = { b: "bold", i: "italic", k: "link" }[event.key.toLowerCase()];
    if (mark) { done(); marks[mark](box); }
  }, true);

  // == Preview: in a frame of the form
  addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-preview]");
    if (!button) return;
    let frame = $("iframe[name=preview]", button.form);
    if (frame && button.getAttribute("aria-expanded") === "true") {
      event.preventDefault();
      frame.parentNode.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    const paper = document.createElement("div");
    paper.className = "kept preview-frame";
    frame = Object.assign(document.createElement("iframe"), { name: "preview", className: "mailpage", title: "The mail as its reader will see it" });
    frame.setAttribute("sandbox", "allow-popups allow-popups-to-escape-sandbox");
    paper.append(frame);
    $("footer", button.form).before(paper);
    button.setAttribute("formtarget", "preview");
    button.setAttribute("aria-expanded", "true");
  });

  // == A form that comes back has its files
  addEventListener("restored", async (event) => {
    const form = event.target, asked = new URLSearchParams();
    for (const name of ["file-kept", "invoice-kept"]) for (const ref of event.detail[name] || []) if (!$(`[name="${name}"][value="${CSS.escape(ref)}"]`, form)) asked.append(name, ref);
    if (!asked.size) return;
    const res = await fetch("/inbox/kept?" + asked);
    if (res.ok && form.isConnected) $("[data-kept]", form)?.append(...new DOMParser().parseFromString(await res.text(), "text/html").body.childNodes);
  });
})();
