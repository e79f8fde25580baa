// RunService: runs of scenarios for the page, one at a time, in the order in which they are asked for.
//
//   POST /api/check       {"yaml"}                                    its size, or 400 with every fault
//   POST /api/runs        {"yaml", "set", "sensitivity", "what_if"}   {"id": N}
//   GET  /api/runs/N      {"state": waiting|running|done|failed|cancelled, "share", "error"}
//   GET  /api/runs/N/step the result, once it is done (scenarios/serve/step_run.h)
//   DELETE /api/runs/N    cancels
//
// At most kMostWaiting runs wait; the last kMostKept are remembered; one that takes longer than kLongest is cancelled.
// Thread-safe. The destructor cancels what runs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "scenarios/serve/answer.h"
#include "scenarios/serve/step_run.h"

namespace traingraph::scenarios::serve {

class RunService {
 public:
  static constexpr std::size_t kMostWaiting = 8;
  static constexpr std::size_t kMostKept = 16;
  static constexpr std::chrono::seconds kLongest{600};

  RunService(std::string version, std::uint32_t threads);
  RunService(const RunService&) = delete;
  RunService& operator=(const RunService&) = delete;
  ~RunService();

  [[nodiscard]] static Answer check(const std::string& request);
  [[nodiscard]] Answer start(const std::string& request);
  [[nodiscard]] Answer state(const std::string& id);
  [[nodiscard]] Answer result(const std::string& id);
  [[nodiscard]] Answer cancel(const std::string& id);

 private:
  enum class State : std::uint8_t { waiting, running, done, failed, cancelled };
  struct Run {
    StepRequest request;
    State state = State::waiting;
    std::string result;  ///< JSON, or the error's text
    std::atomic<bool> cancel{false};
    std::atomic<double> share{0};  ///< of the work that is done
  };

  void work(const std::stop_token& stop);
  void perform(Run& run);
  [[nodiscard]] std::shared_ptr<Run> find(const std::string& id);

  std::string version_;
  std::uint32_t threads_;
  std::mutex mutex_;  ///< over everything below, and what of a Run is not atomic
  std::condition_variable_any wake_;
  std::deque<std::shared_ptr<Run>> waiting_;
  std::map<std::string, std::shared_ptr<Run>> runs_;
  std::deque<std::string> order_;
  std::uint64_t next_ = 1;
  std::shared_ptr<Run> running_;
  std::jthread worker_;
};

}  // namespace traingraph::scenarios::serve
