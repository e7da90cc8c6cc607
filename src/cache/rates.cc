#include "cache/rates.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace afterimage {
namespace {

constexpr double kDecay = 0.95;       // what an observation's weight loses with each one after it
constexpr double kLargestJump = 5;    // an observation counts as at most this many times its prediction...
constexpr double kSettledWeight = 4;  // ...once the rate rests on this much

struct Line {
  double base = 0;
  double slope = 0;
  double At(double x) const { return base + slope * x; }
};

Line ThroughZero(const Rate& rate) { return {0, rate.xx > 0 ? rate.xy / rate.xx : 0}; }

Line Fit(const Rate& rate) {
  const double mean_x = rate.x / rate.n;
  const double variance = rate.xx / rate.n - mean_x * mean_x;
  if (variance <= 1e-6 * mean_x * mean_x) return ThroughZero(rate);
  Line line;
  line.slope = std::max(0.0, (rate.xy / rate.n - mean_x * rate.y / rate.n) / variance);
  line.base = rate.y / rate.n - line.slope * mean_x;
  return line.base < 0 ? ThroughZero(rate) : line;
}

// What a small model on a common machine takes; only steers until the first measurement.
Line Guess(std::string_view key) {
  if (key == "encode") return {100, 0.5};
  if (key == "inject") return {0.1, 0.005};
  if (key == "load.disk") return {0.1, 1e-6};  // 1 GB/s
  if (key.substr(0, 5) == "load.") return {0.01, 2e-7};
  return {1, 1};
}

}  // namespace

Rates::Rates(std::span<const Rate> rates, std::string_view prefix) {
  for (const Rate& rate : rates) {
    const bool sane = std::isfinite(rate.n + rate.x + rate.y + rate.xx + rate.xy) && rate.n > 0 && rate.y >= 0;
    if (!sane || rate.key.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string key = rate.key.substr(prefix.size());
    if (key.find('/') != std::string::npos) continue;
    Rate& own = rates_[key] = rate;
    own.key = key;
  }
}

Result<Rates> Rates::ReadFrozen(const std::string& path, std::string_view prefix) {
  std::ifstream file(path);
  if (!file) return Error{Errc::kNotFound, path + ": no rates can be read there"};
  try {
    const nlohmann::json json = nlohmann::json::parse(file);
    std::vector<Rate> read;
    for (const auto& [key, value] : json.at("rates").items()) {
      read.push_back({key, value.at("n"), value.at("x"), value.at("y"), value.at("xx"), value.at("xy")});
    }
    Rates rates(read, prefix);
    if (rates.rates_.empty()) rates = Rates(read, "");
    if (rates.rates_.empty()) return Error{Errc::kCorrupt, path + " has no rates of this model on this machine"};
    rates.frozen_ = true;
    return rates;
  } catch (const nlohmann::json::exception& e) {
    return Error{Errc::kCorrupt, path + " is not a file of rates: " + e.what()};
  }
}

Prediction Rates::Predict(std::string_view key, double size) const {
  const auto found = rates_.find(key);
  if (found == rates_.end()) return {Guess(key).At(size), false};
  return {Fit(found->second).At(size), true};
}

void Rates::Learn(std::string_view key, double size, double ms) {
  if (frozen_ || !std::isfinite(ms) || ms < 0) return;
  const auto found = rates_.try_emplace(std::string(key)).first;
  Rate& rate = found->second;
  rate.key = found->first;
  // One request that the machine put aside for a second must not spoil the next hundred predictions.
  if (rate.n >= kSettledWeight) ms = std::min(ms, kLargestJump * Fit(rate).At(size));
  for (double* sum : {&rate.n, &rate.x, &rate.y, &rate.xx, &rate.xy}) *sum *= kDecay;
  rate.n += 1;
  rate.x += size;
  rate.y += ms;
  rate.xx += size * size;
  rate.xy += size * ms;
}

std::vector<Rate> Rates::Save(std::string_view prefix) const {
  std::vector<Rate> saved;
  for (const auto& [key, rate] : rates_) {
    saved.push_back(rate);
    saved.back().key = std::string(prefix) + key;
  }
  return saved;
}

}  // namespace afterimage
