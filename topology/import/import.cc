#include "topology/import/import.h"

#include <fmt/format.h>

#include <array>
#include <deque>

#include "topology/import/formats.h"
#include "topology/import/text.h"

namespace traingraph::topology {
namespace {

using imports::equal_ignoring_case;
using imports::Line;
using imports::trimmed;
using imports::Word;

constexpr std::size_t kLooked = 65536;  ///< bytes that decide what a file is

constexpr std::array<std::string_view, 9> kNames{"nccl_xml",   "ibnetdiscover", "iblinkinfo", "slurm", "nvidia_smi",
                                                 "infragraph", "astra_sim",     "ns3",        "htsim"};
constexpr std::array<std::string_view, 9> kSentences{"an NCCL topology (nccl_xml)",
                                                     "ibnetdiscover output",
                                                     "iblinkinfo output",
                                                     "a Slurm topology (slurm)",
                                                     "an `nvidia-smi topo -m` matrix (nvidia_smi)",
                                                     "InfraGraph (infragraph)",
                                                     "an ASTRA-sim network (astra_sim)",
                                                     "an ns-3 topology (ns3)",
                                                     "an htsim topology (htsim)"};

bool key_at_start(std::string_view line, std::string_view key) {
  return line.size() > key.size() && equal_ignoring_case(line.substr(0, key.size()), key);
}

bool all_numbers(const std::vector<Word>& words, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!imports::whole_number(words[i].text)) return false;
  }
  return true;
}

/// What one line says of the whole file; nothing: the next one may.
std::optional<ImportKind> kind_of_line(const Line& line, bool first) {
  const std::string_view text = trimmed(line.text);
  const std::vector<Word> words = line.words();
  if (key_at_start(text, "SwitchName=") || key_at_start(text, "BlockName=") || key_at_start(text, "BlockSizes=")) {
    return ImportKind::slurm;
  }
  if (text.starts_with("- topology:")) return ImportKind::slurm;
  if (text.find("==(") != std::string_view::npos && text.find(")==>") != std::string_view::npos)
    return ImportKind::iblinkinfo;
  if (key_at_start(text, "vendid=") || key_at_start(text, "switchguid=") || key_at_start(text, "caguid=")) {
    return ImportKind::ibnetdiscover;
  }
  if (words.size() >= 3 && words[2].text.starts_with('"') &&
      (equal_ignoring_case(words[0].text, "Switch") || equal_ignoring_case(words[0].text, "Hca") ||
       equal_ignoring_case(words[0].text, "Ca"))) {
    return ImportKind::ibnetdiscover;
  }
  if (words.size() >= 3 && words[0].text == "GPU0" && (words[1].text == "X" || words[1].text.starts_with("NV"))) {
    return ImportKind::nvidia_smi;
  }
  if (text.starts_with("topology:") && text.find('[') != std::string_view::npos) return ImportKind::astra_sim;
  if (text.starts_with("npus_count:")) return ImportKind::astra_sim;
  if (text == "infrastructure:" || text == "instances:" || text == "components:" || text.starts_with("- components:")) {
    return ImportKind::infragraph;
  }
  if (words.size() == 2 && imports::whole_number(words[1].text) &&
      (equal_ignoring_case(words[0].text, "Nodes") || equal_ignoring_case(words[0].text, "Tiers") ||
       equal_ignoring_case(words[0].text, "Podsize"))) {
    return ImportKind::htsim;
  }
  if (first && ((words.size() == 3 && all_numbers(words, 3)) || (words.size() == 6 && all_numbers(words, 5)))) {
    return ImportKind::ns3;
  }
  return std::nullopt;
}

/// `file` is of another kind, or looks like what no importer reads.
[[noreturn]] void wrong_kind(const ImportFile& file, ImportKind kind) {
  const std::string_view like = look_alike(file.text);
  const std::string_view found =
      like.empty() ? kSentences[static_cast<std::size_t>(recognize(file.text).value_or(kind))] : like;
  imports::fail(file, 1, 1,
                fmt::format("this {} {}, not {}", like.empty() ? "looks like" : "is", found,
                            kSentences[static_cast<std::size_t>(kind)]));
}

bool is_json(const ImportFile& file) { return trimmed(file.text.substr(0, kLooked)).starts_with('{'); }

Imported read_one(ImportKind kind, const ImportFile& file, const ImportOptions& options, const YamlParser& yaml) {
  switch (kind) {
    case ImportKind::nccl_xml:
      return imports::read_nccl_xml(file, options);
    case ImportKind::ibnetdiscover:
      return imports::read_ibnetdiscover(file, options);
    case ImportKind::iblinkinfo:
      return imports::read_iblinkinfo(file, options);
    case ImportKind::slurm:
      for (const Line& line : imports::lines_of(file.text)) {
        const std::string_view text = trimmed(line.text);
        if (text.starts_with("- ") || text.starts_with("---")) return imports::read_slurm_yaml(file, yaml(file), options);
        if (!text.empty() && text.front() != '#') break;
      }
      return imports::read_slurm_conf(file, options);
    case ImportKind::nvidia_smi:
      return imports::read_nvidia_smi(file, options);
    case ImportKind::ns3:
      return imports::read_ns3(file, options);
    case ImportKind::htsim:
      return imports::read_htsim(file, options);
    case ImportKind::infragraph:
    case ImportKind::astra_sim:
      break;
  }
  SIM_ASSERT(false, "a kind of several files");
  return {};
}

Imported read(ImportKind kind, std::span<const ImportFile> files, const ImportOptions& options, const YamlParser& yaml) {
  if (kind == ImportKind::infragraph) {
    std::vector<imports::ParsedFile> parsed;
    for (const ImportFile& f : files) parsed.push_back({&f, yaml(f)});
    return imports::read_infragraph(parsed, options);
  }
  if (kind == ImportKind::astra_sim) {
    const ImportFile* network = nullptr;
    const ImportFile* system = nullptr;
    for (const ImportFile& f : files) {
      const ImportFile*& place = is_json(f) ? system : network;
      if (place != nullptr)
        imports::fail(f, 1, 1, "a second file of the same sort; allowed: one network, and one system JSON");
      place = &f;
    }
    if (network == nullptr)
      imports::fail(files.front(), 1, 1, "this is ASTRA-sim's system JSON; the network YAML is missing");
    return imports::read_astra_sim({network, yaml(*network)}, system, options);
  }
  if (files.size() != 1) imports::fail(files[1], 1, 1, fmt::format("{} takes one file", to_string(kind)));
  return read_one(kind, files.front(), options, yaml);
}

}  // namespace

std::string to_string(ImportKind kind) { return std::string{kNames[static_cast<std::size_t>(kind)]}; }

std::optional<ImportKind> recognize(std::string_view text) {
  text = text.substr(0, kLooked);
  if (!look_alike(text).empty()) return std::nullopt;
  if (trimmed(text).starts_with('<') || trimmed(text.substr(std::min(text.find('<'), text.size()))).starts_with("<system")) {
    return text.find("<system") != std::string_view::npos ? std::optional{ImportKind::nccl_xml} : std::nullopt;
  }
  bool first = true;
  for (const Line& line : imports::lines_of(text)) {
    const std::string_view words = trimmed(line.text);
    if (words.empty() || words.front() == '#') continue;
    if (const auto kind = kind_of_line(line, first)) return kind;
    first = false;
  }
  return std::nullopt;
}

std::string_view look_alike(std::string_view text) {
  text = text.substr(0, kLooked);
  if (text.find("<graphs") != std::string_view::npos) return "an NCCL graph file (the choice of channels, not a topology)";
  if (text.find("# nThread") != std::string_view::npos || text.find("busbw") != std::string_view::npos) {
    return "an nccl-tests log (see `traingraph compare`)";
  }
  for (const Line& line : imports::lines_of(text)) {
    const std::vector<Word> words = line.words();
    if (words.size() < 2 || words[0].text != "GPU0") continue;
    for (const Word& w : words) {
      if (w.text == "OK" || w.text == "CNS" || w.text == "GNS" || w.text == "TNS") return "`nvidia-smi topo -p2p` output";
    }
  }
  if (trimmed(text).starts_with('{') && text.find("\"logical-dims\"") != std::string_view::npos) {
    return "an ASTRA-sim logical topology (the network itself is in another file)";
  }
  if (text.find("ENABLE_QCN") != std::string_view::npos) return "an ns-3 configuration (the topology is in another file)";
  return {};
}

Imported import_cluster(ImportKind kind, std::span<const ImportFile> files, const ImportOptions& options,
                        const YamlParser& yaml) {
  if (files.empty()) throw ImportError{"no file to import"};
  for (const ImportFile& f : files) {
    const bool system = kind == ImportKind::astra_sim && is_json(f) && look_alike(f.text).empty();
    const auto found = recognize(f.text);
    if (!system && ((found && *found != kind) || !look_alike(f.text).empty())) wrong_kind(f, kind);
  }
  Imported imported = read(kind, files, options, yaml);
  const std::string& name = files.front().name;
  const std::size_t slash = name.rfind('/');
  imported.cluster.name = slash == std::string::npos ? name : name.substr(slash + 1);
  return imported;
}

}  // namespace traingraph::topology
