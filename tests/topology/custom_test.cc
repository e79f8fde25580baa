// Fabrics listed device by device.
#include "tests/topology/clusters.h"

namespace traingraph::topology::test {
namespace {

CustomLink cable(std::string a, std::string b, double gb = 50) {
  return {.source = std::move(a), .target = std::move(b), .bandwidth = gb_per_s(gb), .latency = Duration::ns(100)};
}

/// a - s1 - b and a - s2 - b, c hangs on s2.
Custom diamond() {
  return {.devices = {{.name = "s1", .kind = DeviceKind::switch_},
                      {.name = "a"},
                      {.name = "b"},
                      {.name = "s2", .kind = DeviceKind::switch_},
                      {.name = "c"}},
          .links = {cable("a", "s1"), cable("s1", "b"), cable("a", "s2"), cable("s2", "b"), cable("c", "s2")},
          .overhead = Duration::us(3)};
}

ClusterSpec spec(Custom c) { return {.name = "custom", .scale_out = std::move(c)}; }

TEST(Custom, NumbersGpusInTheOrderOfTheListAndSpraysOverAllShortestPaths) {
  const ClusterSpec s = spec(diamond());
  const Fabric f = build(s);
  ASSERT_EQ(f.gpus(), 3U);
  EXPECT_EQ(f.devices[f.endpoints[gpu(0)]].name, "a");
  EXPECT_EQ(f.devices[f.endpoints[gpu(2)]].name, "c");
  const auto router = make_router(f, s);
  const sim::Path path = router->route(gpu(0), gpu(1), 0);
  EXPECT_EQ(path.overhead, Duration::us(3));
  ASSERT_EQ(path.routes.size(), 2U);
  for (const auto& [name, share] : shares(f, path)) EXPECT_EQ(share, (sim::Fraction{1, 2})) << name;
  expect_sound(f, *router, 0, 1, path);
  EXPECT_EQ(shares(f, router->route(gpu(2), gpu(0), 0)).size(), 2U);
}

TEST(Custom, CountsParallelLinksAsPaths) {
  Custom c = diamond();
  c.links[0].parallel = 3;  // a - s1 three times: three paths over s1, one over s2
  const ClusterSpec s = spec(c);
  const Fabric f = build(s);
  const auto way = shares(f, make_router(f, s)->route(gpu(0), gpu(1), 0));
  EXPECT_EQ(way.at("a>s1"), (sim::Fraction{1, 4}));
  EXPECT_EQ(way.at("a>s1#2"), (sim::Fraction{1, 4}));
  EXPECT_EQ(way.at("s1>b"), (sim::Fraction{3, 4}));
  EXPECT_EQ(way.at("s2>b"), (sim::Fraction{1, 4}));
}

TEST(Custom, StaticAndEcmpUseOneOfTheShortestPaths) {
  for (const RoutingPolicy policy : {RoutingPolicy::static_, RoutingPolicy::ecmp}) {
    ClusterSpec s = spec(diamond());
    s.routing.policy = policy;
    const Fabric f = build(s);
    const auto router = make_router(f, s);
    std::set<std::vector<std::uint32_t>> seen;
    for (std::uint64_t c = 0; c < 32; ++c) {
      const sim::Path path = router->route(gpu(0), gpu(1), c);
      EXPECT_EQ(path.links.size(), 2U);
      expect_sound(f, *router, 0, 1, path);
      std::vector<std::uint32_t> ids;
      for (const sim::PathLink& l : path.links) ids.push_back(sim::index(l.link));
      seen.insert(ids);
    }
    EXPECT_EQ(seen.size(), policy == RoutingPolicy::static_ ? 1U : 2U);
  }
}

TEST(Custom, UnreachablePairIsNamed) {
  Custom c = diamond();
  c.links.pop_back();
  const ClusterSpec s = spec(c);
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  EXPECT_EQ(router->hops(gpu(0), gpu(1)), 2U) << "pairs that are joined still are";
  const std::string expected = "no path from a (GPU 0) to c (GPU 2): no links lead there";
  EXPECT_EQ(error_of([&] { static_cast<void>(router->route(gpu(0), gpu(2), 0)); }), expected);
  EXPECT_EQ(error_of([&] { static_cast<void>(router->hops(gpu(0), gpu(2))); }), expected);
  EXPECT_FALSE(describe(f, s).diameter.has_value());
}

TEST(Custom, OneWayLinksLeadOneWay) {
  Custom c = diamond();
  c.links.back().one_way = true;
  const ClusterSpec s = spec(c);
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  EXPECT_EQ(router->hops(gpu(2), gpu(0)), 2U);
  EXPECT_FALSE(error_of([&] { static_cast<void>(router->route(gpu(0), gpu(2), 0)); }).empty());
}

TEST(Custom, HalfDuplexCablesAreOneLinkForBothDirections) {
  Custom c{.devices = {{.name = "x"}, {.name = "y"}}, .links = {cable("x", "y")}};
  c.links[0].half_duplex = true;
  const ClusterSpec s = spec(c);
  const Fabric f = build(s);
  EXPECT_EQ(f.links.size(), 1U);
  const auto router = make_router(f, s);
  EXPECT_EQ(router->route(gpu(0), gpu(1), 0).links, router->route(gpu(1), gpu(0), 0).links);
  ASSERT_FALSE(f.cuts.empty());
  EXPECT_DOUBLE_EQ(f.cuts[0].capacity_in.bytes_per_s(), 50e9);
  EXPECT_DOUBLE_EQ(f.cuts[0].capacity_out.bytes_per_s(), 50e9);
}

TEST(Custom, GpusForwardUnlessTheyMayNot) {
  Custom line{.devices = {{.name = "x"}, {.name = "y"}, {.name = "z"}}, .links = {cable("x", "y"), cable("y", "z")}};
  ClusterSpec s = spec(line);
  const Fabric f = build(s);
  EXPECT_EQ(make_router(f, s)->hops(gpu(0), gpu(2)), 2U);
  line.gpus_forward = false;
  s = spec(line);
  const Fabric g = build(s);
  EXPECT_EQ(make_router(g, s)->hops(gpu(0), gpu(1)), 1U);
  EXPECT_FALSE(error_of([&] { static_cast<void>(make_router(g, s)->route(gpu(0), gpu(2), 0)); }).empty());
}

TEST(Custom, LatencyIsThatOfTheLongestRoute) {
  Custom c = diamond();
  c.links[3].latency = Duration::ms(10);  // s2 - b: between two sites
  const ClusterSpec s = spec(c);
  const Fabric f = build(s);
  EXPECT_EQ(make_router(f, s)->route(gpu(0), gpu(1), 0).latency, Duration::ms(10) + Duration::ns(100));
}

TEST(Custom, ReducesInTheSwitchesThatCan) {
  Custom c = diamond();
  c.devices[3].reduces = true;
  ClusterSpec s = spec(c);
  const Fabric f = build(s);
  const auto router = make_router(f, s);
  const std::vector<sim::EndpointId> all{gpu(0), gpu(1), gpu(2)}, pair{gpu(0), gpu(1)};
  EXPECT_EQ(shares(f, router->route_in_switch(all)).size(), 6U);
  c.devices[0].reduces = true;
  s = spec(c);
  for (const auto& [name, share] : shares(f, make_router(f, s)->route_in_switch(pair)))
    EXPECT_EQ(share, (sim::Fraction{1, 2})) << name;
  s = spec(diamond());
  EXPECT_EQ(error_of([&] { static_cast<void>(make_router(f, s)->route_in_switch(all)); }),
            "the members of an in-switch reduction share no switch that can reduce (reduces: true)");
}

TEST(Custom, ErrorsNameTheLink) {
  const auto error = [](auto change) {
    Custom c = diamond();
    change(c);
    return error_of([&] { static_cast<void>(build(spec(c))); });
  };
  EXPECT_EQ(error([](Custom& c) { c.links[0].target = "s9"; }),
            "cluster.scale_out.links[0].target: found 's9', allowed: the name of a listed device");
  EXPECT_EQ(error([](Custom& c) { c.devices[2].name = "a"; }),
            "cluster.scale_out.devices: found two devices named 'a', allowed: unique names");
  EXPECT_EQ(error([](Custom& c) { c.links[1].target = "s1"; }),
            "cluster.scale_out.links[1]: found a link from a device to itself, allowed: two different devices");
  EXPECT_EQ(error([](Custom& c) { c.links[1].parallel = 0; }),
            "cluster.scale_out.links[1].parallel: found 0, allowed: 1 or more");
  EXPECT_EQ(error([](Custom& c) { c.links[1].bandwidth = gb_per_s(-1); }),
            "cluster.scale_out.links[1].bandwidth: found -1000000000, allowed: 0 (down) or more bytes/s");
  EXPECT_EQ(error([](Custom& c) { c.devices = {{.name = "s1", .kind = DeviceKind::switch_}}; }),
            "cluster.scale_out.devices: found no gpu, allowed: at least one device of kind gpu");
  ClusterSpec both = spec(diamond());
  both.scale_up = nvlink(8, 1);
  EXPECT_EQ(error_of([&] { static_cast<void>(build(both)); }),
            "cluster.node.scale_up.kind: found a scale-up network beside a custom one, allowed: none: list its devices and "
            "links too");
}

// A link that is down still routes (transfers wait on it).
TEST(Custom, ALinkOfCapacityZeroIsDownNotAbsent) {
  Custom c{.devices = {{.name = "x"}, {.name = "y"}}, .links = {cable("x", "y", 0)}};
  const ClusterSpec s = spec(c);
  const Fabric f = build(s);
  EXPECT_EQ(sim::rate_alone(f.links, make_router(f, s)->route(gpu(0), gpu(1), 0)).bytes_per_s(), 0);
}

}  // namespace
}  // namespace traingraph::topology::test
