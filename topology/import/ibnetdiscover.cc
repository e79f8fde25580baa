// ibnetdiscover's listing, and the net files of ibsim that have the same form: a line per node
//     Switch 41 "S-0ff0"   # "description" enhanced port 0 lid 387 lmc 0        (also Ca, Hca, Rt)
// and below it a line per linked port
//     [1](guid) "S-0ff1"[21](guid)   # "description of the other end" lid 226 4xHDR
// Only the two quoted ids, the ports and the width x rate matter.
#include <fmt/format.h>

#include "topology/import/formats.h"
#include "topology/import/ib_fabric.h"
#include "topology/import/text.h"

namespace traingraph::topology::imports {
namespace {

class Reader {
 public:
  explicit Reader(const ImportFile& file) : file_{file} {}

  IbFabric read() {
    for (const Line& line : lines_of(file_.text)) {
      const std::string_view text = trimmed(line.text);
      if (text.empty() || text.front() == '#') continue;
      if (text.front() == '[') {
        port(line);
      } else if (text.find('"') != std::string_view::npos) {
        header(line);
      } else if (text.find('=') == std::string_view::npos && !text.starts_with("DR path")) {
        fail(file_, line.number, line.text.find(text) + 1,
             fmt::format("found {}, allowed: a node (Switch, Ca or Rt), a port ([1] \"id\"[2]), or key=value", shown(text)));
      }
    }
    if (fabric_.nodes.empty()) fail(file_, 1, 1, "there is no node in this listing");
    return std::move(fabric_);
  }

 private:
  /// The text between the quotes that begin at or after `at`, and where it ends.
  std::string_view quoted(const Line& line, std::size_t& at) const {
    const std::size_t begin = line.text.find('"', at);
    const std::size_t end = begin == std::string_view::npos ? begin : line.text.find('"', begin + 1);
    if (end == std::string_view::npos) fail(file_, line.number, at + 1, "a quoted id is missing or not closed");
    at = end + 1;
    return line.text.substr(begin + 1, end - begin - 1);
  }

  /// The description in the comment after `at`; empty if there is none.
  static std::string_view comment(const Line& line, std::size_t at) {
    const std::size_t hash = line.text.find('#', at);
    if (hash == std::string_view::npos) return {};
    const std::size_t begin = line.text.find('"', hash);
    const std::size_t end = begin == std::string_view::npos ? begin : line.text.find('"', begin + 1);
    return end == std::string_view::npos ? std::string_view{} : line.text.substr(begin + 1, end - begin - 1);
  }

  void header(const Line& line) {
    const std::vector<Word> words = line.words();
    const bool is_switch = equal_ignoring_case(words[0].text, "Switch");
    if (!is_switch && !equal_ignoring_case(words[0].text, "Ca") && !equal_ignoring_case(words[0].text, "Hca") &&
        !equal_ignoring_case(words[0].text, "Rt")) {
      fail(file_, line.number, words[0].column,
           fmt::format("found {}, allowed: Switch, Ca, Hca or Rt", shown(words[0].text)));
    }
    std::size_t at = 0;
    const std::string_view id = quoted(line, at);
    if (id.empty()) fail(file_, line.number, at, "an empty id");
    current_ = std::string{id};
    fabric_.node(current_, is_switch, comment(line, at));
  }

  std::uint32_t bracketed(const Line& line, std::size_t& at) const {
    const std::size_t begin = line.text.find('[', at);
    const std::size_t end = begin == std::string_view::npos ? begin : line.text.find(']', begin);
    if (end == std::string_view::npos) fail(file_, line.number, at + 1, "a port such as [1] is missing");
    constexpr std::uint32_t kMostPorts = 255;
    at = end + 1;
    const Word word{trimmed(line.text.substr(begin + 1, end - begin - 1)), begin + 2};
    return expect_whole(file_, line, word, 0, kMostPorts);
  }

  void port(const Line& line) {
    if (current_.empty()) fail(file_, line.number, 1, "a port before the first node");
    std::size_t at = 0;
    const std::uint32_t here = bracketed(line, at);
    const std::string other{quoted(line, at)};
    if (other.empty()) fail(file_, line.number, at, "an empty id");
    const std::uint32_t there = bracketed(line, at);
    const std::string_view description = comment(line, at);
    // Switches' ids begin with S-, adapters' with H- (routers' with R-); ibsim's are free, and their own lines say more.
    fabric_.node(other, other.starts_with("S-"), description);
    fabric_.link({current_, here}, {other, there}, speed(line, at));
  }

  /// "4xHDR" in the comment; zero when there is none.
  [[nodiscard]] sim::Bandwidth speed(const Line& line, std::size_t at) const {
    const std::size_t hash = line.text.find('#', at);
    if (hash == std::string_view::npos) return {};
    for (const Word& word : Line{line.text.substr(hash), line.number}.words()) {
      const std::size_t x = word.text.find('x');
      if (x == std::string_view::npos || x == 0) continue;
      const auto lanes = whole_number(word.text.substr(0, x));
      const double rate = lane_rate(word.text.substr(x + 1));
      if (lanes && *lanes > 0 && *lanes <= 12 && rate > 0) return sim::Bandwidth::gbit_per_s(*lanes * rate);
    }
    return {};
  }

  const ImportFile& file_;
  IbFabric fabric_;
  std::string current_;
};

}  // namespace

Imported read_ibnetdiscover(const ImportFile& file, const ImportOptions& options) {
  return write_ib_fabric(file, Reader{file}.read(), options);
}

}  // namespace traingraph::topology::imports
