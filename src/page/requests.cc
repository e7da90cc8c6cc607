#include "page/requests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "data/json_fields.h"
#include "data/line_records.h"

namespace afterimage {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kHit = 1;
constexpr int kFalseHit = 2;
constexpr int kWrongDonor = 4;

bool Is(const Json& sample, const char* key, bool value) {
  const auto found = sample.find(key);
  return found != sample.end() && found->is_boolean() && found->get<bool>() == value;
}

// Seconds as milliseconds, in steps of a microsecond: digits cost bytes, and nobody sees more.
Json Ms(const Json& sample, const char* key) {
  const auto found = sample.find(key);
  if (found == sample.end() || !found->is_number()) return {};
  return std::round(found->get<double>() * 1e6) / 1e3;
}

// The number of `name` in a list of names, added where it is new.
size_t NumberOf(Json& names, const Json& name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

int Marks(const Json& sample) {
  return (Is(sample, "hit", true) ? kHit : 0) + (IsFalseHit(sample) ? kFalseHit : 0) +
         (IsWrongDonor(sample) ? kWrongDonor : 0);
}

std::string DonorId(const Json& sample) {
  const auto donor = sample.find("donor");
  return donor == sample.end() || !donor->is_object() || !donor->contains("id") ? "" : (*donor)["id"].dump();
}

bool IsAnswered(const Json& sample) {
  return sample.contains("class") && sample["class"].is_string() && sample.contains("ttft") &&
         sample["ttft"].is_number();
}

class RequestsReader {
 public:
  void Add(Json sample) {
    if (sample.contains("error")) {
      ++failed_;
    } else if (!IsAnswered(sample)) {
      ++damaged_;
    } else {
      AddAnswered(std::move(sample));
    }
  }
  void AddDamaged() { ++damaged_; }

  Requests Finish() {
    Requests requests;
    requests.columns = {
        {"total", total_}, {"failed", failed_}, {"damaged", damaged_}, {"classes", classes_}, {"sources", sources_}};
    requests.columns.update(columns_);
    requests.wrong_total = wrong_total_;
    for (std::vector<Json>& of_rank : wrong_) std::ranges::move(of_rank, std::back_inserter(requests.wrong));
    if (requests.wrong.size() > kMaxWrongShown) requests.wrong.resize(kMaxWrongShown);
    return requests;
  }

 private:
  void AddAnswered(Json sample) {
    const int marks = Marks(sample);
    if (++total_ <= kMaxRequestsDrawn) {
      const auto source = sample.find("hit_source");
      const bool has_source = source != sample.end() && source->is_string();
      columns_["class"].push_back(NumberOf(classes_, sample["class"]));
      columns_["source"].push_back(has_source ? Json(NumberOf(sources_, *source)) : Json());
      columns_["ttft_ms"].push_back(Ms(sample, "ttft"));
      columns_["baseline_ttft_ms"].push_back(Ms(sample, "baseline_ttft"));
      columns_["marks"].push_back(marks);
    }
    const bool false_hit = (marks & kFalseHit) != 0;
    const bool wrong_donor = (marks & kWrongDonor) != 0;
    if (!false_hit && !wrong_donor) return;
    ++wrong_total_;
    const bool is_new_donor = donors_.insert(DonorId(sample)).second;
    std::vector<Json>& of_rank = wrong_[(is_new_donor ? 0 : 3) + (false_hit && wrong_donor ? 0 : false_hit ? 1 : 2)];
    if (of_rank.size() < kMaxWrongShown) of_rank.push_back(std::move(sample));
  }

  size_t total_ = 0;
  size_t failed_ = 0;
  size_t damaged_ = 0;
  size_t wrong_total_ = 0;
  Json classes_ = Json::array();
  Json sources_ = Json::array();
  Json columns_ = {{"class", Json::array()},
                   {"source", Json::array()},
                   {"ttft_ms", Json::array()},
                   {"baseline_ttft_ms", Json::array()},
                   {"marks", Json::array()}};
  std::array<std::vector<Json>, 6> wrong_;
  std::set<std::string> donors_;  // of what went wrong
};

}  // namespace

bool IsFalseHit(const Json& sample) { return Is(sample, "hit", true) && Is(sample, "agrees", false); }

bool IsWrongDonor(const Json& sample) { return Is(sample, "label", false); }

Result<Requests> ReadRequests(const std::string& samples_file) {
  const Result<std::unique_ptr<RecordReader>> records = NewLineRecords(samples_file);
  if (!records.ok()) return records.error();
  RequestsReader reader;
  for (;;) {
    const Result<std::optional<Record>> record = (*records)->Next();
    if (!record.ok() && record.error().code == Errc::kInvalidArgument) {  // too long; the next is behind it
      reader.AddDamaged();
      continue;
    }
    if (!record.ok()) return record.error();
    if (!record->has_value()) return reader.Finish();
    Result<Json> sample = ParseObject((*record)->text);
    if (sample.ok()) {
      reader.Add(std::move(*sample));
    } else {
      reader.AddDamaged();
    }
  }
}

}  // namespace afterimage
