#include "eval/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/byte_size.h"
#include "data/line_records.h"
#include "eval/report_json.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kColumns = 100;
constexpr size_t kNearest = 3;

const Json& At(const Json& json, const char* key) {
  static const Json none;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found == json.end() ? none : *found;
}

// Empty where it is no text. Line breaks would break the columns.
std::string Text(const Json& json, const char* key) {
  const Json& value = At(json, key);
  std::string text = value.is_string() ? value.get<std::string>() : "";
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

double Number(const Json& json, const char* key) {
  const Json& value = At(json, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::string Bytes(const Json& json, const char* key) {
  return FormatByteSize(static_cast<uint64_t>(std::max(Number(json, key), 0.0)));
}

std::string Ms(const Json& value) {
  return value.is_number() ? fmt::format("{:.1f} ms", value.get<double>()) : "not known";
}

// `text` behind `head`, and where it is too long below itself.
std::string Wrapped(const std::string& head, std::string_view text) {
  const size_t indent = head.size();
  std::string wrapped = head;
  size_t column = indent;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (column > indent && column + 1 + word.size() > kColumns) {
      wrapped += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += word.size();
  }
  while (wrapped.ends_with(' ')) wrapped.pop_back();
  return wrapped + "\n";
}

std::string Row(std::string_view name, std::string_view text) {
  return text.empty() ? "" : Wrapped(fmt::format("  {:<10} ", name), text);
}

std::string PictureName(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string DonorText(const Json& donor) {
  const std::string picture = PictureName(Text(donor, "image_path"));
  return fmt::format("[{}] \"{}\"{}", Text(donor, "id"), Text(donor, "question"),
                     picture.empty() ? "" : " about " + picture);
}

std::string RequestText(const Json& json) {
  std::string text = "request\n";
  text += Row("sample", Text(json, "dataset_id"));
  text += Row("question", Text(json, "question"));
  text += Row("picture", PictureName(Text(json, "image_path")));
  const std::string key = Text(json, "chunk_text");
  text += Row("text key", key == Text(json, "question") ? "" : key);
  return text;
}

std::string CandidateText(const Json& candidate) {
  constexpr const char* kRow = "             {:<8} ";
  std::string text =
      Wrapped(fmt::format("      {:6.3f} ", Number(candidate, "score")), DonorText(At(candidate, "donor")));
  const std::string substitution = Text(candidate, "substitution");
  text += Wrapped(fmt::format(kRow, "class"),
                  Text(candidate, "class") +
                      (substitution.empty() ? ", substitutes nothing" : ", would substitute the " + substitution));
  for (const Json& gate : At(candidate, "passed")) {
    if (gate.is_string()) text += Wrapped(fmt::format(kRow, "passed"), gate.get<std::string>());
  }
  const std::string refused = Text(candidate, "refused");
  return text +
         (refused.empty() ? Wrapped("             ", "admitted") : Wrapped(fmt::format(kRow, "refused"), refused));
}

std::string LayerText(const Json& layer, size_t width) {
  std::vector<std::string> details;
  if (Number(layer, "lookup_ms") > 0) details.push_back(fmt::format("{:.2f} ms", Number(layer, "lookup_ms")));
  if (Number(layer, "embed_ms") > 0)
    details.push_back(fmt::format("{:.2f} of it the vector", Number(layer, "embed_ms")));
  if (Number(layer, "threshold") != 0) details.push_back(fmt::format("threshold {:.3f}", Number(layer, "threshold")));
  std::string text = Wrapped(fmt::format("  {:<{}}  {:<7}  ", Text(layer, "layer"), width, Text(layer, "status")),
                             fmt::format("{}", fmt::join(details, ", ")));
  if (const std::string reason = Text(layer, "reason"); !reason.empty()) text += Wrapped("      why    ", reason);
  for (const Json& candidate : At(layer, "candidates")) text += CandidateText(candidate);
  return text;
}

std::string LayersText(const Json& layers) {
  if (layers.empty()) return "";
  size_t width = 0;
  for (const Json& layer : layers) width = std::max(width, Text(layer, "layer").size());
  std::string text = "\nlayers\n";
  for (const Json& layer : layers) text += LayerText(layer, width);
  return text;
}

std::string PlansText(const Json& plans) {
  if (plans.empty()) return "";
  std::string text = fmt::format("\nplans\n     {:<11} {:>8} {:>8} {:>8} {:>10} {:>10}  outcome\n", "class", "put back",
                                 "compute", "encode", "load", "predicted");
  size_t n = 0;
  for (const Json& plan : plans) {
    const std::string substitution = Text(plan, "substitution");
    const std::string head =
        fmt::format("  {:>2} {:<11} {:>8.0f} {:>8.0f} {:>8.0f} {:>10} {:>10}  ", ++n, Text(plan, "class"),
                    Number(plan, "tokens_reused"), Number(plan, "tokens_computed"), Number(plan, "images_encoded"),
                    Bytes(plan, "bytes"), At(plan, "predicted_ms").is_number() ? Ms(At(plan, "predicted_ms")) : "?");
    text += Wrapped(
        head, Text(plan, "outcome") + (substitution.empty() ? "" : fmt::format(" (the donor's {})", substitution)));
  }
  return text;
}

// Of the plan that a dry run would have taken.
std::string WouldText(const Json& json, const Json& plan) {
  std::vector<std::string> found_by;
  for (const Json& layer : At(json, "layers")) {
    if (Text(layer, "status") == "hit") found_by.push_back(Text(layer, "layer"));
  }
  const std::string substitution = Text(plan, "substitution");
  std::string text = "\nwould be done\n";
  text += Row("class", Text(plan, "class"));
  text += Row("found by", fmt::format("{}", fmt::join(found_by, ", ")));
  if (At(json, "donor").is_object()) text += Row("donor", DonorText(At(json, "donor")));
  text += Row("instead", substitution.empty() ? "" : "the donor's " + substitution);
  text += Row("time", "predicted " + Ms(At(plan, "predicted_ms")));
  text += Row("tokens", fmt::format("{:.0f} put back, {:.0f} computed", Number(plan, "tokens_reused"),
                                    Number(plan, "tokens_computed")));
  text += Row("pictures", fmt::format("{:.0f} encoded, {:.0f} from encoder output", Number(plan, "images_encoded"),
                                      Number(plan, "images_put_back")));
  return text + Row("bytes", Bytes(plan, "bytes") + " loaded");
}

// In milliseconds, whichever of the two spellings the JSON has (report_json.h).
Json TimeToFirstToken(const Json& json) {
  if (At(json, "ttft_ms").is_number()) return At(json, "ttft_ms");
  return At(json, "ttft").is_number() ? Json(Number(json, "ttft") * 1000) : Json();
}

std::string DoneText(const Json& json) {
  const Json& plan = At(json, "plan");
  const Json& tokens = At(json, "tokens");
  const Json& images = At(json, "images");
  const Json& bytes = At(json, "bytes");
  const std::string source = Text(json, "hit_source");
  const std::string substitution = Text(json, "substitution");
  std::string text = "\ndone\n";
  text += Row("class", Text(json, "class") + (source.empty() ? "" : fmt::format(" ({})", source)));
  if (At(json, "donor").is_object()) {
    text += Row("donor", fmt::format("{}, score {:.3f}", DonorText(At(json, "donor")), Number(json, "score")));
  }
  text += Row("instead", substitution.empty() ? "" : "the donor's " + substitution);
  text += Row("time", fmt::format("predicted {}, took {}; first token after {}", Ms(At(plan, "predicted_ms")),
                                  Ms(At(plan, "actual_ms")), Ms(TimeToFirstToken(json))));
  text += Row("tokens", fmt::format("{:.0f} put back, {:.0f} computed, {:.0f} generated", Number(tokens, "reused"),
                                    Number(tokens, "computed"), Number(tokens, "generated")));
  text += Row("pictures", fmt::format("{:.0f} encoded, {:.0f} from encoder output", Number(images, "encoded"),
                                      Number(images, "encode_skipped")));
  text += Row("bytes", fmt::format("{} loaded, {} stored", Bytes(bytes, "loaded"), Bytes(bytes, "stored")));
  return text + Row("answer", Text(json, "response"));
}

// How many characters must be put in, left out or replaced to make one of the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

}  // namespace

Json RequestJson(const Query& query, const Report& report) {
  Json json = {{"question", query.question},
               {"image_path", query.image_paths.empty() ? Json() : Json(query.image_paths.front())},
               {"chunk_text", query.chunk_text.empty() ? query.question : query.chunk_text}};
  json.update(ReportJson(report));
  return json;
}

Result<Json> FindSample(const std::string& samples_file, const std::string& id) {
  const Result<std::unique_ptr<RecordReader>> records = NewLineRecords(samples_file);
  if (!records.ok()) return records.error();
  std::set<std::pair<size_t, std::string>> nearest;
  for (;;) {
    const Result<std::optional<Record>> record = (*records)->Next();
    if (!record.ok()) return record.error();
    if (!record->has_value()) break;
    Json json = Json::parse((*record)->text, nullptr, false);
    if (!json.is_object()) return Error{Errc::kCorrupt, (*record)->where + ": not a line of a samples file"};
    const std::string found = Text(json, "dataset_id");
    if (found == id) return json;
    if (found.empty()) continue;
    nearest.emplace(EditDistance(found, id), found);
    if (nearest.size() > kNearest) nearest.erase(std::prev(nearest.end()));
  }
  if (nearest.empty()) return Error{Errc::kNotFound, fmt::format("There are no samples in {}.", samples_file)};
  std::vector<std::string> names;
  for (const auto& [distance, name] : nearest) names.push_back(name);
  return Error{Errc::kNotFound, fmt::format("There is no sample '{}' in {}; the nearest are {}.", id, samples_file,
                                            fmt::join(names, ", "))};
}

std::string Story(const Json& json) {
  std::string story = RequestText(json);
  if (const std::string error = Text(json, "error"); !error.empty()) return story + "\nfailed\n" + Row("why", error);
  const Json& plans = At(At(json, "plan"), "weighed");
  story += LayersText(At(json, "layers")) + PlansText(plans);
  const bool used = std::ranges::any_of(plans, [](const Json& plan) { return Text(plan, "outcome") == "used"; });
  const Json& tokens = At(json, "tokens");
  const bool ran = Number(tokens, "reused") + Number(tokens, "computed") > 0;
  if (!used && !plans.empty()) story += WouldText(json, plans.front());
  if (!ran && plans.empty()) {
    story += "\nwould be done\n" + Row("class", "cold") +
             Row("tokens", fmt::format("{:.0f} computed", Number(tokens, "prompt")));
  }
  return story + (ran ? DoneText(json) : "");
}

}  // namespace afterimage
