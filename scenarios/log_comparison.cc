#include "scenarios/log_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/error.h"

namespace traingraph::scenarios {

namespace {

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

/// Known-bad classes, told apart by how much is missing, whether small messages are slow too, and where the bandwidth
/// breaks.
std::string cause_of(const LogComparison& c, const CollectiveTable& table) {
  const double missing = 1 / c.large_ratio;
  if (table.nodes < 2) {
    return "inside one node: NVLinks or P2P off (traffic over PCIe or host memory), a degraded link, or another algorithm";
  }
  constexpr double kTcpLatency = 4;
  if (c.small_ratio > kTcpLatency && missing > 3) {
    return "TCP fallback: small messages are slow too; look for NET/Socket instead of NET/IB or the provider's plugin";
  }
  double best = 0;
  for (const ComparedRow& r : c.rows) best = std::max(best, r.measured.busbw / r.predicted.busbw);
  if (best > 2 * c.large_ratio) {
    return "bandwidth falls with size: flows of different NICs hashed onto the same uplinks (cross-leaf), or packet loss";
  }
  const std::uint32_t per_node = table.ranks / table.nodes;
  const double whole = std::round(missing);
  if (per_node > 1 && whole >= 2 && whole <= 2 * per_node && std::abs(missing - whole) < 0.12 * whole) {
    return fmt::format("1/{:.0f} of the bandwidth: NICs shared, only some of them used, or a link at 1/{:.0f} of its speed",
                       whole, whole);
  }
  if (missing > 2) return "no GPUDirect: traffic goes through host memory; or a wrong algorithm, or a degraded link";
  return "a degraded link, cross-leaf hashing, or another algorithm than NCCL's choice";
}

}  // namespace

LogComparison compare_log(const NcclLog& log, const CollectiveTable& table) {
  SIM_ASSERT(log.rows.size() == table.rows.size(), "a prediction for every row");
  LogComparison c;
  const bool point_to_point = !table.rows.empty() && table.rows.front().algorithm == "P2P";
  const double spread = point_to_point ? kUsualSpreadPointToPoint : kUsualSpread;
  std::vector<double> large, small;
  for (std::size_t i = 0; i < log.rows.size(); ++i) {
    ComparedRow r{log.rows[i], table.rows[i], false};
    const double bus = r.measured.bytes / r.measured.time_s * (r.predicted.busbw / r.predicted.algbw);
    r.measured.busbw = bus;  // more digits than are printed
    const double ratio = bus / r.predicted.busbw;
    const double slower = r.measured.time_s / r.predicted.time_s;
    if (r.measured.bytes >= kLarge) large.push_back(ratio);
    if (r.measured.bytes <= kSmall) small.push_back(slower);
    const double usual = r.measured.bytes >= kLarge ? spread : kUsualSmall;
    r.off = slower > usual || slower < 1 / usual;
    c.rows.push_back(r);
  }
  if (large.empty()) large.push_back(c.rows.back().measured.busbw / c.rows.back().predicted.busbw);
  c.large_ratio = median(std::move(large));
  c.small_ratio = median(std::move(small));
  c.flagged = c.large_ratio < 1 / spread;
  if (c.flagged) c.cause = cause_of(c, table);
  return c;
}

}  // namespace traingraph::scenarios
