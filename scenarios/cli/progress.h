// The progress line of a long run: how far the work is, how far the simulated clock, how fast, how long still.
//
// Shown only after kDelay, redrawn at most every kInterval, erased at the end. On a terminal it is one line that redraws
// itself; elsewhere (--progress always) every update is a line of its own. The remaining time follows from the share of
// operations done, not from the simulated clock, which says nothing about work left.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "sim/options.h"

namespace traingraph::scenarios::cli {

class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kDelay{500};
  static constexpr std::chrono::milliseconds kInterval{100};
  static constexpr std::chrono::milliseconds kIntervalOfLines{2000};  ///< not on a terminal: logs are read, not watched

  /// `write` puts text on the stream; `now` reads the clock (tests hand in their own).
  ProgressLine(bool on_terminal, std::function<void(std::string_view)> write, std::function<Clock::time_point()> now);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();  ///< erases

  void update(const sim::Progress& progress);
  void update(std::string_view text);
  void erase();

 private:
  [[nodiscard]] bool due(Clock::time_point now);
  void draw(std::string_view text);

  bool on_terminal_;
  std::function<void(std::string_view)> write_;
  std::function<Clock::time_point()> now_;
  Clock::time_point begin_;
  Clock::time_point next_;
  bool drawn_ = false;
};

/// "37 %  simulated 1.234 s  2.1 M events/s  0:42 left".
[[nodiscard]] std::string progress_text(const sim::Progress& progress, std::chrono::duration<double> elapsed);

}  // namespace traingraph::scenarios::cli
