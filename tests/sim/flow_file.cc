#include "tests/sim/flow_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "sim/fraction.h"

namespace traingraph::sim::tests {
namespace {

/// The share that a decimal stands for: the smallest denominator that gives it back.
Fraction exact_fraction(double decimal) {
  for (std::uint64_t k = 1; k <= 4096; ++k) {
    const double n = std::round(decimal * static_cast<double>(k));
    if (n >= 1 && n / static_cast<double>(k) == decimal) return Fraction::of(static_cast<std::uint64_t>(n), k);
  }
  throw std::runtime_error{fmt::format("{:.17g} is no simple fraction", decimal)};
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : in_{path}, name_{path.string()} {
    if (!in_) throw std::runtime_error{"cannot read " + name_};
  }
  template <class T>
  T next() {
    T value{};
    if (!(in_ >> value)) throw std::runtime_error{name_ + ": ends too early, or a word where a number is due"};
    return value;
  }
  /// The count behind a keyword.
  std::uint32_t section(const std::string& keyword) {
    if (const auto word = next<std::string>(); word != keyword)
      throw std::runtime_error{fmt::format("{}: found '{}', expected '{}'", name_, word, keyword)};
    return next<std::uint32_t>();
  }

 private:
  std::ifstream in_;
  std::string name_;
};

}  // namespace

FlowFile read_flow_file(const std::filesystem::path& path) {
  std::ifstream peek{path};
  std::string first;
  peek >> first;
  const bool mixed = first == "format";
  Reader in{path};
  if (mixed && in.section("format") != 2) throw std::runtime_error{"unknown format"};
  in.section("hosts");
  FlowFile file;
  for (std::uint32_t n = in.section("links"); n > 0; --n) {
    file.capacities.push_back(in.next<double>());
    in.next<double>();  // latency: already in the starts
    in.next<std::string>();
  }
  if (mixed) {
    for (std::uint32_t n = in.section("changes"); n > 0; --n) {
      const auto at = in.next<double>();
      const auto link = in.next<std::uint32_t>();
      file.changes.push_back({at, link, in.next<double>()});
    }
  } else {
    in.section("rounds");  // all rounds are alike: one is played
  }
  for (std::uint32_t n = in.section("flows"); n > 0; --n) {
    FlowFile::Flow flow;
    in.next<std::uint32_t>();
    in.next<std::uint32_t>();
    flow.bytes = in.next<double>();
    if (mixed) {
      flow.start_s = in.next<double>();
      flow.cap = in.next<double>();
    }
    for (std::uint32_t k = in.next<std::uint32_t>(); k > 0; --k) {
      const auto link = static_cast<LinkId>(in.next<std::uint32_t>());
      flow.hops.push_back(path_link(link, mixed ? exact_fraction(in.next<double>()) : Fraction::of(1, 1)));
    }
    file.flows.push_back(std::move(flow));
  }
  return file;
}

void generate_flow_files(const std::string& generator, const std::vector<std::string>& inputs,
                         const std::filesystem::path& directory) {
  // A generator makes all its inputs in one go; only the wanted ones are written.
  const std::string script =
      "import os, sys\n"
      "sys.dont_write_bytecode = True\n"
      "folder, name, directory, *wanted = sys.argv[1:]\n"
      "sys.path.insert(0, folder)\n"
      "generator = __import__(name)\n"
      "emit = generator.emit\n"
      "generator.emit = lambda path, *rest: emit(path, *rest) if os.path.basename(path) in wanted else None\n"
      "sys.argv = [name, directory]\n"
      "generator.main()\n";
  const std::filesystem::path driver = directory / ("drive_" + generator + ".py");
  std::ofstream{driver} << script;
  std::string command = fmt::format("/usr/bin/python3 '{}' '{}' '{}' '{}'", driver.string(), TRAINGRAPH_TEST_DATA "/flows",
                                    generator, directory.string());
  for (const std::string& input : inputs) command += fmt::format(" '{}.txt'", input);
  if (std::system((command + " > /dev/null").c_str()) != 0)
    throw std::runtime_error{"could not run " + generator + ".py: is python3 installed?"};
}

}  // namespace traingraph::sim::tests
