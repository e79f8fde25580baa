// ns-3 topology text. First line: "nodes switches links" (ASTRA-sim), or "nodes gpus_per_server nvswitches switches links
// gpu_type" (SimAI; nodes counts switches too); then the switches' numbers (SimAI: NVSwitches first); then a line per link:
// "source destination 400Gbps 0.0005ms error_rate".
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

#include "topology/import/custom_writer.h"
#include "topology/import/formats.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

constexpr std::uint32_t kMostNodes = kMostDevices;

struct Suffix {
  std::string_view text;
  double factor;
};
constexpr std::array<Suffix, 8> kRates{
    {{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}, {"Gb/s", 1e9}, {"Mb/s", 1e6}, {"bps", 1}, {"b/s", 1}}};
constexpr std::array<Suffix, 5> kTimes{{{"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}, {"s", 1}}};

class Reader {
 public:
  Reader(const ImportFile& file, const ImportOptions& options) : file_{file}, writer_{options} {}

  Imported read() {
    for (const Line& line : lines_of(file_.text)) {
      const std::vector<Word> words = line.words();
      if (words.empty() || words[0].text.front() == '#') continue;
      if (nodes_ == 0) {
        header(line, words);
        read_switches_ = switches_ + nvswitches_ > 0;
      } else if (read_switches_) {
        switch_numbers(line, words);
      } else {
        link(line, words);
      }
    }
    if (nodes_ == 0) fail(file_, 1, 1, "there is nothing in this file");
    if (links_seen_ != links_) {
      fail(file_, 1, 1, fmt::format("the first line announces {} links, but there are {}", links_, links_seen_));
    }
    writer_.custom().gpus_forward = switches_ + nvswitches_ == 0;
    const std::uint32_t gpus = nodes_ - static_cast<std::uint32_t>(switch_.size());
    return std::move(writer_).finish(file_.name, per_server_ > 0 ? (gpus + per_server_ - 1) / per_server_ : gpus);
  }

 private:
  void header(const Line& line, const std::vector<Word>& words) {
    if (words.size() != 3 && words.size() != 6 && words.size() != 5) {
      fail(file_, line.number, 1,
           fmt::format("{} values, allowed: 3 (nodes switches links) or 6 (nodes gpus_per_server nvswitches switches links "
                       "gpu_type)",
                       words.size()));
    }
    const auto value = [&](std::size_t i) { return expect_whole(file_, line, words[i], i == 0 ? 1 : 0, kMostNodes); };
    nodes_ = value(0);
    if (nodes_ > file_.text.size()) {  // each node is named below
      fail(file_, line.number, words[0].column, fmt::format("{} nodes in a file of {} bytes", nodes_, file_.text.size()));
    }
    if (words.size() == 3) {
      switches_ = value(1);
      links_ = value(2);
    } else {
      per_server_ = value(1);
      nvswitches_ = value(2);
      switches_ = value(3);
      links_ = value(4);
    }
    if (std::uint64_t{switches_} + nvswitches_ >= nodes_) {
      fail(file_, line.number, words[1].column, fmt::format("of {} nodes all are switches", nodes_));
    }
  }

  void switch_numbers(const Line& line, const std::vector<Word>& words) {
    for (const Word& w : words) {
      const std::uint32_t id = expect_whole(file_, line, w, 0, nodes_ - 1);
      if (!switch_.emplace(id, static_cast<std::uint32_t>(switch_.size())).second) {
        fail(file_, line.number, w.column, fmt::format("switch {} is named twice", id));
      }
    }
    const std::uint32_t expected = switches_ + nvswitches_;
    if (switch_.size() > expected) {
      fail(file_, line.number, 1, fmt::format("{} switches named, the first line has {}", switch_.size(), expected));
    }
    if (switch_.size() == expected) {
      read_switches_ = false;
      add_devices();
    }
  }

  void add_devices() {
    names_.resize(nodes_);
    std::int32_t gpu = 0;
    for (std::uint32_t id = 0; id < nodes_; ++id) {
      const auto at = switch_.find(id);
      if (at == switch_.end()) {
        const std::int32_t server = per_server_ == 0 ? gpu : gpu / static_cast<std::int32_t>(per_server_);
        names_[id] = fmt::format("gpu{}", gpu);
        writer_.device(
            {.name = names_[id], .kind = DeviceKind::gpu, .domain = nvswitches_ > 0 ? server : -1, .node = server});
        ++gpu;
      } else if (at->second < nvswitches_) {
        names_[id] = fmt::format("nvswitch{}", id);
        writer_.device({.name = names_[id], .kind = DeviceKind::nvswitch});
      } else {
        names_[id] = fmt::format("switch{}", id);
        writer_.device({.name = names_[id], .kind = DeviceKind::switch_});
      }
    }
  }

  template <std::size_t N>
  double quantity(const Line& line, const Word& word, const std::array<Suffix, N>& suffixes,
                  std::string_view allowed) const {
    for (const Suffix& s : suffixes) {
      if (!word.text.ends_with(s.text)) continue;
      const auto value = number(word.text.substr(0, word.text.size() - s.text.size()));
      if (value && *value >= 0 && *value * s.factor < 1e18) return *value * s.factor;
    }
    fail(file_, line.number, word.column, fmt::format("found {}, allowed: {}", shown(word.text), allowed));
  }

  void link(const Line& line, const std::vector<Word>& words) {
    if (names_.empty()) add_devices();
    if (words.size() < 4 || words.size() > 5) {
      fail(file_, line.number, 1, "a link is: source destination bandwidth latency error_rate");
    }
    const std::uint32_t a = expect_whole(file_, line, words[0], 0, nodes_ - 1);
    const std::uint32_t b = expect_whole(file_, line, words[1], 0, nodes_ - 1);
    if (a == b) fail(file_, line.number, words[1].column, fmt::format("a link from {} to itself", a));
    const double rate = quantity(line, words[2], kRates, "a rate such as 400Gbps");
    const double latency = quantity(line, words[3], kTimes, "a time such as 0.0005ms");
    if (latency > 1) fail(file_, line.number, words[3].column, "a latency of more than a second");
    if (words.size() == 5) {
      const auto error = number(words[4].text);
      if (!error || *error < 0 || *error > 1) {
        fail(file_, line.number, words[4].column,
             fmt::format("found {}, allowed: an error rate from 0 to 1", shown(words[4].text)));
      }
      if (*error > 0) writer_.note("error rates of links are left out: nothing is lost here");
    }
    const bool inside = switch_.contains(a) != switch_.contains(b) && switch_.at(switch_.contains(a) ? a : b) < nvswitches_;
    const Tier tier = inside ? Tier::scale_up : switch_.contains(a) && switch_.contains(b) ? Tier::leaf_spine : Tier::nic;
    writer_.link(names_[a], names_[b], {sim::Bandwidth::bytes_per_s(rate / 8), sim::Duration::seconds(latency)}, tier);
    ++links_seen_;
  }

  const ImportFile& file_;
  CustomWriter writer_;
  std::uint32_t nodes_ = 0, per_server_ = 0, nvswitches_ = 0, switches_ = 0, links_ = 0, links_seen_ = 0;
  bool read_switches_ = false;
  std::map<std::uint32_t, std::uint32_t> switch_;  // id to place in the list
  std::vector<std::string> names_;
};

}  // namespace

Imported read_ns3(const ImportFile& file, const ImportOptions& options) { return Reader{file, options}.read(); }

}  // namespace traingraph::topology::imports
