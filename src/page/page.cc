#include "page/page.h"

#include <cassert>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/json_text.h"
#include "page/experiments.h"
#include "page/gallery.h"
#include "page/page_parts.h"
#include "page/requests.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

std::string HtmlText(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

// JSON for the inside of a <script>, which ends at "</script" and is upset by "<!--" wherever they stand. A '<' can
// only be part of a text there.
std::string ScriptJson(const Json& json) {
  std::string safe;
  for (const char c : JsonText(json)) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string LibraryScripts() {
  std::string html;
  for (const PageLibrary& library : PageLibraries()) {
    html += "<script>/*\n" + std::string(library.license) + "*/\n" + std::string(library.script) + "</script>\n";
  }
  return html;
}

std::string OwnScripts() {
  std::string script;
  for (const std::string_view part : PageScripts()) script += part;
  return script;
}

// What stands for a hole of page.html.
std::string Filling(std::string_view hole, const std::string& title, const Json& data) {
  if (hole == "title") return HtmlText(title);
  if (hole == "style") return std::string(PageStyle());
  if (hole == "libraries") return LibraryScripts();
  if (hole == "data") return ScriptJson(data);
  assert(hole == "scripts");
  return OwnScripts();
}

// In one pass: what looks like a hole inside a filling stays as it is.
std::string Fill(std::string_view html, const std::string& title, const Json& data) {
  std::string page;
  for (size_t begin = html.find("{{"); begin != std::string_view::npos; begin = html.find("{{")) {
    const size_t end = html.find("}}", begin);
    page += html.substr(0, begin);
    page += Filling(html.substr(begin + 2, end - begin - 2), title, data);
    html.remove_prefix(end + 2);
  }
  return page += html;
}

// `error` is null and `requests` are there, or the other way round.
struct ReadSamples {
  Json requests;
  Json error;
};

ReadSamples SamplesOf(const LoggedExperiment& experiment, size_t number, std::vector<WrongAnswers>& wrong) {
  if (experiment.error.has_value()) return {nullptr, "the experiment failed"};
  if (experiment.samples_file.empty()) return {nullptr, "no samples file was written"};
  const std::string samples_file = FindBeside(experiment.samples_file, experiment.log_file);
  Result<Requests> requests = ReadRequests(samples_file);
  if (!requests.ok()) return {nullptr, requests.error().message};
  wrong.push_back({number, samples_file, std::move(requests->wrong), requests->wrong_total});
  return {std::move(requests->columns), nullptr};
}

}  // namespace

Result<std::string> MakePage(const std::vector<std::string>& log_files, const std::string& title) {
  const Result<std::vector<LoggedExperiment>> experiments = ReadLoggedExperiments(log_files);
  if (!experiments.ok()) return experiments.error();
  Json rows = Json::array();
  std::vector<WrongAnswers> wrong;
  for (const LoggedExperiment& experiment : *experiments) {
    ReadSamples samples = SamplesOf(experiment, rows.size(), wrong);
    rows.push_back({{"name", experiment.name},
                    {"options", experiment.options},
                    {"results", experiment.results},
                    {"error", experiment.error.has_value() ? Json(*experiment.error) : Json()},
                    {"requests", std::move(samples.requests)},
                    {"requests_missing", std::move(samples.error)}});
  }
  const Json data = {
      {"title", title}, {"logs", log_files}, {"experiments", std::move(rows)}, {"gallery", MakeGallery(wrong)}};
  return Fill(PageHtml(), title, data);
}

}  // namespace afterimage
