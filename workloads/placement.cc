#include "workloads/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): our own, because the standard distributions differ between libraries.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_{seed} {}
  /// Uniform in 0..n-1, by rejection.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = n * (~std::uint64_t{0} / n);
    std::uint64_t v = next();
    while (v >= limit) v = next();
    return v % n;
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

using Domains = std::vector<std::vector<std::uint32_t>>;  // GPUs of each domain, both ascending

Domains domains_of(const Cluster& cluster) {
  std::map<std::int32_t, std::vector<std::uint32_t>> by_number;
  Domains result;
  for (std::uint32_t e = 0; e < cluster.gpus; ++e) {
    if (cluster.domain[e] < 0) {
      result.push_back({e});  // a GPU outside any domain moves alone
    } else {
      by_number[cluster.domain[e]].push_back(e);
    }
  }
  for (auto& [number, gpus] : by_number) result.push_back(std::move(gpus));
  std::sort(result.begin(), result.end());
  return result;
}

Domains shuffled(Domains domains, std::uint64_t seed) {
  SplitMix random{seed};
  for (std::size_t n = domains.size(); n > 1; --n) std::swap(domains[n - 1], domains[random.below(n)]);
  return domains;
}

Domains dealt_over_racks(const Domains& domains, const Cluster& cluster) {
  std::map<std::int32_t, Domains> racks;
  std::size_t largest = 0;
  for (const auto& domain : domains) {
    const std::int32_t rack = cluster.rack[domain.front()];
    if (rack < 0) throw sim::InputError{"placement 'scattered': this fabric has no racks"};
    racks[rack].push_back(domain);
    largest = std::max(largest, racks[rack].size());
  }
  Domains result;
  for (std::size_t round = 0; round < largest; ++round) {
    for (const auto& [rack, members] : racks) {
      if (round < members.size()) result.push_back(members[round]);
    }
  }
  return result;
}

std::vector<std::uint32_t> checked_list(const std::vector<std::uint32_t>& gpus, std::uint32_t ranks,
                                        const Cluster& cluster) {
  if (gpus.size() < ranks) {
    throw sim::InputError{fmt::format("placement list names {} GPUs, but the job has {} ranks", gpus.size(), ranks)};
  }
  std::vector<bool> used(cluster.gpus, false);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const std::uint32_t gpu = gpus[r];
    if (gpu >= cluster.gpus) {
      throw sim::InputError{fmt::format("placement list: GPU {} does not exist; the fabric has {} GPUs", gpu, cluster.gpus)};
    }
    if (used[gpu]) throw sim::InputError{fmt::format("placement list: GPU {} is named twice", gpu)};
    used[gpu] = true;
  }
  return gpus;
}

std::vector<std::uint32_t> order_of_gpus(const PlacementSpec& spec, std::uint32_t ranks, const Cluster& cluster) {
  if (spec.kind == PlacementKind::list) return checked_list(spec.gpus, ranks, cluster);
  std::vector<std::uint32_t> gpus;
  if (spec.kind == PlacementKind::in_order) {
    gpus.resize(cluster.gpus);
    std::iota(gpus.begin(), gpus.end(), 0U);
    return gpus;
  }
  Domains domains = domains_of(cluster);
  domains =
      spec.kind == PlacementKind::random ? shuffled(std::move(domains), spec.seed) : dealt_over_racks(domains, cluster);
  for (const auto& domain : domains) gpus.insert(gpus.end(), domain.begin(), domain.end());
  return gpus;
}

}  // namespace

std::vector<sim::EndpointId> place(const PlacementSpec& spec, std::uint32_t ranks, const Cluster& cluster) {
  if (ranks > cluster.gpus) {
    throw sim::InputError{fmt::format("the job has {} ranks, but the fabric has {} GPUs", ranks, cluster.gpus)};
  }
  const std::vector<std::uint32_t> gpus = order_of_gpus(spec, ranks, cluster);
  std::vector<sim::EndpointId> result;
  result.reserve(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) result.push_back(sim::EndpointId{gpus[r]});
  return result;
}

}  // namespace traingraph::workloads
