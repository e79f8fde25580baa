// What the links carried over time.
#include "sim/load_recorder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/sim/property.h"

namespace traingraph::sim::tests {
namespace {

LinkTable one_link() {
  LinkTable links;
  links.push_back({Bandwidth::bytes_per_s(1e9), Duration{}});
  return links;
}
constexpr LinkId kLink{0};

TEST(LoadRecorder, IntegratesExactlyBetweenChanges) {
  // 0.5 byte/ns for 2 us, nothing for 3 us, 1 byte/ns for 1 us: 1000 + 1000 bytes, busy 3 us, peak 1.
  LoadRecorder r{one_link(), 0};
  r.set_load(kLink, 0.5e9, Time::zero());
  r.set_load(kLink, 0, Time::at(2_us));
  r.set_load(kLink, 1e9, Time::at(5_us));
  r.set_load(kLink, 0, Time::at(6_us));
  Record record;
  r.end_window(Time::at(9_us));
  r.finish(record);
  EXPECT_DOUBLE_EQ(record.links[kLink].bytes, 2000);
  EXPECT_EQ(record.links[kLink].busy, 3_us);
  EXPECT_EQ(record.links[kLink].peak_utilization, 1);
  EXPECT_TRUE(record.load.empty());
}

TEST(LoadRecorder, ALoadThatLastsNoTimeWasNeverThere) {
  // The capacity falls to a half and the load follows at the same instant: never above 100 %.
  LoadRecorder r{one_link(), 0};
  r.set_load(kLink, 1e9, Time::zero());
  r.set_capacity(kLink, 0.5e9, Time::at(1_us));
  r.set_load(kLink, 0.5e9, Time::at(1_us));
  Record record;
  r.end_window(Time::at(2_us));
  r.finish(record);
  EXPECT_EQ(record.links[kLink].peak_utilization, 1);
  EXPECT_DOUBLE_EQ(record.links[kLink].bytes, 1500);
}

TEST(LoadRecorder, AWindowForgetsWhatWasBefore) {
  LoadRecorder r{one_link(), 0};
  r.set_load(kLink, 1e9, Time::zero());
  r.begin_window(Time::at(4_us));
  r.set_load(kLink, 0.25e9, Time::at(4_us));
  Record record;
  r.end_window(Time::at(8_us));
  r.finish(record);
  EXPECT_DOUBLE_EQ(record.links[kLink].bytes, 1000);
  EXPECT_EQ(record.links[kLink].busy, 4_us);
  EXPECT_EQ(record.links[kLink].peak_utilization, 0.25);
}

TEST(LoadRecorder, BinsWidenAsTheRunGoesOnAndKeepTheMean) {
  // Bins begin at 1 us. 4 of them over 10 us: 4 us each, 3 in use. Full from 2 to 7 us: 2/4, 3/4, 0.
  LoadRecorder r{one_link(), 4};
  r.set_load(kLink, 1e9, Time::at(2_us));
  r.set_load(kLink, 0, Time::at(7_us));
  r.set_load(kLink, 0.5e9, Time::at(9_us));
  Record record;
  r.end_window(Time::at(10_us));
  r.finish(record);
  EXPECT_EQ(record.bin_width, 4_us);
  ASSERT_EQ(record.bins, 3U);
  EXPECT_FLOAT_EQ(record.load[0], 0.5F);
  EXPECT_FLOAT_EQ(record.load[1], 0.75F);
  EXPECT_FLOAT_EQ(record.load[2], 0.125F);  // half full for a quarter of the bin
}

TEST(LoadRecorder, TheBinsAddUpToTheBytes) {
  check_property(200, [] {
    const auto changes = *rc::gen::inRange<std::uint32_t>(1, 60);
    Dice dice = draw_dice();
    LoadRecorder r{one_link(), 2 * dice.between(1, 20)};
    Time now;
    for (std::uint32_t i = 0; i < changes; ++i) {
      r.set_load(kLink, dice.chance(0.3) ? 0.0 : dice.uniform(0, 1e9), now);
      now += Duration::ps(dice.below(20'000'000));
    }
    Record record;
    r.end_window(now);
    r.finish(record);
    const double mean = std::accumulate(record.load.begin(), record.load.end(), 0.0);
    const double bytes = mean * 1e9 * record.bin_width.in_seconds();
    RC_ASSERT(std::abs(bytes - record.links[kLink].bytes) <= 1e-4 * record.links[kLink].bytes + 1e-6);  // bins are floats
    for (const float share : record.load) RC_ASSERT(share <= 1.0001F);
    RC_ASSERT(record.bin_width * static_cast<std::int64_t>(record.bins) >= now.since_start());
  });
}

}  // namespace
}  // namespace traingraph::sim::tests
