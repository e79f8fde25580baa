// LimitsService: the closed-form model for the page. A request is JSON:
//
//   {"gpu": "h100", "set": ["batch_exponent=0.333"], "points": 41, "format": "json",
//    "scale": {"network_bandwidth": 2, "network_latency": 1, "flop_rate": 1, "memory_bandwidth": 1}}
//
// Every key but `gpu` may be left out. `format` is json (schema "traingraph/limits/1", as `traingraph limits --format json`
// prints it, with `set` beside it: the overrides that ask the same on the command line), csv, svg or yaml: the same as the
// program writes.
//
// The last answer for a GPU is kept: its layouts are where the next search begins, which makes it faster and changes
// nothing. Thread-safe; at most kAtOnce questions are worked on at a time, others are told to come again.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>

#include "analysis/theory/limits.h"
#include "scenarios/limits_query.h"
#include "scenarios/serve/answer.h"

namespace traingraph::scenarios::serve {

class LimitsService {
 public:
  static constexpr std::ptrdiff_t kAtOnce = 4;
  static constexpr std::size_t kMostPoints = 401;
  static constexpr std::size_t kMostOverrides = 100;

  /// 400 with every fault of the question, 503 when too many are being answered.
  [[nodiscard]] Answer answer(const std::string& request);
  /// {"presets": [{"name": "h100", "title": "H100"}, ...], "assumptions": {defaults of what sliders move}}.
  [[nodiscard]] static Answer presets();

 private:
  using Kept = std::shared_ptr<const analysis::theory::Limits>;
  [[nodiscard]] Kept kept(const std::string& gpu);
  void keep(const std::string& gpu, Kept limits);

  std::mutex mutex_;
  std::map<std::string, Kept> kept_;  // by preset, so bounded
  std::counting_semaphore<kAtOnce> places_{kAtOnce};
};

}  // namespace traingraph::scenarios::serve
