"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const filters = $("filters");
  const records = JSON.parse($("records").textContent);
  const items = [...document.querySelectorAll("[data-f]")].map((element) => ({
    element,
    thread: element.dataset.thread || "",
    run: element.dataset.run || "",
    calls: (element.dataset.calls || "").split("\u001f"),
    severity: element.dataset.severity || "",
    kind: element.dataset.f,
    text: (element.textContent + "\n" + (element.dataset.calls || "") + "\n" + (element.dataset.run || "")).toLowerCase(),
  }));
  const ranks = { error: 0, warning: 1, info: 2 };

  function apply() {
    const want = Object.fromEntries(new FormData(filters));
    const words = want.text.trim().toLowerCase();
    const seen = {};
    for (const item of items) {
      const fits =
        (!want.thread || item.thread === want.thread) &&
        (!want.run || item.run === want.run) &&
        (!want.call || item.calls.includes(want.call)) &&
        (!want.severity || item.kind !== "finding" || ranks[item.severity] <= ranks[want.severity]) &&
        (!words || item.text.includes(words));
      if (item.kind === "step") item.element.classList.toggle("off", !fits);
      else item.element.hidden = !fits;
      if (fits) seen[item.kind] = (seen[item.kind] || 0) + 1;
    }
    for (const ladder of document.querySelectorAll("[data-ladder]"))
      ladder.hidden = Boolean(want.thread) && ladder.dataset.ladder !== want.thread;
    $("shown").textContent = `${seen.finding || 0} findings, ${seen.call || 0} calls, ${seen.row || 0} steps shown`;
  }

  function show(id) {
    const record = records[id];
    if (!record) return;
    $("record-title").textContent = record[0];
    $("record-text").textContent = record[1];
    $("record").showModal();
  }

  filters.hidden = false;
  filters.addEventListener("input", apply);
  filters.addEventListener("reset", () => setTimeout(apply));
  filters.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("click", (event) => {
    const step = event.target.closest("[data-record]");
    if (step) show(step.dataset.record);
  });
  document.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target.matches && event.target.matches("g[data-record]")) {
      event.preventDefault();
      show(event.target.dataset.record);
    }
  });
  $("close").addEventListener("click", () => $("record").close());
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.proof")) details.open = true;
  });
  apply();
})();
