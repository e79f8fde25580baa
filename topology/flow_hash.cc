#include "topology/network.h"

namespace traingraph::topology {
namespace {

/// One step of splitmix64 (Steele, Lea, Flood 2014): a bijection with good avalanche.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

}  // namespace

FlowHash::FlowHash(std::uint64_t seed, const Flow& flow, std::uint64_t queue_pair)
    : state_{mix(mix(mix(mix(seed) ^ (std::uint64_t{flow.source} << 32U | flow.destination)) ^ flow.connection) ^
                 queue_pair)} {}

std::uint32_t FlowHash::pick(std::uint32_t place, std::uint32_t choices) const {
  // the high half of a 32 x 32 bit product: no modulo bias worth naming
  const std::uint64_t h = mix(state_ ^ (std::uint64_t{place} << 48U)) >> 32U;
  return static_cast<std::uint32_t>(h * choices >> 32U);
}

}  // namespace traingraph::topology
