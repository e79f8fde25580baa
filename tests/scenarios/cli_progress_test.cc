// The progress line, on a clock of our own.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "scenarios/cli/progress.h"

namespace traingraph::scenarios::cli {
namespace {

using std::chrono::milliseconds;

struct Stage {
  ProgressLine::Clock::time_point time{};
  std::string text;

  ProgressLine line(bool on_terminal) {
    return ProgressLine{on_terminal, [this](std::string_view s) { text += s; }, [this] { return time; }};
  }
};

const sim::Progress kHalf{
    .now = sim::Time::at(sim::Duration::ms(1500)), .operations_done = 50, .operations_total = 100, .events = 4000};

TEST(ProgressLine, AShortRunShowsNothing) {
  Stage stage;
  {
    ProgressLine line = stage.line(true);
    stage.time += milliseconds{499};
    line.update(kHalf);
  }
  EXPECT_EQ(stage.text, "");
}

TEST(ProgressLine, IsDrawnAfterHalfASecondAtMostTenTimesASecondAndErased) {
  Stage stage;
  {
    ProgressLine line = stage.line(true);
    stage.time += milliseconds{500};
    for (int i = 0; i < 1000; ++i) {  // one second of updates, a millisecond apart
      line.update(kHalf);
      stage.time += milliseconds{1};
    }
  }
  int drawn = 0;
  for (std::size_t at = 0; (at = stage.text.find("simulated", at)) != std::string::npos; ++at) ++drawn;
  EXPECT_EQ(drawn, 10);
  EXPECT_TRUE(stage.text.ends_with("\r\x1b[K"));
  EXPECT_EQ(stage.text.find('\n'), std::string::npos);
}

TEST(ProgressLine, OffATerminalEveryUpdateIsALine) {
  Stage stage;
  {
    ProgressLine line = stage.line(false);
    stage.time += milliseconds{600};
    line.update(kHalf);
    stage.time += milliseconds{1000};
    line.update(kHalf);  // too soon for a log
  }
  EXPECT_EQ(stage.text, " 50 %  simulated 1.5 s  7 k events/s  0:01 left\n");
}

// Half of the work took 60 s: the other half takes as long, whatever the simulated clock says.
TEST(ProgressLine, TheTimeLeftFollowsFromTheWork) {
  EXPECT_EQ(progress_text(kHalf, std::chrono::seconds{60}), " 50 %  simulated 1.5 s  67 events/s  1:00 left");
  sim::Progress begin = kHalf;
  begin.operations_done = 1;
  EXPECT_EQ(progress_text(begin, std::chrono::seconds{100}), "  1 %  simulated 1.5 s  40 events/s  2:45:00 left");
  begin.operations_done = 0;
  EXPECT_EQ(progress_text(begin, std::chrono::seconds{100}), "  0 %  simulated 1.5 s  40 events/s");
}

}  // namespace
}  // namespace traingraph::scenarios::cli
