#include "sim/router.h"

#include "sim/error.h"

namespace traingraph::sim {

Path Router::route(EndpointId source, EndpointId destination, std::uint64_t connection) const {
  if (source == destination) return Path{};
  return do_route(source, destination, connection);
}

Path Router::route_in_switch(std::span<const EndpointId> members) const {
  SIM_ASSERT(!members.empty(), "a reduction has members");
  return do_route_in_switch(members);
}

}  // namespace traingraph::sim
