// One function a format; import.cc chooses. All throw ImportError.
#pragma once

#include <span>

#include "topology/import/import.h"

namespace traingraph::topology::imports {

[[nodiscard]] Imported read_nccl_xml(const ImportFile& file, const ImportOptions& options);
[[nodiscard]] Imported read_ibnetdiscover(const ImportFile& file, const ImportOptions& options);
[[nodiscard]] Imported read_iblinkinfo(const ImportFile& file, const ImportOptions& options);
[[nodiscard]] Imported read_slurm_conf(const ImportFile& file, const ImportOptions& options);
[[nodiscard]] Imported read_slurm_yaml(const ImportFile& file, const TreeNode& tree, const ImportOptions& options);
[[nodiscard]] Imported read_nvidia_smi(const ImportFile& file, const ImportOptions& options);
[[nodiscard]] Imported read_ns3(const ImportFile& file, const ImportOptions& options);
[[nodiscard]] Imported read_htsim(const ImportFile& file, const ImportOptions& options);

struct ParsedFile {
  const ImportFile* file = nullptr;
  TreeNode tree;
};
[[nodiscard]] Imported read_infragraph(std::span<const ParsedFile> files, const ImportOptions& options);
/// `system`: ASTRA-sim's system JSON, or nullptr.
[[nodiscard]] Imported read_astra_sim(const ParsedFile& network, const ImportFile* system, const ImportOptions& options);

}  // namespace traingraph::topology::imports
