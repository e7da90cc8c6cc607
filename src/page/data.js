"use strict";
// What the page knows: the experiments of the logs, and how to name, compare and write what is in them.

const page = JSON.parse(document.getElementById("data").textContent);

const classes = ["exact", "normalized", "approximate", "encoder", "cold"];
const mark = {hit: 1, falseHit: 2, wrongDonor: 4};

// By what decides which donor may stand for a request. The colours are variables of page.css.
const kinds = {
  "all rules": {color: "var(--blue)", symbol: "circle"},
  "some rules off": {color: "var(--purple)", symbol: "square"},
  "original's rules": {color: "var(--orange)", symbol: "triangle"},
  "exact reuse only": {color: "var(--green)", symbol: "diamond2"},
  "the labels decide": {color: "var(--gold)", symbol: "star"},
  "answers replayed": {color: "var(--pink)", symbol: "asterisk"},
  "dry run": {color: "var(--grey)", symbol: "plus"},
  "without the cache": {color: "var(--ink)", symbol: "times"},
};

function kindOf(options) {
  if (options.answer_replay === true) return "answers replayed";
  if (options.cache_mode === "off") return "without the cache";
  if (options.cache_mode === "dry-run") return "dry run";
  if (options.oracle === true) return "the labels decide";
  if (options.reuse === "exact" || options.reuse === "normalized") return "exact reuse only";
  if (options.compat === "original") return "original's rules";
  const off = options.image_gate === "off" || options.text_guard === "off" || options.license === "whole" ||
    options.planner === "greedy";
  return off ? "some rules off" : "all rules";
}

const baseName = path => String(path).split("/").filter(part => part !== "").pop() ?? "";

function modelOf(options, results) {
  return baseName(options.model || options.preset || results["engine.model"] || "a model");
}

// Experiments on the same questions can be compared; on others they cannot.
function dataOf(options) {
  const words = [baseName(options.dataset ?? "data"), options.dataset_config];
  if (options.split && options.split !== "val") words.push(options.split);
  if (options.data_dir) words.push(baseName(options.data_dir));
  return words.filter(word => word).join(" ");
}

const experiments = page.experiments.map((row, index) => ({
  ...row,
  index,
  ok: row.error === null,
  kind: kindOf(row.options),
  model: modelOf(row.options, row.results),
  data: dataOf(row.options),
}));
const finished = experiments.filter(experiment => experiment.ok);

// A result as a number, or null where it was not measured.
function number(experiment, key) {
  const value = experiment.results[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

// [low, high] of a share, or null.
function interval(experiment, key) {
  const value = experiment.results[key];
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite) ? value : null;
}

const unique = values => [...new Set(values)];
const isNumber = value => typeof value === "number" && Number.isFinite(value);
const sum = values => values.reduce((total, value) => total + value, 0);

// Numbers as people read them. What was not measured is a dash.
const dash = "–";
function percent(share) {
  if (!isNumber(share)) return dash;
  const value = 100 * share;
  return `${value === 0 || value >= 10 ? value.toFixed(0) : value.toPrecision(2)} %`;
}
function milliseconds(ms) {
  if (!isNumber(ms)) return dash;
  return ms >= 100 ? `${ms.toFixed(0)} ms` : `${Number(ms.toPrecision(3))} ms`;
}
const times = ratio => (isNumber(ratio) ? `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1)}×` : dash);
const megabytes = bytes => (isNumber(bytes) ? `${Number((bytes / 1e6).toPrecision(3))} MB` : dash);
const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const listed = words => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
// "3" or "3 to 7".
function range(values, write = String) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return write(low) === write(high) ? write(low) : `${write(low)} to ${write(high)}`;
}
