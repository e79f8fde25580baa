// The largest fabric that is built. Both are counted from the description before anything is allocated, so that a slip of
// the pen is an error and not a machine without memory.
//
// A link costs some 600 bytes with all that the engine keeps for it: kMostLinks are about 320 GB. 16,777,216 GPUs of eight
// to a node on four NVSwitches below a three-tier fat tree have 2.4e8 directed links, 1,048,576 have 1.5e7.
#pragma once

#include <cstdint>

#include "topology/layout.h"

namespace traingraph::topology {

inline constexpr std::uint64_t kMostLinks = std::uint64_t{1}
                                            << 29U;  ///< directed; parallel cables that are one link count once
inline constexpr std::uint64_t kMostDevices = std::uint64_t{1} << 28U;

/// Throws ClusterError when the layout, numbered or not, has more devices or links. The key that it names is the one behind
/// most of them: the number of nodes, unless a GPU has more links than any real one.
void check_size(const Layout& layout);

/// The same for `cables` more cables of a custom fabric that has `links` so far.
void check_custom_size(std::uint64_t links, std::uint64_t cables, std::uint64_t index);

}  // namespace traingraph::topology
