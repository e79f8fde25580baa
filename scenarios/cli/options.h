// Second stage of reading the command line: raw options get their meaning, and what contradicts itself is refused. Still no
// file is touched; what is known of the terminal is handed in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/cli/command_line.h"
#include "scenarios/cli/output.h"
#include "scenarios/cli/terminal.h"
#include "workloads/nccl/cost_model.h"

namespace traingraph::scenarios::cli {

enum class Format { text, json, csv, dot, svg, hdf5 };

/// Of `collective` and `compare`.
struct NcclOptions {
  std::vector<double> sizes;        ///< bytes
  std::string factor = "2";         ///< from one size to the next, as typed
  std::vector<std::uint32_t> gpus;  ///< empty: all
  std::optional<workloads::CollectiveKind> kind;
  std::optional<workloads::NcclAlgorithm> algorithm;
  std::optional<workloads::NcclProtocol> protocol;
  std::string node;  ///< a preset of nccl_nodes; empty: that of the cluster
};

struct Options {
  Verb verb = Verb::run;
  std::string subject;             ///< a path, or "-" for stdin; `topo show`: a preset's name or a path; `import`: a kind
  std::vector<std::string> files;  ///< `import`, `compare`
  std::string cluster;             ///< `collective`, `compare`
  NcclOptions nccl;                ///< `collective`, `compare`
  std::vector<std::string> overrides;  ///< "a.b=c"; --bins is one too, after all others
  std::optional<std::uint64_t> seed;   ///< for every random choice of the scenario
  Format format = Format::text;
  Format file_format = Format::text;  ///< `limits`: of the output file, by its ending
  std::optional<std::filesystem::path> output;
  OutputPolicy output_policy;
  bool color = false;
  bool plain = false;
  bool progress = false;
  bool progress_on_terminal = false;
  bool quiet = false;
  bool explain = false;
  bool stats = false;
  bool schema = false;
  bool published = false;
  bool smoke = false;
  std::string gpu;                   ///< `limits`: a preset, "all", or empty
  std::vector<std::string> compare;  ///< `limits`: none or two files
  bool sensitivity = false;
  bool trace_tasks = false;
  bool trace_transfers = false;
  std::uint32_t threads = 1;  ///< re-runs at a time
  bool threads_given = false;
  PlanWords plan;             ///< as typed; plan_options.h
  std::uint16_t port = 8080;  ///< `serve`; 0: any free one
};

/// Largest accepted --bins and --threads.
inline constexpr std::uint32_t kMostBins = 1'000'000;
inline constexpr std::uint32_t kMostThreads = 1024;

/// Throws UsageError: what was found, what is allowed. `cores` is the default of --threads.
[[nodiscard]] Options understand(const RawOptions& raw, const Terminal& terminal, std::uint32_t cores);

}  // namespace traingraph::scenarios::cli
