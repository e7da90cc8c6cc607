// The head: what was run, and what it says at a glance.

function fact(term, words) {
  return words.length === 0 ? [] : [element("dt", {}, term), element("dd", {}, words.join(", "))];
}

const texts = values => unique(values.filter(value => (value ?? "") !== "").map(String));

function facts() {
  const failed = experiments.length - finished.length;
  const requests = sum(finished.map(experiment => answered(experiment) ?? 0));
  const results = key => texts(finished.map(experiment => experiment.results[key]));
  return element("dl", {class: "facts"},
    ...fact("Experiments", [`${experiments.length}${failed > 0 ? ` (${failed} failed)` : ""}`]),
    ...fact("Requests", requests > 0 ? [requests.toLocaleString("en")] : []),
    ...fact("Models", texts(experiments.map(experiment => experiment.model))),
    ...fact("Data", texts(experiments.map(experiment => experiment.data))),
    ...fact("Machine", results("machine")),
    ...fact("Build", results("commit")),
    ...fact("Logs", page.logs.map(baseName)));
}

const answered = experiment => number(experiment, "samples");
const falseHits = experiment => number(experiment, "false_hits.count");
const wrongDonors = experiment => number(experiment, "wrong_donors.count");
const speedUp = experiment => number(experiment, "speedup.ttft_mean");
const puts = experiment => !["without the cache", "dry run"].includes(experiment.kind);

// Of what can really be run: not with the labels at hand.
function fastestWithoutFalseHits() {
  const candidates = finished.filter(experiment => falseHits(experiment) === 0 && speedUp(experiment) !== null &&
    answered(experiment) !== null && puts(experiment) && experiment.kind !== "the labels decide");
  if (candidates.length === 0) return [];
  const best = candidates.reduce((a, b) => (speedUp(b) > speedUp(a) ? b : a));
  const high = interval(best, "false_hits.per_request_interval")?.[1];
  return [["Fastest without a false hit: ", element("b", {}, best.name),
    `, ${times(speedUp(best))} as fast to the first token as without the cache (in the mean ` +
    `${milliseconds(number(best, "ttft_ms.mean"))} against ${milliseconds(number(best, "baseline.ttft_ms.mean"))}). ` +
    `None in ${count(answered(best), "request")} still allows up to ${percent(high)} (95 %).` +
    (wrongDonors(best) > 0 ? ` ${count(wrongDonors(best), "wrong donor")} gave the same answer by luck.` : "")]];
}

// What the rules are worth, on the same questions to the same model, where the same layers look for donors.
function rulesCompared() {
  const measures = [[wrongDonors, "wrong donor"], [falseHits, "false hit"]];
  const finders = options => ["exact", "embedding", "semantic"].filter(layer => asks(options, layer));
  const alike = d3.group(finished, ({data, model, options}) => JSON.stringify([data, model, finders(options)]));
  return [...alike.values()].flatMap(group => {
    const of = kind => group.filter(experiment => experiment.kind === kind);
    for (const [measure, word] of measures) {
      const [original, ours] = ["original's rules", "all rules"].map(kind =>
        of(kind).filter(experiment => measure(experiment) !== null && answered(experiment) !== null));
      if (original.length === 0 || ours.length === 0) continue;
      const counts = group => range(group.map(measure));
      const requests = range([...original, ...ours].map(answered));
      const where = `${group[0].data}, ${group[0].model}`;
      return [[element("b", {}, where), `: in ${requests} requests the original's rules gave ${counts(original)} ` +
        `${word}s (${count(original.length, "experiment")}), all rules ${counts(ours)}.`]];
    }
    return [];
  });
}

function largestLoss() {
  const loss = experiment => number(experiment, "baseline.accuracy") - number(experiment, "accuracy");
  const measured = finished.filter(experiment => number(experiment, "baseline.accuracy") !== null &&
    number(experiment, "accuracy") !== null && puts(experiment));
  if (measured.length === 0) return [];
  const worst = measured.reduce((a, b) => (loss(b) > loss(a) ? b : a));
  if (loss(worst) <= 0) return [["No experiment lost accuracy against running without the cache."]];
  return [["Largest loss of accuracy: ", element("b", {}, worst.name),
    `, ${percent(number(worst, "accuracy"))} right; without the cache it is ` +
    `${percent(number(worst, "baseline.accuracy"))}.`]];
}

function whatIsMissing() {
  const lacking = (key, why) => {
    const without = finished.filter(experiment => puts(experiment) && number(experiment, key) === null).length;
    return without === 0 ? [] : [[`${count(without, "experiment")} of ${finished.length} ${why}`]];
  };
  const unread = finished.filter(experiment => experiment.requests === null);
  return [
    ...lacking("false_hits.count", "ran without --baseline: their false hits and speed-ups are not known."),
    ...lacking("wrong_donors.count", "had no labels: their wrong donors are not known."),
    ...(unread.length === 0 ? [] : [[`Of ${count(unread.length, "experiment")} there are no requests to show; the ` +
      `first: ${unread[0].name} (${unread[0].requests_missing.replace(/\.$/, "")}).`]]),
  ];
}

function failures() {
  const failed = experiments.filter(experiment => !experiment.ok);
  if (failed.length === 0) return null;
  return element("div", {class: "failures"}, element("h2", {}, "Failed experiments"),
    element("ul", {}, ...failed.map(({name, error}) => element("li", {}, element("b", {}, name), `: ${error}`))));
}

function showHead() {
  const head = section("head");
  if (experiments.length === 0) {
    head.append(missing(`There are no experiments in ${listed(page.logs.map(baseName))}.`));
    return;
  }
  const says = [...fastestWithoutFalseHits(), ...rulesCompared(), ...largestLoss()];
  const gaps = whatIsMissing();
  const list = (name, items) => items.length === 0 ? null
    : element("ul", {class: name}, ...items.map(item => element("li", {}, ...item)));
  head.append(facts());
  if (says.length > 0) head.append(element("h2", {}, "What it says"), list("says", says));
  if (gaps.length > 0) head.append(list("gaps", gaps));
  const failed = failures();
  if (failed !== null) head.append(failed);
}
