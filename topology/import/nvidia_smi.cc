// The matrix of `nvidia-smi topo -m`: a row and a column for each GPU and NIC; a cell says how the two are joined:
//   X itself, NV# so many NVLinks, PIX one PCIe switch, PXB several, PHB one host bridge, NODE one NUMA node, SYS between
//   them.
// Between GPUs NV# hides what PCIe is like there; GPUs of equal CPU affinity are taken to sit at one socket.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "topology/import/formats.h"
#include "topology/import/node_template.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

constexpr std::uint32_t kMostNvLinks = 18;  // of a GPU up to Blackwell
constexpr std::size_t kMostColumns = 512;

/// Which of n things hang together.
class Groups {
 public:
  explicit Groups(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[std::max(find(a), find(b))] = std::min(find(a), find(b)); }

 private:
  std::vector<std::size_t> parent_;
};

/// Without terminals' escape sequences (the header is printed underlined).
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      out += text[i];
      continue;
    }
    while (i + 1 < text.size() && text[i] != 'm') ++i;
  }
  return out;
}

bool is_gpu(std::string_view name) { return name.starts_with("GPU") && whole_number(name.substr(3)).has_value(); }

class Reader {
 public:
  Reader(const ImportFile& file, const ImportOptions& options)
      : file_{file}, options_{options}, text_{plain(file.text)}, writer_{options} {}

  Imported read() {
    const std::vector<Line> lines = lines_of(text_);
    std::size_t i = 0;
    while (i < lines.size() && !header(lines[i])) ++i;
    if (columns_.empty()) fail(file_, 1, 1, "there is no matrix here: no line that names GPU0 and what is joined to it");
    cells_.resize(columns_.size());
    affinity_.resize(columns_.size());
    for (++i; i < lines.size(); ++i) {
      if (!row(lines[i])) break;
    }
    for (std::size_t c = 0; c < gpus_; ++c) {
      if (cells_[c].empty()) fail(file_, header_line_, 1, fmt::format("there is no row of {}", columns_[c]));
    }
    number_nics();
    add_pcie();
    add_nvlinks();
    add_ports();
    return write_nodes(file_, node_, std::move(writer_), options_);
  }

 private:
  bool header(const Line& line) {
    const std::vector<Word> words = line.words();
    if (words.empty() || !is_gpu(words[0].text)) return false;
    if (words.size() > 1 && words[1].text == "X") return false;
    std::size_t n = 0;
    while (n < words.size() && words[n].text != "CPU" && words[n].text != "NUMA") ++n;
    if (n > kMostColumns) fail(file_, line.number, 1, fmt::format("more than {} columns", kMostColumns));
    for (std::size_t i = 0; i < n; ++i) {
      columns_.emplace_back(words[i].text);
      if (is_gpu(words[i].text)) {
        if (gpus_ != i) fail(file_, line.number, words[i].column, "a GPU after a NIC; GPUs come first");
        ++gpus_;
      }
    }
    header_line_ = line.number;
    return true;
  }

  /// False where the matrix ends.
  bool row(const Line& line) {
    const std::vector<Word> words = line.words();
    if (words.empty()) return false;
    const auto at = std::find(columns_.begin(), columns_.end(), words[0].text);
    if (at == columns_.end()) return false;
    const auto index = static_cast<std::size_t>(at - columns_.begin());
    if (words.size() < 1 + columns_.size()) {
      fail(file_, line.number, 1,
           fmt::format("{} has {} cells for {} columns", words[0].text, words.size() - 1, columns_.size()));
    }
    if (!cells_[index].empty()) fail(file_, line.number, 1, fmt::format("two rows of {}", words[0].text));
    for (std::size_t c = 0; c < columns_.size(); ++c) check_cell(line, words[1 + c], index, c);
    for (std::size_t c = 0; c < columns_.size(); ++c) cells_[index].emplace_back(words[1 + c].text);
    if (words.size() > 1 + columns_.size()) affinity_[index] = words[1 + columns_.size()].text;
    return true;
  }

  void check_cell(const Line& line, const Word& word, std::size_t r, std::size_t c) const {
    static constexpr std::array<std::string_view, 6> kWords{"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
    const std::string_view t = word.text;
    if ((t == "X") != (r == c)) {
      fail(file_, line.number, word.column, fmt::format("found {}: X stands on the diagonal and only there", shown(t)));
    }
    if (std::find(kWords.begin(), kWords.end(), t) != kWords.end() || t == "SOC") return;
    if (r < gpus_ && c < gpus_ && nvlinks(t) > 0 && nvlinks(t) <= kMostNvLinks) return;
    constexpr std::array<std::string_view, 6> kPeer{"OK", "CNS", "GNS", "TNS", "NS", "U"};
    if (std::find(kPeer.begin(), kPeer.end(), t) != kPeer.end()) {
      fail(file_, line.number, word.column,
           fmt::format("found '{}': this is `nvidia-smi topo -p2p` output, which says nothing of links; give that of "
                       "`nvidia-smi topo -m`",
                       t));
    }
    fail(file_, line.number, word.column,
         fmt::format("found {}, allowed: X, NV1 to NV{} between GPUs, PIX, PXB, PHB, NODE, SYS", shown(t), kMostNvLinks));
  }

  static std::uint32_t nvlinks(std::string_view cell) {
    return cell.starts_with("NV") ? whole_number(cell.substr(2)).value_or(0) : 0;
  }

  [[nodiscard]] std::string_view cell(std::size_t a, std::size_t b) const {
    return cells_[a].empty() ? (cells_[b].empty() ? std::string_view{"SYS"} : std::string_view{cells_[b][a]}) : cells_[a][b];
  }

  void number_nics() {
    for (std::size_t g = 0; g < gpus_; ++g) {
      names_.push_back(fmt::format("gpu{}", g));
      node_.devices.push_back({.name = names_.back(), .kind = DeviceKind::gpu, .rail = static_cast<std::int32_t>(g)});
    }
    for (std::size_t c = gpus_; c < columns_.size(); ++c) {
      names_.push_back(fmt::format("nic{}", c - gpus_));
      node_.devices.push_back(
          {.name = names_.back(), .kind = DeviceKind::nic, .rail = static_cast<std::int32_t>(c - gpus_)});
      node_.nics.push_back(options_.bandwidth);
      writer_.note(fmt::format("speed of the NICs: not in the file, taken as {}; --set bandwidth=200Gb/s gives another",
                               gbit(options_.bandwidth)));
    }
  }

  void add_pcie() {
    const std::size_t n = columns_.size();
    Groups bridges{n}, sockets{n};
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a + 1; b < n; ++b) {
        const std::string_view t = cell(a, b);
        if (t == "PIX" || t == "PXB") bridges.join(a, b);
        if (t == "PIX" || t == "PXB" || t == "PHB" || t == "NODE") sockets.join(a, b);
        if (!affinity_[a].empty() && affinity_[a] == affinity_[b]) sockets.join(a, b);
      }
    }
    std::vector<std::size_t> members(n);
    for (std::size_t i = 0; i < n; ++i) ++members[bridges.find(i)];
    std::map<std::size_t, std::string> cpus, switches;
    const LinkSpec pcie{options_.pcie, {}};
    for (std::size_t i = 0; i < n; ++i) {
      const auto [cpu, first] = cpus.emplace(sockets.find(i), fmt::format("cpu{}", cpus.size()));
      if (first) node_.devices.push_back({.name = cpu->second, .kind = DeviceKind::host});
      std::string above = cpu->second;
      if (const std::size_t b = bridges.find(i); members[b] > 1) {
        const auto [hub, added] = switches.emplace(b, fmt::format("pcie{}", switches.size()));
        if (added) {
          node_.devices.push_back({.name = hub->second, .kind = DeviceKind::pcie_switch});
          node_.links.push_back({hub->second, cpu->second, pcie, Tier::pcie});
        }
        above = hub->second;
      }
      above_.push_back(above);
    }
    for (auto a = cpus.begin(); a != cpus.end(); ++a) {
      for (auto b = std::next(a); b != cpus.end(); ++b) {
        node_.links.push_back({a->second, b->second, {options_.cpu_bus, {}}, Tier::other});
      }
    }
    writer_.note(fmt::format("PCIe links and links between sockets: speeds not in the file, taken as {:g} and {:g} GB/s",
                             options_.pcie.bytes_per_s() / 1e9, options_.cpu_bus.bytes_per_s() / 1e9));
  }

  void add_nvlinks() {
    std::uint32_t most = 0, least = kMostNvLinks + 1;
    std::vector<std::uint32_t> total(gpus_);
    for (std::size_t a = 0; a < gpus_; ++a) {
      for (std::size_t b = 0; b < gpus_; ++b) {
        if (a == b) continue;
        const std::uint32_t links = nvlinks(cells_[a][b]);
        if (links != nvlinks(cells_[b][a])) {
          fail(file_, header_line_, 1, fmt::format("GPU{} and GPU{} differ in what joins them", a, b));
        }
        most = std::max(most, links);
        least = std::min(least, links);
        total[a] += links;
      }
    }
    if (gpus_ < 2) return;
    if (most == 0) return join_as_asked();
    node_.scale_up = true;
    const bool switched = *std::max_element(total.begin(), total.end()) > kMostNvLinks;
    if (switched && least != most) {
      fail(file_, header_line_, 1,
           "GPUs with more NVLinks than there are, and not the same between all: neither switch nor mesh");
    }
    const std::uint32_t of_gpu = switched ? most : *std::max_element(total.begin(), total.end());
    const LinkSpec one{link_speed(of_gpu), options_.scale_up_latency};
    if (switched) {
      node_.devices.push_back({.name = "nvswitch", .kind = DeviceKind::nvswitch});
      for (std::size_t g = 0; g < gpus_; ++g) node_.links.push_back({names_[g], "nvswitch", one, Tier::scale_up, most});
      writer_.note(fmt::format("NV{} between all {} GPUs needs a switch: taken as one that never blocks", most, gpus_));
      return;
    }
    for (std::size_t a = 0; a < gpus_; ++a) {
      for (std::size_t b = a + 1; b < gpus_; ++b) {
        const std::uint32_t links = nvlinks(cells_[a][b]);
        if (links > 0) node_.links.push_back({names_[a], names_[b], one, Tier::scale_up, links});
      }
    }
    node_.gpus_forward = least == 0;
  }

  /// Which generation of NVLink it is follows from how many links a GPU has: 4 of Pascal, 6 of Volta, 12 of Ampere, 18 since
  /// Hopper.
  sim::Bandwidth link_speed(std::uint32_t links) {
    if (options_.scale_up > sim::Bandwidth{}) return options_.scale_up / links;
    const sim::Bandwidth speed = links > 12 ? options_.nvlink_sm90 : links > 4 ? options_.nvlink_sm70 : options_.nvlink_sm60;
    writer_.note(
        fmt::format("an NVLink carries {:g} GB/s, from the number of them{}; --set scale_up= gives a GPU's "
                    "bandwidth over all its links",
                    speed.bytes_per_s() / 1e9, links > 12 ? " (18: Hopper, Blackwell has as many)" : ""));
    return speed;
  }

  void join_as_asked() {
    if (!(options_.scale_up > sim::Bandwidth{})) {
      return writer_.note("NVLinks: none in the file, GPUs meet over PCIe; --set scale_up=370.8GB/s gives them a switch");
    }
    node_.scale_up = true;
    node_.devices.push_back({.name = "nvswitch", .kind = DeviceKind::nvswitch});
    for (std::size_t g = 0; g < gpus_; ++g) {
      node_.links.push_back({names_[g], "nvswitch", {options_.scale_up, options_.scale_up_latency}, Tier::scale_up});
    }
  }

  /// GPUs and NICs on PCIe; a GPU with NVLinks through a port of its own, so that a way over NVLink is always the shorter
  /// one.
  void add_ports() {
    const LinkSpec pcie{options_.pcie, {}};
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::string end = names_[i];
      if (i < gpus_ && node_.scale_up) {
        end += "_port";
        node_.devices.push_back({.name = end, .kind = DeviceKind::pcie_switch});
        node_.links.push_back({names_[i], end, pcie, Tier::pcie});
      }
      node_.links.push_back({end, above_[i], pcie, Tier::pcie});
    }
  }

  const ImportFile& file_;
  const ImportOptions& options_;
  const std::string text_;
  CustomWriter writer_;
  NodeTemplate node_;
  std::vector<std::string> columns_;
  std::size_t gpus_ = 0;
  std::size_t header_line_ = 1;
  std::vector<std::vector<std::string>> cells_;
  std::vector<std::string> affinity_;
  std::vector<std::string> names_;
  std::vector<std::string> above_;
};

}  // namespace

Imported read_nvidia_smi(const ImportFile& file, const ImportOptions& options) { return Reader{file, options}.read(); }

}  // namespace traingraph::topology::imports
