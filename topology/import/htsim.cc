// htsim's .topo: "Nodes 8", "Tiers 3", "Podsize 4", then a section per tier from the hosts up: "Tier 0",
// "Downlink_speed_Gbps 200", "Radix_Down 2", "Radix_Up 2", "Downlink_Latency_ns 1000", "Bundle 1" (parallel links below),
// "Oversubscribed 1". A fat tree: hosts / Radix_Down leaves; a leaf's Radix_Up links go to Radix_Up / Bundle(1) switches of
// tier 1, which in three tiers are those of its pod; a tier-1 switch's Radix_Up links to Radix_Up / Bundle(2) cores.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "topology/import/custom_writer.h"
#include "topology/import/formats.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

struct TierText {
  double speed_gbit = 0, latency_ns = -1;
  std::uint32_t radix_down = 0, radix_up = 0, bundle = 1;
  std::size_t line = 1;
};

class Reader {
 public:
  Reader(const ImportFile& file, const ImportOptions& options) : file_{file}, writer_{options} {}

  Imported read() {
    for (const Line& line : lines_of(file_.text)) read_line(line);
    check();
    build();
    writer_.custom().gpus_forward = false;
    return std::move(writer_).finish(file_.name, nodes_);
  }

 private:
  void read_line(const Line& line) {
    std::vector<Word> words = Line{line.text.substr(0, line.text.find('#')), line.number}.words();
    if (words.empty()) return;
    const std::string_view key = words[0].text;
    if (words.size() != 2)
      fail(file_, line.number, 1, fmt::format("{} has {} values, allowed: 1", shown(key), words.size() - 1));
    constexpr std::uint32_t kMost = 4'000'000;
    const auto whole = [&](std::uint32_t least) { return expect_whole(file_, line, words[1], least, kMost); };
    const auto real = [&] {
      const auto value = number(words[1].text);
      if (!value || *value < 0 || *value > 1e9) {
        fail(file_, line.number, words[1].column, fmt::format("found {}, allowed: a number", shown(words[1].text)));
      }
      return *value;
    };
    if (equal_ignoring_case(key, "Nodes")) {
      nodes_ = whole(1);
    } else if (equal_ignoring_case(key, "Tiers")) {
      tiers_ = expect_whole(file_, line, words[1], 2, 3);
    } else if (equal_ignoring_case(key, "Podsize")) {
      podsize_ = whole(1);
    } else if (equal_ignoring_case(key, "Tier")) {
      tier_ = static_cast<int>(expect_whole(file_, line, words[1], 0, 2));
      text_[static_cast<std::size_t>(tier_)].line = line.number;
    } else {
      if (tier_ < 0) {
        fail(file_, line.number, 1,
             fmt::format("found {}, allowed before the first Tier: Nodes, Tiers, Podsize", shown(key)));
      }
      TierText& t = text_[static_cast<std::size_t>(tier_)];
      if (equal_ignoring_case(key, "Downlink_speed_Gbps")) {
        t.speed_gbit = real();
      } else if (equal_ignoring_case(key, "Downlink_Latency_ns")) {
        t.latency_ns = real();
      } else if (equal_ignoring_case(key, "Radix_Down")) {
        t.radix_down = whole(1);
      } else if (equal_ignoring_case(key, "Radix_Up")) {
        t.radix_up = whole(1);
      } else if (equal_ignoring_case(key, "Bundle")) {
        t.bundle = whole(1);
      } else if (equal_ignoring_case(key, "Queue_Up") || equal_ignoring_case(key, "Queue_Down") ||
                 equal_ignoring_case(key, "Switch_Latency_ns") || equal_ignoring_case(key, "Oversubscribed")) {
        static_cast<void>(real());
        if (equal_ignoring_case(key, "Switch_Latency_ns")) t.latency_ns = std::max(t.latency_ns, 0.0) + real();
      } else {
        fail(file_, line.number, 1,
             fmt::format("unknown key {}; allowed in a tier: Downlink_speed_Gbps, Downlink_Latency_ns, Switch_Latency_ns, "
                         "Radix_Down, Radix_Up, Bundle, Oversubscribed, Queue_Up, Queue_Down",
                         shown(key)));
      }
    }
  }

  void check() {
    if (nodes_ == 0) fail(file_, 1, 1, "Nodes is missing");
    if (tiers_ == 0) fail(file_, 1, 1, "Tiers is missing");
    if (tiers_ == 2) podsize_ = nodes_;
    if (podsize_ == 0) fail(file_, 1, 1, "Podsize is missing");
    for (std::uint32_t i = 0; i < tiers_; ++i) {
      TierText& t = text_[i];
      const bool top = i + 1 == tiers_;
      if (t.speed_gbit <= 0) fail(file_, t.line, 1, fmt::format("tier {}: Downlink_speed_Gbps is missing or 0", i));
      if (t.radix_down == 0) fail(file_, t.line, 1, fmt::format("tier {}: Radix_Down is missing", i));
      if (!top && t.radix_up == 0) fail(file_, t.line, 1, fmt::format("tier {}: Radix_Up is missing", i));
      if (!top && t.radix_up % text_[i + 1].bundle != 0) {
        fail(file_, t.line, 1,
             fmt::format("tier {}: Radix_Up {} is no multiple of the Bundle {} above", i, t.radix_up, text_[i + 1].bundle));
      }
      if (t.latency_ns < 0) {
        t.latency_ns = 0;
        writer_.note(fmt::format("tier {}: no latency in the file, taken as 0", i));
      }
    }
    if (nodes_ % podsize_ != 0 || podsize_ % text_[0].radix_down != 0) {
      fail(file_, 1, 1,
           fmt::format("{} nodes in pods of {} below leaves of {}: each must divide the one before", nodes_, podsize_,
                       text_[0].radix_down));
    }
  }

  [[nodiscard]] LinkSpec speed(std::uint32_t tier) const {
    return {sim::Bandwidth::gbit_per_s(text_[tier].speed_gbit), sim::Duration::ns(text_[tier].latency_ns)};
  }

  void build() {
    const std::uint32_t leaves = nodes_ / text_[0].radix_down, pods = nodes_ / podsize_;
    const std::uint32_t spines = text_[0].radix_up / text_[1].bundle;  // of a pod
    const auto label = [](std::uint32_t i) { return static_cast<std::int32_t>(i); };
    for (std::uint32_t h = 0; h < nodes_; ++h) {
      writer_.device(
          {.name = fmt::format("gpu{}", h), .kind = DeviceKind::gpu, .node = label(h), .pod = label(h / podsize_)});
      writer_.link(fmt::format("gpu{}", h), fmt::format("leaf{}", h / text_[0].radix_down), speed(0), Tier::nic);
    }
    const std::uint32_t leaves_of_pod = leaves / pods;
    for (std::uint32_t l = 0; l < leaves; ++l) {
      const std::uint32_t pod = l / leaves_of_pod;
      writer_.device({.name = fmt::format("leaf{}", l), .kind = DeviceKind::leaf, .pod = label(pod)});
      for (std::uint32_t s = 0; s < spines; ++s) {
        writer_.link(fmt::format("leaf{}", l), fmt::format("spine{}", pod * spines + s), speed(1), Tier::leaf_spine,
                     text_[1].bundle);
      }
    }
    const std::uint32_t cores = tiers_ == 3 ? text_[1].radix_up / text_[2].bundle : 0;  // of a spine
    for (std::uint32_t s = 0; s < spines * pods; ++s) {
      writer_.device({.name = fmt::format("spine{}", s), .kind = DeviceKind::spine, .pod = label(s / spines)});
      for (std::uint32_t c = 0; c < cores; ++c) {
        writer_.link(fmt::format("spine{}", s), fmt::format("core{}", s % spines * cores + c), speed(2), Tier::spine_core,
                     text_[2].bundle);
      }
    }
    for (std::uint32_t c = 0; c < cores * spines; ++c) {
      writer_.device({.name = fmt::format("core{}", c), .kind = DeviceKind::core});
    }
  }

  const ImportFile& file_;
  CustomWriter writer_;
  std::uint32_t nodes_ = 0, tiers_ = 0, podsize_ = 0;
  int tier_ = -1;
  std::array<TierText, 3> text_;
};

}  // namespace

Imported read_htsim(const ImportFile& file, const ImportOptions& options) { return Reader{file, options}.read(); }

}  // namespace traingraph::topology::imports
