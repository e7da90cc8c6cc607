// What experiments come to side by side: speed against accuracy, and where the time went.

// Those that no other beats: as fast and more accurate, or as accurate and faster. From the fastest on.
function paretoFront(points) {
  const front = [];
  for (const point of d3.sort(points, point => point.x, point => -point.y)) {
    if (front.length === 0 || point.y > front.at(-1).y) front.push(point);
  }
  return front;
}

// An experiment each, and for every model what the same questions took without the cache.
function speedPoints(group) {
  const points = group.map(experiment => ({
    name: experiment.name, kind: experiment.kind, model: experiment.model,
    x: number(experiment, "ttft_ms.mean"), y: number(experiment, "accuracy"),
  }));
  for (const [model, ofModel] of d3.group(group, experiment => experiment.model)) {
    points.push({
      name: `${model} without the cache`, kind: "without the cache", model,
      x: d3.mean(ofModel, experiment => number(experiment, "baseline.ttft_ms.mean")),
      y: d3.mean(ofModel, experiment => number(experiment, "baseline.accuracy")),
    });
  }
  return points.filter(point => isNumber(point.x) && isNumber(point.y) && point.x > 0);
}

function speedPlot(points, front, width) {
  const [fastest, slowest] = d3.extent(points, point => point.x);
  const lowest = Math.floor(10 * Math.max(0, d3.min(points, point => point.y) - 0.04)) / 10;
  const isLog = slowest / fastest >= 10;
  const describe = point => `${point.name}\n${point.kind}\n${milliseconds(point.x)}, ${percent(point.y)} right`;
  return Plot.plot({
    width, height: Math.min(360, 130 + width * 0.42), marginLeft: 50, marginRight: 24, marginTop: 30, marginBottom: 40,
    x: {type: isLog ? "log" : "linear", inset: 14},
    y: {label: "accuracy", domain: [lowest, 1], insetTop: 14, insetBottom: 8, grid: true, ticks: 5, tickFormat: percent,
      labelArrow: "none"},
    symbol: {domain: Object.keys(kinds), range: Object.values(kinds).map(kind => kind.symbol)},
    marks: [
      ...timeAxis("mean time to the first token, ms", isLog ? logTicks(fastest, slowest, 7) : null),
      Plot.line(front, {x: "x", y: "y", curve: "step-after", stroke: "var(--muted)", strokeWidth: 1.5,
        strokeDasharray: "4 3"}),
      Plot.dot(points, {x: "x", y: "y", symbol: "kind", stroke: point => kinds[point.kind].color, strokeWidth: 2, r: 5,
        fill: "var(--ground)", fillOpacity: 0.7, tip: true, title: describe}),
      Plot.text(front, {x: "x", y: "y", text: (point, i) => String(i + 1), dx: 10, dy: -9, fontWeight: 600,
        stroke: "var(--ground)", strokeWidth: 4, fill: "var(--ink)"}),
    ],
  });
}

// 1, 2 and 5 times powers of ten, over the whole range; a logarithmic axis without ticks says nothing.
function logTicks(low, high, most) {
  const steps = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1)
    .flatMap(power => [1, 2, 5].map(step => step * 10 ** power));
  const within = steps.filter(step => step >= low * 0.9 && step <= high * 1.1);
  const isPower = step => Math.abs(Math.log10(step) - Math.round(Math.log10(step))) < 1e-6;
  return within.length <= most ? within : within.filter(isPower);
}
const tickNumber = value => String(Number(value.toPrecision(3)));

// With its own texts: the library leaves out most of them on a logarithmic scale. Null: a linear scale finds its own.
function timeAxis(label, ticks) {
  if (ticks === null) return [Plot.gridX({ticks: 5}), Plot.axisX({...named(label), ticks: 5, tickFormat: tickNumber})];
  return [Plot.gridX(ticks), Plot.axisX(ticks, {...named(label), text: tickNumber})];
}

const pointText = point => `${point.name} (${milliseconds(point.x)}, ${percent(point.y)})`;

function frontList(front) {
  return element("div", {class: "note"}, "On the line, from the fastest: ",
    element("ol", {class: "front"}, ...front.map(point =>
      element("li", {}, pointText(point)))));
}

function showPareto() {
  const groups = [...d3.group(finished, experiment => experiment.data)]
    .map(([data, group]) => ({data, points: speedPoints(group)})).filter(group => group.points.length > 0);
  if (groups.length === 0) {
    section("pareto").append(missing("No experiment has both a time and an accuracy: the data had no reference " +
      "answers, or nothing was answered."));
    return;
  }
  const used = unique(groups.flatMap(group => group.points.map(point => point.kind)));
  section("pareto").append(
    legend(Object.keys(kinds).filter(kind => used.includes(kind)).map(kind => ({label: kind, ...kinds[kind]}))),
    element("div", {class: "grid"}, ...groups.map(({data, points}) => {
      const front = paretoFront(points.filter(point => point.kind !== "the labels decide"));
      return figure({
        title: data,
        drawings: [drawing(width => speedPlot(points, front, width),
          `Mean time to the first token against accuracy on ${data}. Not beaten: ${front.map(pointText).join("; ")}`)],
        note: frontList(front),
        numbers: numbersOf([
          {label: "experiment", of: point => point.name}, {label: "rules", of: point => point.kind},
          {label: "mean time", isNumber: true, of: point => milliseconds(point.x)},
          {label: "accuracy", isNumber: true, of: point => percent(point.y)}], points),
      });
    })));
}

// In the order a request meets them. Making vectors is part of looking up, and worth its own colour.
const stages = [
  {label: "prepare and plan", color: "var(--grey)", of: e => stage(e, "prepare") + stage(e, "plan")},
  {label: "make vectors", color: "var(--gold)", of: e => stage(e, "embed")},
  {label: "look up", color: "var(--orange)", of: e => Math.max(0, lookup(e) - stage(e, "embed"))},
  {label: "load and inject", color: "var(--purple)", of: e => stage(e, "load") + stage(e, "inject")},
  {label: "encode pictures", color: "var(--green)", of: e => stage(e, "encode")},
  {label: "prefill", color: "var(--blue)", of: e => stage(e, "prefill")},
  {label: "decode", color: "var(--sky)", of: e => stage(e, "decode")},
  {label: "observe, after the answer", color: "var(--line)", of: e => stage(e, "observe")},
];
const stage = (experiment, name) => number(experiment, `stages_ms.${name}`) ?? 0;
const lookup = experiment => sum(Object.keys(experiment.results).filter(key => key.startsWith("stages_ms.lookup."))
  .map(key => number(experiment, key) ?? 0));

function stagesPlot(shown, width) {
  const bars = shown.flatMap(experiment => stages.map(({label, color, of}) =>
    ({name: experiment.name, label, color, ms: of(experiment)})));
  const longest = Math.max(...shown.map(experiment => experiment.name.length));
  const marginLeft = Math.min(Math.max(80, 7.2 * longest + 12), width * 0.4);
  return Plot.plot({
    width, height: 50 + 22 * shown.length, marginLeft, marginRight: 60, marginBottom: 38, marginTop: 8,
    x: {...named("mean ms a request"), grid: true, ticks: width < 500 ? 3 : 8},
    y: {domain: shown.map(experiment => experiment.name), label: null, tickSize: 0,
      tickFormat: name => shortened(name, Math.floor((marginLeft - 12) / 7))},
    color: {type: "identity"},
    marks: [
      Plot.barX(bars, {x: "ms", y: "name", fill: "color", insetTop: 2, insetBottom: 2, order: null,
        tip: true, title: bar => `${bar.name}\n${bar.label}: ${milliseconds(bar.ms)}`}),
      Plot.text(shown, {x: total, y: "name", text: experiment => milliseconds(waited(experiment)), textAnchor: "start",
        dx: 5, fill: "var(--muted)"}),
      Plot.ruleX([0], {stroke: "var(--muted)"}),
    ],
  });
}

const total = experiment => sum(stages.map(({of}) => of(experiment)));
const waited = experiment => total(experiment) - stage(experiment, "observe");
// In the middle: names of a sweep begin alike and end in what tells them apart.
function shortened(text, letters) {
  if (text.length <= letters) return text;
  const half = Math.max(1, Math.floor((letters - 1) / 2));
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

const stagesText = experiment => `${experiment.name}: ${milliseconds(waited(experiment))} until the answer, of which ` +
  `prefill ${milliseconds(stage(experiment, "prefill"))} and encoding ${milliseconds(stage(experiment, "encode"))}`;

function showStages() {
  const shown = finished.filter(experiment => total(experiment) > 0);
  if (shown.length === 0) {
    section("stages").append(missing("No experiment says how long its stages took."));
    return;
  }
  section("stages").append(figure({
    items: stages.filter(({of}) => shown.some(experiment => of(experiment) > 0)),
    drawings: [drawing(width => stagesPlot(shown, width),
      `Mean milliseconds a request by stage. ${shown.map(stagesText).join("; ")}`)],
    numbers: numbersOf([{label: "experiment", of: experiment => experiment.name},
      ...stages.map(({label, of}) => ({label, isNumber: true, of: e => milliseconds(of(e))}))], shown),
  }));
}
