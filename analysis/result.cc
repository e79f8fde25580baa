#include "analysis/result.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"

namespace traingraph::analysis {

sim::Duration TimeSplit::part(const std::string& name) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const TimePart& p) { return p.name == name; });
  SIM_ASSERT(found != parts.end(), "a time split has every category");
  return found->time;
}

bool Bound::holds() const {
  const double allowed_ps = 1000.0 + 1e-9 * static_cast<double>(simulated.count_ps());
  return static_cast<double>(value.count_ps()) - static_cast<double>(simulated.count_ps()) <= allowed_ps;
}

std::string CollectiveUse::reason() const { return fmt::format("{}", fmt::join(reasons, "; ")); }

std::string to_string(BoundWindow window) {
  switch (window) {
    case BoundWindow::every_step:
      return "every step";
    case BoundWindow::first_step:
      return "first step";
    case BoundWindow::steady_step:
      return "steady step";
  }
  SIM_ASSERT(false, "every window has a name");
}

}  // namespace traingraph::analysis
