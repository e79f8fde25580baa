// What this binary is: printed by --version.
#pragma once

#include <string>

namespace traingraph::scenarios::cli {

/// "0.1.0"
[[nodiscard]] std::string version();

/// Several lines: version, git commit, build type, compiler, Boost and HDF5 versions.
[[nodiscard]] std::string version_text();

}  // namespace traingraph::scenarios::cli
