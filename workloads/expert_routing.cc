#include "workloads/expert_routing.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace traingraph::workloads {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): a generator of its own for each (seed, layer).
class Generator {
 public:
  Generator(std::uint64_t seed, std::uint32_t layer) : state_{seed + kStep * (std::uint64_t{layer} + 1)} {}
  std::uint64_t next() {
    std::uint64_t z = state_ += kStep;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

}  // namespace

double ExpertLoad::received_tokens() const { return std::accumulate(tokens.begin(), tokens.end(), 0.0); }

bool ExpertRouting::is_uneven() const { return spec_.routing.distribution != RoutingDistribution::uniform; }

std::vector<double> ExpertRouting::shares(std::uint32_t layer) const {
  const RoutingSpec& r = spec_.routing;
  const std::uint32_t experts = spec_.model.moe.experts;
  std::vector<double> shares(experts, 1.0);
  if (r.distribution == RoutingDistribution::measured) shares = r.histogram;
  if (r.distribution == RoutingDistribution::zipf) {
    for (std::uint32_t k = 0; k < experts; ++k) shares[k] = std::pow(k + 1.0, -r.zipf_exponent);
    Generator generator{r.seed, layer};
    for (std::uint32_t k = experts; k-- > 1;) std::swap(shares[k], shares[generator.next() % (k + 1)]);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

ExpertRouting::Matrices ExpertRouting::make_matrices(const std::vector<double>& by_rank, double sent_bytes) const {
  const auto ranks = static_cast<std::uint32_t>(by_rank.size());
  BytesMatrix dispatch(ranks), combine(ranks);
  for (std::uint32_t source = 0; source < ranks; ++source) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (to == source || by_rank[to] == 0) continue;
      dispatch[source].push_back({to, sim::Bytes{sent_bytes * by_rank[to]}});
      combine[to].push_back({source, sim::Bytes{sent_bytes * by_rank[to]}});
    }
  }
  return {std::make_shared<const BytesMatrix>(std::move(dispatch)), std::make_shared<const BytesMatrix>(std::move(combine))};
}

ExpertLoad ExpertRouting::load(std::uint32_t layer, std::uint32_t ep_rank) {
  const ParallelSpec& p = spec_.parallel;
  const MoeSpec& moe = spec_.model.moe;
  const double routed = static_cast<double>(spec_.micro_batch) * spec_.model.sequence / p.cp * moe.experts_per_token *
                        spec_.routing.capacity_factor.value_or(1);
  ExpertLoad result;
  result.sent_tokens = p.sequence_parallel ? routed / p.tp : routed;
  if (spec_.routing.node_limit)
    result.network_tokens = result.sent_tokens / moe.experts_per_token * *spec_.routing.node_limit;
  const std::uint32_t local = moe.experts / p.ep;
  const std::vector<double> share = shares(layer);
  for (std::uint32_t e = ep_rank * local; e < (ep_rank + 1) * local; ++e) {
    result.tokens.push_back(routed * p.ep * share[e]);
  }
  if (!is_uneven() || p.ep == 1) return result;
  const auto [at, added] = matrices_.try_emplace(layer);
  if (added) {
    std::vector<double> by_rank(p.ep, 0);
    for (std::uint32_t e = 0; e < moe.experts; ++e) by_rank[e / local] += share[e];
    at->second = make_matrices(by_rank, result.sent_tokens * spec_.model.hidden * word_);
  }
  result.dispatch = at->second.dispatch;
  result.combine = at->second.combine;
  return result;
}

}  // namespace traingraph::workloads
