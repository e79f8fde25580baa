// PathCache: asks the Router once for each (source, destination, connection) and interns the answer. When the router does
// not depend on the connection, one path serves all connections of a pair. Links that another link of the path mirrors
// (Router::mirror_of) are left out, if so told. Not thread-safe: one per simulation.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

#include "sim/path_table.h"
#include "sim/router.h"

namespace traingraph::sim {

/// Leaves the links out of the path that others stand for. Throws InternalError where a mirror is not used as its link is.
void leave_out_mirrored(const Router& router, Path& path);

class PathCache {
 public:
  PathCache(const Router& router, PathTable& table, bool without_mirrored)
      : router_{router},
        table_{table},
        without_mirrored_{without_mirrored},
        by_connection_{router.depends_on_connection()} {}

  [[nodiscard]] PathId path(EndpointId source, EndpointId destination, std::uint64_t connection) {
    Key key{std::uint64_t{index(source)} << 32 | index(destination), by_connection_ ? connection : 0};
    const auto [at, fresh] = known_.try_emplace(key);
    if (fresh) at->second = add(router_.route(source, destination, connection));
    return at->second;
  }
  [[nodiscard]] PathId in_switch(std::span<const EndpointId> members) { return add(router_.route_in_switch(members)); }

 private:
  struct Key {
    std::uint64_t pair;
    std::uint64_t connection;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      return static_cast<std::size_t>((k.pair ^ (k.connection * 0x9e3779b97f4a7c15U)) * 0xbf58476d1ce4e5b9U >> 7);
    }
  };
  [[nodiscard]] PathId add(Path path) {
    if (without_mirrored_) leave_out_mirrored(router_, path);
    return table_.add(std::move(path));
  }

  const Router& router_;
  PathTable& table_;
  bool without_mirrored_;
  bool by_connection_;
  std::unordered_map<Key, PathId, Hash> known_;  // looked up only, never iterated
};

}  // namespace traingraph::sim
