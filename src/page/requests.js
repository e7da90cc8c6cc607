// The requests of one experiment: how long each took, and where its answer came from.

const classColors = {exact: "var(--blue)", normalized: "var(--sky)", approximate: "var(--orange)",
  encoder: "var(--purple)", cold: "var(--grey)", "without the cache": "var(--ink)"};

const sourceColors = {"text:exact": "var(--blue)", "prefix:image": "var(--green)", "prefix:text": "var(--sky)",
  "text:semantic": "var(--orange)", fusion: "var(--purple)", "answer:replay": "var(--pink)"};
const embeddingColors = ["var(--gold)", "var(--brown)"];
const nothingReused = "nothing put back";

// Embedding layers have names of the user's: each gets a colour in the order they appear.
function colorsOf(sources) {
  const others = sources.filter(source => !(source in sourceColors));
  return Object.fromEntries([...sources.map(source => [source, sourceColors[source] ??
    embeddingColors[others.indexOf(source) % embeddingColors.length]]), [nothingReused, "var(--empty)"]]);
}

// The requests of an experiment as rows, and what of them is not there.
function requestsOf(experiment) {
  const columns = experiment.requests;
  return columns.class.map((reuse, i) => ({
    place: i, class: columns.classes[reuse], ms: columns.ttft_ms[i], baseline: columns.baseline_ttft_ms[i],
    source: columns.source[i] === null ? nothingReused : columns.sources[columns.source[i]],
    hit: (columns.marks[i] & mark.hit) !== 0,
    wrong: (columns.marks[i] & (mark.falseHit | mark.wrongDonor)) !== 0,
  }));
}

function leftOutNote(experiment) {
  const {total, failed, damaged, class: shown} = experiment.requests;
  const words = [
    shown.length < total ? `The first ${shown.length} of ${total} requests are drawn.` : "",
    failed > 0 ? `${count(failed, "request")} failed and ${failed === 1 ? "is" : "are"} not here.` : "",
    damaged > 0 ? `${count(damaged, "line")} of the samples file could not be read.` : "",
  ].filter(word => word !== "");
  return words.length === 0 ? null : element("p", {class: "note"}, words.join(" "));
}

// [{name, times}] in the order of the classes, and what the same requests took without the cache.
function timesByClass(requests) {
  const rows = unique([...classes, ...requests.map(request => request.class)]).map(name =>
    ({name, times: requests.filter(request => request.class === name).map(request => request.ms)}));
  rows.push({name: "without the cache", times: requests.map(request => request.baseline)});
  return rows.map(({name, times: all}) => ({name, times: all.filter(ms => isNumber(ms) && ms > 0)}))
    .filter(row => row.times.length > 0);
}

// Spreads dots over the height of their row, the same way every time: the golden ratio never lines up.
const scatter = i => ((i * 0.618034) % 1 - 0.5) * 0.56;

function timesPlot(rows, width) {
  const all = rows.flatMap(row => row.times);
  const boxes = rows.map((row, i) => ({y: i, color: classColors[row.name] ?? "var(--pink)",
    low: d3.quantile(row.times, 0.25), median: d3.median(row.times), high: d3.quantile(row.times, 0.75)}));
  const dots = rows.flatMap((row, i) => row.times.map((ms, j) =>
    ({ms, y: i + scatter(j), color: boxes[i].color, name: row.name})));
  return Plot.plot({
    width, height: 56 + 58 * rows.length, marginLeft: 144, marginRight: 16, marginTop: 10, marginBottom: 40,
    x: {type: "log", inset: 10},
    y: {domain: [rows.length - 0.5, -0.5], ticks: d3.range(rows.length), tickSize: 0, label: null,
      tickFormat: i => `${rows[i].name}\n${rows[i].times.length}, median ${milliseconds(boxes[i].median)}`},
    color: {type: "identity"},
    marks: [
      ...timeAxis("time to the first token, ms", logTicks(...d3.extent(all), width / 90)),
      Plot.rect(boxes, {x1: "low", x2: "high", y1: box => box.y - 0.36, y2: box => box.y + 0.36, fill: "color",
        fillOpacity: 0.16, rx: 3}),
      Plot.dot(dots, {x: "ms", y: "y", r: dots.length > 600 ? 1.6 : 2.6, fill: "color", fillOpacity: 0.6,
        tip: dots.length <= 600, title: dot => `${dot.name}: ${milliseconds(dot.ms)}`}),
      Plot.ruleX(boxes, {x: "median", y1: box => box.y - 0.4, y2: box => box.y + 0.4, stroke: "var(--ink)",
        strokeWidth: 2.4}),
    ],
  });
}

function timesOf(experiment) {
  const rows = timesByClass(requestsOf(experiment));
  if (rows.length === 0) return [missing("No request of this experiment was answered.")];
  const hasBaseline = rows.at(-1).name === "without the cache";
  const quantiles = row => [0.05, 0.5, 0.95].map(share => milliseconds(d3.quantile(row.times, share)));
  return [figure({
    drawings: [drawing(width => timesPlot(rows, width), `Time to the first token in ${experiment.name}. ` +
      rows.map(row => `${row.name}: ${count(row.times.length, "request")}, median ${quantiles(row)[1]}`).join("; "))],
    note: hasBaseline ? leftOutNote(experiment)
      : element("div", {}, leftOutNote(experiment) ?? "", missing("This experiment ran without --baseline: what the " +
        "same requests take without the cache is not known.")),
    numbers: numbersOf([{label: "class", of: row => row.name},
      {label: "requests", isNumber: true, of: row => row.times.length},
      ...["5 %", "median", "95 %"].map((label, i) => ({label, isNumber: true, of: row => quantiles(row)[i]}))], rows),
  })];
}

function streamPlot(requests, colors, width) {
  const size = requests.length > 600 ? 9 : requests.length > 150 ? 14 : 20;
  const columns = Math.max(1, Math.floor(width / size));
  const at = {x: request => request.place % columns, y: request => Math.floor(request.place / columns)};
  const rows = Math.ceil(requests.length / columns);
  return Plot.plot({
    width: Math.min(columns, requests.length) * size, height: rows * size, margin: 0, padding: 0.12, axis: null,
    x: {type: "band", domain: d3.range(Math.min(columns, requests.length))}, y: {type: "band", domain: d3.range(rows)},
    color: {type: "identity"},
    marks: [
      Plot.cell(requests, {...at, fill: request => colors[request.source], rx: 2, tip: true,
        title: ({place, source, class: reuse, ms, wrong}) => `request ${place + 1}\n${source}, ${reuse}, ` +
          milliseconds(ms) + (wrong ? "\nfalse hit or wrong donor" : "")}),
      Plot.dot(requests.filter(request => request.wrong), {...at, symbol: "times", r: size * 0.26,
        stroke: "var(--ground)", strokeWidth: size > 9 ? 2.4 : 1.4}),
    ],
  });
}

function runningHits(requests, width) {
  const hits = d3.cumsum(requests, request => (request.hit ? 1 : 0));
  const points = requests.map((request, i) => ({place: i + 1, share: hits[i] / (i + 1)}));
  return Plot.plot({
    width, height: 150, marginLeft: 46, marginTop: 26, marginBottom: 38, marginRight: 12,
    x: {...named("request"), domain: [1, Math.max(2, requests.length)], ticks: 6,
      tickFormat: place => (Number.isInteger(place) ? String(place) : "")},
    y: {label: "hit rate so far", domain: [0, 1], ticks: 3, tickFormat: percent, grid: true, labelArrow: "none"},
    marks: [Plot.areaY(points, {x: "place", y: "share", fill: "var(--blue)", fillOpacity: 0.12}),
      Plot.line(points, {x: "place", y: "share", stroke: "var(--blue)", strokeWidth: 1.8})],
  });
}

function streamOf(experiment) {
  const requests = requestsOf(experiment);
  if (requests.length === 0) return [missing("No request of this experiment was answered.")];
  const colors = colorsOf(experiment.requests.sources);
  const counts = d3.rollup(requests, group => group.length, request => request.source);
  const present = [...Object.keys(colors).filter(source => counts.has(source))];
  const wrong = requests.filter(request => request.wrong).length;
  const summary = present.map(source => `${source}: ${counts.get(source)}`).join(", ");
  const hits = requests.filter(request => request.hit).length;
  return [figure({
    items: present.map(source => ({label: `${source} (${counts.get(source)})`, color: colors[source]})),
    drawings: [element("div", {class: "wide"},
      drawing(width => streamPlot(requests, colors, width),
        `Where the answers of ${experiment.name} came from: ${summary}. ${wrong} false hits or wrong donors.`),
      drawing(width => runningHits(requests, width),
        `Hit rate after ${count(requests.length, "request")}: ${percent(hits / requests.length)}`))],
    note: leftOutNote(experiment),
  })];
}

// All rules, with the most classes to see; else whatever shows most.
function mostTelling(choices) {
  const variety = experiment => experiment.requests.classes.length;
  const score = experiment => [experiment.kind === "all rules", variety(experiment), experiment.requests.total];
  return d3.sort(choices, (a, b) => d3.descending(score(a)[0], score(b)[0]) ||
    d3.descending(score(a)[1], score(b)[1]) || d3.descending(score(a)[2], score(b)[2]))[0];
}

function showRequests() {
  const choices = finished.filter(experiment => experiment.requests !== null);
  for (const [id, show] of [["times", timesOf], ["stream", streamOf]]) {
    section(id).append(...(choices.length > 0 ? chosenExperiment(choices, show)
      : [missing("No samples file of an experiment could be read: single requests are not known.")]));
  }
  if (choices.length > 0) choose(mostTelling(choices));
}
