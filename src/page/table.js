// All experiments in a table that sorts and filters.

const thresholdText = experiment => Object.entries(thresholdsOf(experiment.options))
  .map(([layer, threshold]) => `${layer}\u00a0${threshold}`).join(", ");

// {label, value: what it sorts by, write: what it shows}
const result = (label, key, write) => ({label, isNumber: true, value: experiment => number(experiment, key), write});
const mainColumns = [
  {label: "experiment", value: experiment => experiment.name, write: String},
  {label: "rules", value: experiment => (experiment.ok ? experiment.kind : "failed"), write: String},
  {label: "model", value: experiment => experiment.model, write: String},
  {label: "data", value: experiment => experiment.data, write: String},
  {label: "thresholds", value: thresholdText, write: String},
  result("requests", "samples", String),
  result("accuracy", "accuracy", percent),
  result("without cache", "baseline.accuracy", percent),
  result("hit rate", "hit_rate", percent),
  result("false hits", "false_hits.count", String),
  result("wrong donors", "wrong_donors.count", String),
  result("mean first token", "ttft_ms.mean", milliseconds),
  result("median", "ttft_ms.p50", milliseconds),
  result("speed-up", "speedup.ttft_mean", times),
  result("encodes skipped", "images.encode_skipped", String),
  result("stored", "bytes.stored", megabytes),
];

// Every column of the logs, as it stands there.
function allColumns() {
  const cell = value => (typeof value === "object" && value !== null ? JSON.stringify(value) : value ?? null);
  const columnsOf = part => unique(experiments.flatMap(experiment => Object.keys(experiment[part]))).map(key => ({
    label: key, value: experiment => cell(experiment[part][key]), write: String,
    isNumber: experiments.every(experiment => cell(experiment[part][key]) === null || isNumber(experiment[part][key])),
  }));
  const error = {label: "error", value: experiment => experiment.error, write: String};
  return [mainColumns[0], ...columnsOf("options"), error, ...columnsOf("results")];
}

// What was not measured stands last, whichever way it is sorted.
function compare(a, b, isDown) {
  const isAbsent = value => value === null || value === undefined || value === "";
  if (isAbsent(a) || isAbsent(b)) return isAbsent(a) - isAbsent(b);
  const order = isNumber(a) && isNumber(b) ? a - b : String(a).localeCompare(String(b), "en", {numeric: true});
  return isDown ? -order : order;
}

// Every word must be in it: "original 0.5", "reuse=exact".
function searchText(experiment) {
  const options = Object.entries(experiment.options).map(([key, value]) =>
    `${key}=${Array.isArray(value) ? value.join(",") : value ?? ""}`);
  return [experiment.name, experiment.kind, experiment.error ?? "", ...options].join(" ").toLowerCase();
}
const matches = (experiment, words) => words.every(word => searchText(experiment).includes(word));

function tableView() {
  const state = {sorted: null, isDown: false, words: [], columns: mainColumns};
  const head = element("tr");
  const body = element("tbody");
  const found = element("output", {class: "found"});

  function showBody() {
    const rows = experiments.filter(experiment => matches(experiment, state.words));
    if (state.sorted !== null) {
      rows.sort((a, b) => compare(state.sorted.value(a), state.sorted.value(b), state.isDown) || a.index - b.index);
    }
    body.replaceChildren(...rows.map(experiment => element("tr", {class: experiment.ok ? null : "failed"},
      ...state.columns.map(column => {
        const value = column.value(experiment);
        return element("td", {class: column.isNumber ? "number" : null}, value === null ? dash : column.write(value));
      }))));
    found.textContent = rows.length === experiments.length ? "" : `${rows.length} of ${experiments.length}`;
  }

  function showHead() {
    head.replaceChildren(...state.columns.map(column => {
      const button = element("button", {type: "button"}, column.label);
      button.addEventListener("click", () => sortBy(column));
      const sort = state.sorted === column ? (state.isDown ? "descending" : "ascending") : null;
      return element("th", {scope: "col", class: column.isNumber ? "number" : null, "aria-sort": sort}, button);
    }));
  }

  function sortBy(column) {
    state.isDown = state.sorted === column ? !state.isDown : false;
    state.sorted = column;
    const place = state.columns.indexOf(column);
    showHead();
    showBody();
    head.children[place].firstChild.focus();
  }

  const filter = element("input",
    {type: "search", placeholder: "name or option", "aria-label": "Filter the experiments"});
  filter.addEventListener("input", () => {
    state.words = filter.value.toLowerCase().split(/\s+/).filter(word => word !== "");
    showBody();
  });
  const all = element("input", {type: "checkbox"});
  all.addEventListener("change", () => {
    Object.assign(state, {columns: all.checked ? allColumns() : mainColumns, sorted: null, isDown: false});
    showHead();
    showBody();
  });
  showHead();
  showBody();
  return [element("p", {class: "choice"}, filter, element("label", {}, all, " all columns"), found),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "All experiments"},
      element("table", {class: "experiments"}, element("thead", {}, head), body))];
}

function showTable() {
  section("table").append(...(experiments.length > 0 ? tableView() : [missing("There are none.")]));
}
