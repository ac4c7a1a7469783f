// What lists gain with scripts: many rows chosen at once, a series that goes on by
// itself, and cards that are dragged. It needs desk.js before it.

// == Choosing rows
const idBoxes = (form) => [...form.elements].filter((b) => b.name === "id" && b.type === "checkbox"); // also those that stand elsewhere
function chosen() {
  const form = $("[data-choose]");
  if (!form) return;
  const boxes = idBoxes(form), n = boxes.filter((b) => b.checked).length;
  for (const b of boxes) b.closest("tr, li, article")?.classList.toggle("on", b.checked);
  const all = $("[data-all]", form), text = $("[data-chosen]"), whole = $('[name="all"]', form);
  if (all) { all.checked = n > 0 && n === boxes.length; all.indeterminate = n > 0 && n < boxes.length; }
  if (text) text.textContent = whole?.checked ? "" : n + " selected";
}
// With Shift, a click chooses all rows from the last one that was clicked.
let lastBox = null;
addEventListener("click", (event) => {
  const box = event.target;
  if (!box.matches?.('input[type="checkbox"][name="id"]') || !box.form?.matches("[data-choose]")) return;
  const boxes = idBoxes(box.form), from = boxes.indexOf(lastBox), to = boxes.indexOf(box);
  if (event.shiftKey && from >= 0) for (const b of boxes.slice(Math.min(from, to), Math.max(from, to) + 1)) b.checked = box.checked;
  lastBox = box;
  chosen();
});
addEventListener("change", (event) => {
  const box = event.target;
  if (box.dataset && box.dataset.all !== undefined) for (const b of idBoxes(box.form)) b.checked = box.checked;
  chosen();
});
addEventListener("reset", () => setTimeout(chosen));

// == The board: a card is dragged to another lane, which presses the button that leads there
let held = null;
addEventListener("dragstart", (event) => {
  held = event.target.closest?.(".card[draggable]") || null;
  if (held) { held.classList.add("held"); event.dataTransfer.effectAllowed = "move"; event.dataTransfer.setData("text/plain", held.dataset.row); }
});
addEventListener("dragover", (event) => {
  const lane = held && event.target.closest?.("[data-lane]");
  for (const l of $$("[data-lane]")) l.classList.toggle("over", l === lane && !l.contains(held));
  if (lane) event.preventDefault();
});
addEventListener("drop", (event) => {
  const lane = held && event.target.closest?.("[data-lane]");
  if (!lane) return;
  event.preventDefault();
  $('button[value="' + lane.dataset.lane + '"]', held)?.click();
});
addEventListener("dragend", () => { held?.classList.remove("held"); held = null; for (const l of $$("[data-lane].over")) l.classList.remove("over"); });

// == What each new page needs
function readyRows() {
  chosen();
  for (const card of $$("[data-board] .card")) if ($("form", card)) card.draggable = true;
  const on = $("form[data-go-on]"); // the next part of a series
  if (on) setTimeout(() => { if (on.isConnected) on.requestSubmit(); }, 30);
}
addEventListener("shown", readyRows);
readyRows();
