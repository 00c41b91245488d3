"use strict";

// Without this script the tables are all there; with it they can be sorted and filtered.
const worthAFilter = 5;
const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function valueOf(row, column, isNumber) {
  const cell = row.cells[column];
  const value = cell.dataset.v ?? cell.textContent.trim();
  return isNumber ? (value === "" ? -Infinity : Number(value)) : value;
}

function sortBy(table, header) {
  const column = header.cellIndex;
  const isNumber = header.classList.contains("n");
  const before = header.ariaSort;
  // What a person wants first of numbers are the largest, of names the first.
  const descending = before === "none" ? isNumber : before === "ascending";
  for (const other of header.parentNode.cells) other.ariaSort = "none";
  header.ariaSort = descending ? "descending" : "ascending";
  const rows = Array.from(table.tBodies[0].rows, (row) => [valueOf(row, column, isNumber), row]);
  rows.sort(([a], [b]) => (isNumber ? Math.sign(a - b) || 0 : order.compare(a, b)));
  if (descending) rows.reverse();
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function makeSortable(table) {
  for (const header of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.addEventListener("click", () => sortBy(table, header));
    header.replaceChildren(button);
    header.ariaSort = "none";
  }
}

function makeFilter(box) {
  const items = Array.from(box.querySelectorAll(box.dataset.filter));
  if (items.length < worthAFilter) return;
  const bar = document.createElement("div");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("output");
  bar.className = "filter";
  input.type = "search";
  label.append("Filter ", input);
  bar.append(label, count);
  let texts;
  input.addEventListener("input", () => {
    texts ??= items.map((item) => item.textContent.toLowerCase());
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    items.forEach((item, place) => {
      item.hidden = !texts[place].includes(wanted);
      shown += !item.hidden;
    });
    count.textContent = wanted ? `${shown} of ${items.length}` : "";
  });
  box.before(bar);
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("[data-filter]").forEach(makeFilter);
