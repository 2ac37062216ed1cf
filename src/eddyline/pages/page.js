for (const head of document.querySelectorAll("th[data-sort] button")) {
  head.addEventListener("click", () => {
    const cell = head.parentElement, table = cell.closest("table"), place = cell.cellIndex;
    const down = cell.getAttribute("aria-sort") !== "descending";
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[place].dataset.value ?? row.cells[place].textContent;
    const compare = cell.dataset.sort === "number" ? (a, b) => a - b : (a, b) => a.localeCompare(b);
    const rows = [...table.tBodies[0].rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
    table.tBodies[0].append(...rows);
  });
}
