// Direct links between the GPUs of different domains: torus, ring, fully connected.
#include "topology/build_parts.h"

namespace traingraph::topology {
namespace {

void connect_points(FabricBuilder& b, const Layout& l, std::uint32_t p, std::uint32_t q) {
  for (std::uint32_t j = 0; j < l.domain_gpus; ++j)
    b.connect({.a = static_cast<DeviceId>(p * l.domain_gpus + j),
               .b = static_cast<DeviceId>(q * l.domain_gpus + j),
               .speed = l.direct->link,
               .tier = Tier::torus});
}

}  // namespace

void connect_direct(FabricBuilder& b, const Layout& l) {
  const DirectShape& d = *l.direct;
  if (d.all_pairs) {
    for (std::uint32_t p = 0; p < d.points; ++p)
      for (std::uint32_t q = p + 1; q < d.points; ++q) connect_points(b, l, p, q);
    return;
  }
  std::uint32_t stride = 1;
  for (std::size_t dim = 0; dim < d.dims.size(); ++dim) {
    const std::uint32_t n = d.dims[dim];
    for (std::uint32_t line = 0; line < d.points / n; ++line) {
      const std::uint32_t origin = line / stride * stride * n + line % stride;
      for (std::uint32_t i = 0; i < d.cables_per_line(dim); ++i)
        connect_points(b, l, origin + i * stride, origin + (i + 1) % n * stride);
    }
    stride *= n;
  }
}

}  // namespace traingraph::topology
