// Thresholds against hits and against what goes wrong: experiments that differ in one threshold make a line, in two a
// heat map.

// Where something was run, not what: the same experiment in another folder is the same experiment.
const places = ["cache_dir", "fusion_cache_dir", "samples_file", "json", "notes", "metrics", "planner_rates"];
const modelKeys = ["preset", "model", "mmproj"];
// What a preset may set for its model. Where it is the same in all experiments of each model it belongs to the model.
const engineKeys = ["prompt_template", "max_tokens", "temperature", "top_k", "top_p", "seed", "context", "threads",
  "batch", "gpu_layers", "k_type", "v_type", "lora", "image_min_tokens", "image_max_tokens", "chat_template",
  "trust_remote_code"];
const belongsToModel = key => [...d3.group(finished, experiment => experiment.model).values()].every(group =>
  unique(group.map(experiment => JSON.stringify(plain(experiment.options[key])))).length === 1);
// CSV has nothing to tell an empty text from none.
const plain = value => (value === "" || value === undefined ? null : value);

// {semantic: 0.8, prompt: 0.8, vision: 0.95}: the threshold of each layer that is asked and has one.
function thresholdsOf(options) {
  const thresholds = {};
  const isAsked = options.disable_semantic_cache !== true && asks(options, "semantic");
  if (isAsked && isNumber(options.similarity_threshold)) thresholds.semantic = options.similarity_threshold;
  for (const layer of embeddingLayers(options)) {
    if (layer.threshold !== null) thresholds[layer.name] = layer.threshold;
  }
  return thresholds;
}

// Without `layers` all are asked, and without a cache none.
const asks = (options, layer) => options.cache_mode !== "off" &&
  (plain(options.layers) === null || [options.layers].flat().includes(layer));

function embeddingLayers(options) {
  const isAsked = Array.isArray(options.embedding_layers) && asks(options, "embedding");
  const layers = isAsked ? options.embedding_layers : [];
  return layers.map(layer => {
    const [name, dimensions, threshold] = String(layer).split(":");
    const value = Number(threshold);
    return {name, dimensions, threshold: threshold !== undefined && Number.isFinite(value) ? value : null};
  });
}

// All that two experiments must share to be compared by their thresholds: every other option.
function settingOf(options, ignored) {
  const setting = {};
  for (const [key, value] of Object.entries(options)) {
    if (!ignored.includes(key) && key !== "similarity_threshold") setting[key] = plain(value);
  }
  setting.embedding_layers = embeddingLayers(options).map(layer => `${layer.name}:${layer.dimensions}`);
  return setting;
}

// Groups of experiments that differ in these layers' thresholds alone (and in the model), and in each of them.
function groupsBy(layers, runs) {
  const others = run => Object.entries(run.thresholds).filter(([layer]) => !layers.includes(layer));
  const comparable = runs.filter(run => layers.every(layer => layer in run.thresholds));
  return [...d3.group(comparable, run => JSON.stringify([run.setting, others(run)])).values()].filter(group =>
    layers.every(layer => [...d3.group(group, run => run.experiment.model).values()].some(ofModel =>
      unique(ofModel.map(run => run.thresholds[layer])).length > 1)));
}

// Heat maps first; a line that is a row of a heat map is not drawn again.
function thresholdGroups(runs) {
  const layers = unique(runs.flatMap(run => Object.keys(run.thresholds)));
  const found = [];
  for (const pair of d3.cross(layers, layers).filter(([a, b]) => layers.indexOf(a) < layers.indexOf(b))) {
    for (const group of groupsBy(pair, runs)) found.push({layers: pair, runs: group});
  }
  const maps = [...found];
  for (const layer of layers) {
    for (const group of groupsBy([layer], runs)) {
      if (!maps.some(map => group.every(run => map.runs.includes(run)))) found.push({layers: [layer], runs: group});
    }
  }
  return found;
}

// The data and the rules of a group; where others have the same, also the options in which they differ.
function settingText(group, groups) {
  const short = ({runs: [{experiment}]}) => `${experiment.data}, ${experiment.kind}`;
  const alike = groups.filter(other => short(other) === short(group) && `${other.layers}` === `${group.layers}`);
  const setting = group.runs[0].setting;
  const differing = Object.keys(setting).filter(key =>
    unique(alike.map(other => JSON.stringify(other.runs[0].setting[key]))).length > 1);
  const others = Object.entries(group.runs[0].thresholds).filter(([layer]) => !group.layers.includes(layer) &&
    unique(alike.map(other => other.runs[0].thresholds[layer])).length > 1);
  return [short(group), ...differing.map(key => `${key} ${JSON.stringify(setting[key]).replaceAll('"', "")}`),
    ...others.map(([layer, threshold]) => `${layer} ${threshold}`)].join(", ");
}

// What is measured at a threshold. Those that nobody measured are not drawn.
const rates = [
  {label: "Hit rate", key: "hit_rate", interval: null, color: "var(--blue)"},
  {label: "False hits per request", key: "false_hits.per_request", interval: "false_hits.per_request_interval",
    color: "var(--red)"},
  {label: "Wrong donors per request", key: "wrong_donors.per_request", interval: "wrong_donors.per_request_interval",
    color: "var(--red)"},
];
const measuredRates = runs => rates.filter(rate => runs.some(run => number(run.experiment, rate.key) !== null));

const series = [
  {color: "var(--blue)", symbol: "circle"}, {color: "var(--orange)", symbol: "triangle"},
  {color: "var(--green)", symbol: "square"}, {color: "var(--purple)", symbol: "diamond2"},
  {color: "var(--ink)", symbol: "star"},
];
const layerName = layer => (layer === "semantic" ? "semantic layer" : `embedding layer ${layer}`);

function linePlot(rate, layer, runs, models, width) {
  const points = runs.filter(run => number(run.experiment, rate.key) !== null).map(run => ({
    x: run.thresholds[layer],
    y: number(run.experiment, rate.key),
    interval: rate.interval === null ? null : interval(run.experiment, rate.interval),
    model: run.experiment.model,
    name: run.experiment.name,
  })).sort((a, b) => a.x - b.x);
  const thresholds = unique(points.map(point => point.x));
  const highest = Math.max(0.05, ...points.map(point => point.interval?.[1] ?? point.y));
  // Models that do the same would hide one another: they stand side by side.
  const marks = models.flatMap((model, i) => {
    const ofModel = points.filter(point => point.model === model);
    const {color, symbol} = series[i % series.length];
    const dx = 4 * (i - (models.length - 1) / 2);
    return [
      Plot.ruleX(ofModel.filter(point => point.interval !== null),
        {x: "x", y1: point => point.interval[0], y2: point => point.interval[1], stroke: color, strokeWidth: 1.2, dx}),
      Plot.line(ofModel, {x: "x", y: "y", stroke: color, strokeWidth: 1.8, dx}),
      Plot.dot(ofModel, {x: "x", y: "y", stroke: color, fill: "var(--ground)", symbol, r: 4, strokeWidth: 1.8, dx,
        tip: true, title: point => `${point.name}\n${rate.label}: ${percent(point.y)}` +
          (point.interval ? ` (${percent(point.interval[0])} to ${percent(point.interval[1])})` : "")}),
    ];
  });
  return Plot.plot({
    width, height: Math.min(260, 90 + width * 0.45), marginLeft: 46, marginRight: 14, marginTop: 30, marginBottom: 38,
    x: {...named(`threshold of the ${layerName(layer)}`), ticks: thresholds.length > 8 ? 6 : thresholds,
      tickFormat: String, inset: 10},
    y: {label: rate.label, domain: [0, rate.interval === null ? 1 : Math.min(1, highest * 1.05)], ticks: 5, grid: true,
      tickFormat: value => percent(value), labelArrow: "none"},
    marks: [Plot.ruleY([0], {stroke: "var(--line)"}), ...marks],
  });
}

function lineFigure(group, groups) {
  const [layer] = group.layers;
  const models = unique(group.runs.map(run => run.experiment.model));
  const drawings = measuredRates(group.runs).map(rate => drawing(
    width => linePlot(rate, layer, group.runs, models, width),
    `${rate.label} by the threshold of the ${layerName(layer)}. ` + models.map(model => `${model}: ` + group.runs
      .filter(run => run.experiment.model === model).sort((a, b) => a.thresholds[layer] - b.thresholds[layer])
      .map(run => `${percent(number(run.experiment, rate.key))} at ${run.thresholds[layer]}`).join(", ")).join(". ")));
  return figure({
    title: `The ${layerName(layer)}: ${settingText(group, groups)}`,
    items: models.map((label, i) => ({label, ...series[i % series.length]})),
    drawings,
    areSmall: true,
    numbers: thresholdNumbers(group),
  });
}

function heatPlot(rate, [down, across], runs, width) {
  const values = runs.map(run => number(run.experiment, rate.key));
  // Rates of errors are small: the darkest is the worst there is, and at least a tenth.
  const full = rate.interval === null ? 1 : Math.max(0.1, ...values.filter(isNumber));
  const cells = runs.map((run, i) => ({x: run.thresholds[across], y: run.thresholds[down], value: values[i], run}));
  const shade = cell => (cell.value === null ? 0 : 0.06 + 0.94 * cell.value / full);
  const rows = unique(cells.map(cell => cell.y)).length;
  const at = {x: "x", y: "y"};
  return Plot.plot({
    width, height: 70 + Math.min(56, width / 5) * rows, marginLeft: 60, marginTop: 30, marginBottom: 38, marginRight: 4,
    padding: 0.05,
    x: {...named(`threshold ${across}`), type: "band", tickFormat: String, tickSize: 0},
    y: {...named(`threshold ${down}`), type: "band", reverse: true, tickFormat: String, tickSize: 0},
    marks: [
      Plot.text([rate.label], {frameAnchor: "top-left", dy: -18}),
      Plot.cell(cells, {...at, fill: rate.color, fillOpacity: shade, stroke: "var(--line)", rx: 3,
        tip: true, title: cell => `${cell.run.experiment.name}\n${rate.label}: ${percent(cell.value)}`}),
      Plot.text(cells, {...at, text: cell => percent(cell.value), fontSize: 13, fontWeight: 600,
        fill: cell => (shade(cell) > 0.6 ? "var(--ground)" : "var(--ink)")}),
    ],
    color: {type: "identity"},
  });
}

function heatFigure(group, groups) {
  const [down, across] = group.layers;
  const byModel = [...d3.group(group.runs, run => run.experiment.model)];
  return byModel.map(([model, runs]) => figure({
    title: `The ${layerName(down)} and the ${layerName(across)}: ${model}, ${settingText(group, groups)}`,
    drawings: measuredRates(runs).map(rate => drawing(width => heatPlot(rate, group.layers, runs, width),
      `${rate.label} by the thresholds of ${down} and ${across}. ` + runs.map(run =>
        `${percent(number(run.experiment, rate.key))} at ${run.thresholds[down]} and ${run.thresholds[across]}`)
        .join(", "))),
    areSmall: true,
    numbers: thresholdNumbers({layers: group.layers, runs}),
  }));
}

function thresholdNumbers({layers, runs}) {
  const withInterval = (experiment, rate) => {
    const around = rate.interval === null ? null : interval(experiment, rate.interval);
    const share = percent(number(experiment, rate.key));
    return around === null ? share : `${share} (${percent(around[0])} to ${percent(around[1])})`;
  };
  return numbersOf([
    {label: "experiment", of: run => run.experiment.name},
    {label: "model", of: run => run.experiment.model},
    ...layers.map(layer => ({label: `threshold ${layer}`, isNumber: true, of: run => run.thresholds[layer]})),
    ...measuredRates(runs).map(rate =>
      ({label: rate.label, isNumber: true, of: run => withInterval(run.experiment, rate)})),
  ], runs);
}

function showThresholds() {
  const ignored = [...places, ...modelKeys, ...engineKeys.filter(belongsToModel)];
  const runs = finished.filter(experiment => number(experiment, "hit_rate") !== null).map(experiment => ({
    experiment, setting: settingOf(experiment.options, ignored), thresholds: thresholdsOf(experiment.options)}));
  // Of experiments that were set up alike the last counts, as it does in a log.
  const last = new Map(runs.map(run => [JSON.stringify([run.setting, run.thresholds, run.experiment.model]), run]));
  const groups = thresholdGroups([...last.values()]);
  if (groups.length === 0) {
    section("thresholds").append(missing("No two experiments differ in nothing but a threshold. " +
      "A sweep over similarity_threshold, or over the thresholds in embedding_layers, would be drawn here."));
    return;
  }
  section("thresholds").append(...groups.flatMap(group =>
    group.layers.length === 1 ? [lineFigure(group, groups)] : heatFigure(group, groups)));
}
