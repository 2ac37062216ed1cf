for (const table of document.querySelectorAll("table.searched")) {
  const rows = [...table.tBodies[0].rows], line = document.createElement("div"), said = document.createElement("span");
  const field = Object.assign(document.createElement("input"), { type: "search", placeholder: "Search", className: "search" });
  field.setAttribute("aria-label", "Search in this table");
  said.setAttribute("aria-live", "polite");
  line.className = "searching";
  line.append(field, said);
  (table.closest(".tall") ?? table).before(line);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      found += !row.hidden;
    }
    said.textContent = words.length ? `${found} of ${rows.length}` : "";
  });
}
const openTarget = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  if (target.tagName === "TR") for (const part of target.querySelectorAll("details")) part.open = true;
  target.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", openTarget);
for (const node of document.querySelectorAll("a.node")) node.addEventListener("click", () => setTimeout(openTarget));
openTarget();
