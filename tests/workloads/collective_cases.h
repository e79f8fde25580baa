// Every (kind, algorithm, size, options) that the collective tests walk over.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>
#include <vector>

#include "workloads/collectives/collectives.h"

namespace traingraph::workloads {

struct CollectiveCase {
  CollectiveKind kind{};
  Algorithm algorithm{};
  std::uint32_t members = 0;
  CollectiveOptions options;

  [[nodiscard]] std::string name() const {
    return fmt::format("{} by {} among {}, root {}, pieces {}, domain {}, inner {}, stop_and_wait {}", to_string(kind),
                       to_string(algorithm), members, options.root, options.pieces, options.domain_size,
                       to_string(options.inner), options.stop_and_wait);
  }
};

/// Row r sends (r+1)(c+2) KiB to column c where r + c is not divisible by 3; zero rows and columns occur.
inline BytesMatrix uneven_matrix(std::uint32_t n) {
  BytesMatrix matrix(n);
  for (std::uint32_t r = 0; r < n; ++r) {
    for (std::uint32_t c = 0; c < n; ++c) {
      if ((r + c) % 3 != 0) matrix[r].push_back({c, sim::Bytes{1024.0 * (r + 1) * (c + 2)}});
    }
  }
  return matrix;
}

inline std::vector<CollectiveCase> collective_cases(const std::vector<std::uint32_t>& sizes) {
  std::vector<CollectiveCase> cases;
  for (const CollectiveKind kind : all_collective_kinds()) {
    for (const Algorithm algorithm : algorithms_of(kind)) {
      for (const std::uint32_t n : sizes) {
        if (algorithm == Algorithm::halving_doubling && !std::has_single_bit(n)) continue;
        std::vector<CollectiveOptions> variants(1);
        if (algorithm == Algorithm::hierarchical) {
          variants.clear();
          for (std::uint32_t g = 1; g <= n; ++g) {
            if (n % g != 0) continue;
            for (const Algorithm inner : {Algorithm::ring, Algorithm::direct}) {
              variants.emplace_back();
              variants.back().domain_size = g;
              variants.back().inner = inner;
            }
          }
        }
        const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
                            kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
        if (rooted && n > 1) {
          variants.push_back(variants.front());
          variants.back().root = n - 1;
          variants.push_back(variants.front());
          variants.back().root = n / 2;
        }
        if (algorithm == Algorithm::chain || algorithm == Algorithm::tree) {
          for (CollectiveOptions& options : variants) options.pieces = 1;
          variants.push_back(variants.front());
          variants.back().pieces = 5;
        }
        if (kind == CollectiveKind::all_to_all_v) {
          variants.front().matrix = std::make_shared<BytesMatrix>(uneven_matrix(n));
        }
        for (const CollectiveOptions& options : variants) {
          cases.push_back({kind, algorithm, n, options});
          cases.push_back({kind, algorithm, n, options});
          cases.back().options.stop_and_wait = true;
        }
      }
    }
  }
  return cases;
}

}  // namespace traingraph::workloads
