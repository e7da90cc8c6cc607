// Elements, figures and tables. Whatever comes from the data goes in as text, never as HTML.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

const section = id => document.getElementById(id);
const missing = text => element("p", {class: "missing"}, text);

// Figures are drawn for the width they have, and again where that changes; a scaled one has letters nobody can read.
const drawers = new Map();
const widths = new ResizeObserver(entries => requestAnimationFrame(() => {  // not within the layout that called
  for (const {target} of entries) draw(target);
}));

function draw(holder) {
  const width = Math.floor(holder.clientWidth);
  const drawer = drawers.get(holder);
  if (width === 0 || width === drawer.width) return;
  drawer.width = width;
  holder.replaceChildren(drawer.make(width));
}

// A place that holds make(width), read aloud as `label`.
function drawing(make, label) {
  const holder = element("div", {class: "drawing", role: "img", "aria-label": label});
  drawers.set(holder, {make, width: null});
  widths.observe(holder);
  return holder;
}

// items: [{label, color, symbol}]
function legend(items) {
  return element("ul", {class: "legend"}, ...items.map(({label, color, symbol}) =>
    element("li", {}, swatch(color, symbol), label)));
}

function swatch(color, symbol) {
  const size = 12;
  const svg = d3.create("svg").attr("width", size).attr("height", size).attr("viewBox", "-6 -6 12 12")
    .attr("aria-hidden", "true");
  if (symbol === undefined) {
    svg.append("rect").attr("x", -5).attr("y", -5).attr("width", 10).attr("height", 10).attr("rx", 2)
      .style("fill", color);
  } else {
    drawSymbol(svg, symbol).style("fill", "none").style("stroke", color).style("stroke-width", 1.8);
  }
  return svg.node();
}

const symbols = {circle: d3.symbolCircle, square: d3.symbolSquare2, triangle: d3.symbolTriangle2,
  diamond2: d3.symbolDiamond2, star: d3.symbolStar, asterisk: d3.symbolAsterisk,
  plus: d3.symbolPlus, times: d3.symbolTimes};
const drawSymbol = (svg, symbol) => svg.append("path").attr("d", d3.symbol(symbols[symbol], 40)());

// columns: [{label, of: row => text, isNumber}]
function dataTable(columns, rows) {
  const cell = (tag, column, text) => element(tag, {class: column.isNumber ? "number" : null}, text);
  return element("table", {},
    element("thead", {}, element("tr", {}, ...columns.map(column => cell("th", column, column.label)))),
    element("tbody", {}, ...rows.map(row =>
      element("tr", {}, ...columns.map(column => cell("td", column, String(column.of(row))))))));
}

function numbersOf(columns, rows) {
  return element("details", {}, element("summary", {}, "The numbers"),
    element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers"},
      dataTable(columns, rows)));
}

// A figure with what explains it: title above, then legend, drawings side by side, and the numbers to open. Small
// drawings stay small where there are few of them.
function figure({title, items, drawings, areSmall, note, numbers}) {
  return element("figure", {},
    title ? element("figcaption", {}, title) : null,
    items ? legend(items) : null,
    element("div", {class: areSmall ? "drawings small" : "drawings"}, ...drawings),
    note ?? null,
    numbers ?? null);
}

// Axes are named below their middle, without arrows.
const named = label => ({label, labelAnchor: "center", labelArrow: "none"});

// One experiment is looked at by several sections: choosing it in one chooses it in all.
const chooser = {chosen: null, listeners: []};

function choose(experiment) {
  chooser.chosen = experiment;
  for (const listen of chooser.listeners) listen(experiment);
}

// A select of `choices`; show(experiment) gives what stands below it.
function chosenExperiment(choices, show) {
  const select = element("select", {}, ...choices.map(experiment =>
    element("option", {value: experiment.index}, experiment.name)));
  const printed = element("span", {class: "printed"});
  const holder = element("div");
  select.addEventListener("change", () => choose(experiments[Number(select.value)]));
  chooser.listeners.push(experiment => {
    select.value = experiment.index;
    printed.textContent = experiment.name;
    holder.replaceChildren(...show(experiment));
  });
  return [element("p", {class: "choice"}, element("label", {}, "Experiment ", select), printed), holder];
}
