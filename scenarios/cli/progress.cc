#include "scenarios/cli/progress.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace traingraph::scenarios::cli {
namespace {

std::string left_text(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M ", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.0f} k ", per_second / 1e3);
  return fmt::format("{:.0f} ", per_second);
}

}  // namespace

std::string progress_text(const sim::Progress& progress, std::chrono::duration<double> elapsed) {
  const double seconds = elapsed.count();
  std::string text;
  if (progress.operations_total > 0) {
    const double share = static_cast<double>(progress.operations_done) / static_cast<double>(progress.operations_total);
    text += fmt::format("{:3.0f} %  ", 100.0 * share);
  }
  text += fmt::format("simulated {:.6g} s", progress.now.since_start().in_seconds());
  if (seconds > 0) text += fmt::format("  {}events/s", rate_text(static_cast<double>(progress.events) / seconds));
  if (progress.operations_done > 0 && progress.operations_total >= progress.operations_done) {
    const double per_operation = seconds / static_cast<double>(progress.operations_done);
    const auto remaining = static_cast<double>(progress.operations_total - progress.operations_done);
    text += fmt::format("  {} left", left_text(per_operation * remaining));
  }
  return text;
}

ProgressLine::ProgressLine(bool on_terminal, std::function<void(std::string_view)> write,
                           std::function<Clock::time_point()> now)
    : on_terminal_{on_terminal}, write_{std::move(write)}, now_{std::move(now)}, begin_{now_()}, next_{begin_ + kDelay} {}

ProgressLine::~ProgressLine() { erase(); }

bool ProgressLine::due(Clock::time_point now) {
  if (now < next_) return false;
  next_ = now + (on_terminal_ ? kInterval : kIntervalOfLines);
  return true;
}

void ProgressLine::update(const sim::Progress& progress) {
  const Clock::time_point now = now_();
  if (due(now)) draw(progress_text(progress, now - begin_));
}

void ProgressLine::update(std::string_view text) {
  if (due(now_())) draw(text);
}

void ProgressLine::draw(std::string_view text) {
  write_(on_terminal_ ? fmt::format("\r{}\x1b[K", text) : fmt::format("{}\n", text));
  drawn_ = true;
}

void ProgressLine::erase() {
  if (drawn_ && on_terminal_) write_("\r\x1b[K");
  drawn_ = false;
}

}  // namespace traingraph::scenarios::cli
