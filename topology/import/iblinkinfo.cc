// iblinkinfo's listing: sections "CA: name:" and "Switch: guid name:" with a line per port
//     0xguid  lid port[  ] ==( 4X 53.125 Gbps Active/ LinkUp)==>  lid port[  ] "name of the other end" ( )
// (switches' lines have no guid: it stands in their head). A node is known by its lid, which both ends of a cable name.
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
      if (text.empty() || text.front() == '#' || text == "..." || text == "[...]") continue;
      if (text.starts_with("CA:")) {
        section(text.substr(3), false);
      } else if (text.starts_with("Switch:")) {
        std::string_view rest = trimmed(text.substr(7));
        if (rest.starts_with("0x")) rest = rest.substr(std::min(rest.find(' '), rest.size()));
        section(rest, true);
      } else if (text.find("==(") != std::string_view::npos) {
        port(line);
      } else {
        fail(file_, line.number, line.text.find(text) + 1,
             fmt::format("found {}, allowed: 'CA: name:', 'Switch: guid name:', or a port with ==( ... )==>", shown(text)));
      }
    }
    if (fabric_.links.empty()) fail(file_, 1, 1, "there is no link in this listing");
    return std::move(fabric_);
  }

 private:
  void section(std::string_view name, bool is_switch) {
    name = trimmed(name);
    if (name.ends_with(':')) name.remove_suffix(1);
    name_ = std::string{trimmed(name)};
    is_switch_ = is_switch;
    open_ = true;
  }

  /// "lid port[  ]" as the last two (or, before an arrow, the last two) words of `text`.
  IbPort end(const Line& line, std::string_view text, std::size_t column) const {
    const std::size_t bracket = text.find('[');
    const std::vector<Word> words = Line{text.substr(0, bracket), line.number}.words();
    if (bracket == std::string_view::npos || words.size() < 2) {
      fail(file_, line.number, column + 1, "lid and port such as '3 41[  ]' are missing");
    }
    const Word& lid = words[words.size() - 2];
    const Word& port = words.back();
    return {fmt::format("lid{}", expect_whole(file_, line, {lid.text, column + lid.column}, 0, 0xffffff)),
            expect_whole(file_, line, {port.text, column + port.column}, 0, 255)};
  }

  void port(const Line& line) {
    if (!open_) fail(file_, line.number, 1, "a port before the first 'CA:' or 'Switch:'");
    const std::size_t arrow = line.text.find("==(");
    const std::size_t tip = line.text.find(")==>", arrow);
    if (tip == std::string_view::npos) fail(file_, line.number, arrow + 1, "the arrow ==( ... )==> is not closed");
    const std::string_view state = line.text.substr(arrow + 3, tip - arrow - 3);
    if (state.find("Down") != std::string_view::npos) return;
    const IbPort here = end(line, line.text.substr(0, arrow), 0);
    const std::size_t after = tip + 4;
    const IbPort there = end(line, line.text.substr(after), after);
    const std::size_t quote = line.text.find('"', after);
    const std::size_t closing = quote == std::string_view::npos ? quote : line.text.find('"', quote + 1);
    const std::string_view other =
        closing == std::string_view::npos ? std::string_view{} : line.text.substr(quote + 1, closing - quote - 1);
    fabric_.node(here.node, is_switch_, name_);
    fabric_.node(there.node, false, other);
    fabric_.link(here, there, speed(line, state, arrow + 3));
  }

  /// " 4X        53.125 Gbps Active/  LinkUp"
  [[nodiscard]] sim::Bandwidth speed(const Line& line, std::string_view state, std::size_t column) const {
    const std::vector<Word> words = Line{state, line.number}.words();
    double lanes = 0, rate = 0;
    for (const Word& w : words) {
      if (w.text.size() > 1 && (w.text.ends_with('X') || w.text.ends_with('x'))) {
        if (const auto n = whole_number(w.text.substr(0, w.text.size() - 1))) lanes = *n;
      } else if (const auto n = number(w.text)) {
        rate = lane_rate(*n);
        if (rate == 0) {
          fail(file_, line.number, column + w.column,
               fmt::format("found a lane of {} Gbps, allowed: the rates from SDR (2.5) to XDR (212.5)", w.text));
        }
      }
    }
    return sim::Bandwidth::gbit_per_s(lanes * rate);
  }

  const ImportFile& file_;
  IbFabric fabric_;
  std::string name_;
  bool is_switch_ = false;
  bool open_ = false;
};

}  // namespace

Imported read_iblinkinfo(const ImportFile& file, const ImportOptions& options) {
  return write_ib_fabric(file, Reader{file}.read(), options);
}

}  // namespace traingraph::topology::imports
