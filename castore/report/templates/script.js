"use strict";
// The page is whole without this. It adds: copying, sorting, finding in a table, and reading a chart.
(() => {
  const said = document.getElementById("said");
  const say = (words) => { said.textContent = words; };

  const copied = async (node) => {
    try {
      await navigator.clipboard.writeText(node.textContent);
      return true;
    } catch {
      const range = document.createRange();
      range.selectNodeContents(node);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      return document.execCommand("copy");
    }
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const done = await copied(button.previousElementSibling);
    button.textContent = done ? "Copied" : "Selected";
    say(done ? "Copied" : "The command is selected");
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  for (const each of document.querySelectorAll("button.copy, .find")) each.hidden = false;

  const key = (row, at) => {
    const cell = row.cells[at];
    const value = cell.dataset.v;
    return value === undefined ? cell.textContent.trim() : Number(value);
  };
  for (const head of document.querySelectorAll("table.sortable thead th:not(.fixed)")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descends = head.getAttribute("aria-sort") !== "descending" && head.classList.contains("n")
        || head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descends ? "descending" : "ascending");
      const body = head.closest("table").tBodies[0];
      const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
      const order = ([a], [b]) => (typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0);
      rows.sort((a, b) => (descends ? order(b, a) : order(a, b)));
      body.append(...rows.map(([, row]) => row));
    });
  }

  for (const find of document.querySelectorAll(".find input")) {
    const rows = [...document.getElementById(find.getAttribute("aria-controls")).tBodies[0].rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const count = find.closest(".find").querySelector("output");
    find.addEventListener("input", () => {
      const wanted = find.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !texts[at].includes(wanted);
        shown += !row.hidden;
      });
      count.textContent = wanted ? `${shown} of ${rows.length}` : "";
    });
  }

  for (const chart of document.querySelectorAll(".chart")) {
    const columns = [...chart.querySelectorAll(".col")];
    const readout = chart.parentNode.querySelector(".readout");
    let at = -1;
    const read = (to) => {
      if (columns[at]) columns[at].classList.remove("is-read");
      at = to;
      readout.classList.toggle("is-read", Boolean(columns[at]));
      if (!columns[at]) return;
      columns[at].classList.add("is-read");
      readout.textContent = columns[at].querySelector("title").textContent;
    };
    const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    chart.tabIndex = 0;
    readout.setAttribute("aria-live", "polite");
    readout.textContent = "Point at the chart, or move to it and use the arrow keys.";
    chart.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      read(Math.max(0, Math.min(columns.length - 1, at + step)));
    });
    chart.addEventListener("pointerover", (event) => {
      const column = event.target.closest(".col");
      if (column) read(columns.indexOf(column));
    });
    chart.addEventListener("pointerleave", () => read(-1));
  }
})();
