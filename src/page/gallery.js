// What went wrong, to look at.

function picture(number, what) {
  if (number === null) return element("p", {class: "no-picture"}, "no picture");
  const {name, uri, left_out: why} = page.gallery.pictures[number];
  if (uri === null) return element("p", {class: "no-picture"}, name, element("small", {}, why));
  return element("img", {src: uri, alt: `${what}: ${name}`});
}

const quoted = text => (text === null ? dash : `“${text}”`);

// One side of a case: what was asked, or what stood in for it.
function side(title, number, question, changed) {
  return element("div", {class: "side"}, element("h4", {}, title), picture(number, title),
    element("p", {class: changed ? "question changed" : "question"}, quoted(question)));
}

function verdicts(one) {
  return [one.false_hit ? "false hit" : null, one.wrong_donor ? "wrong donor" : null].filter(word => word !== null);
}

// What let it pass in one experiment. Under the original's rules a threshold is all there is; a replay has none.
function gatesText(one, {experiment, passed}) {
  if (one.donor_question === null) return "no donor: the request's own stored state";
  const gates = Array.isArray(passed) ? passed.map(String) : [];
  if (["original's rules", "answers replayed"].includes(experiments[experiment].kind)) {
    return [...gates, gates.length > 0 ? "no other gate was asked" : "no gate was asked"].join("; ");
  }
  return gates.length > 0 ? gates.join("; ") : "nothing it had to pass";
}

// Experiments in which it passed for the same reasons share a line; a sweep has as many lines as thresholds, of which
// two are enough.
const mostLines = 2;
function passedLines(one) {
  const byGates = [...d3.group(one.seen, seen => gatesText(one, seen))];
  const more = sum(byGates.slice(mostLines).map(([, seen]) => seen.length));
  const lines = byGates.slice(0, mostLines).map(([gates, seen]) => element("p", {}, gates,
    element("small", {}, ` in ${listed(seen.map(({experiment}) => experiments[experiment].name))}`)));
  return more === 0 ? lines : [...lines, element("p", {}, `and likewise in ${count(more, "other experiment")}`)];
}

function caseCard(one) {
  const rows = [
    ["answer given", [quoted(one.response)], "given"],
    ["without the cache", [quoted(one.baseline_response)], null],
    ["reference", [quoted(one.reference)], null],
    ["found by", [[one.layer ?? one.hit_source, isNumber(one.score) ? `score ${one.score.toFixed(3)}` : null]
      .filter(word => word !== null).join(", ")], null],
    ["substituted", [one.substitution ?? "nothing"], null],
    ["passed", passedLines(one), null],
  ];
  return element("article", {class: "case"},
    element("h3", {}, ...verdicts(one).map(word => element("span", {class: "verdict"}, word))),
    element("div", {class: "sides"},
      side("Asked", one.picture, one.question, false),
      one.donor_question === null ? null
        : side("Answered instead", one.donor_picture, one.donor_question, one.donor_question !== one.question)),
    element("dl", {}, ...rows.flatMap(([term, parts, name]) =>
      [element("dt", {}, term), element("dd", {class: name}, ...parts)])));
}

function showGallery() {
  const {cases, wrong, left_out: leftOut} = page.gallery;
  const known = finished.filter(experiment => experiment.requests !== null);
  if (cases.length === 0) {
    section("gallery").append(missing(known.length === 0
      ? "No samples file of an experiment could be read: there is nothing to look at."
      : `There are none in the ${count(sum(known.map(experiment => experiment.requests.total)), "request")} whose ` +
        "samples could be read. Without --baseline, false hits are not known; without labels, wrong donors are not."));
    return;
  }
  section("gallery").append(
    element("p", {class: "note"}, `${count(wrong, "request")} went wrong, in all experiments together. ` +
      `${count(cases.length, "case")} ${cases.length === 1 ? "stands" : "stand"} for ${wrong - leftOut} of them; ` +
      `${leftOut} ${leftOut === 1 ? "is" : "are"} left out.`),
    element("div", {class: "cases"}, ...cases.map(caseCard)));
}
