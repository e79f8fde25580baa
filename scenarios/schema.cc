#include "scenarios/schema.h"

#include "scenarios/variant_fields.h"

namespace traingraph::scenarios {

namespace {

const Words<sim::NetworkModel> kNetworks{
    {"flow", sim::NetworkModel::flow}, {"chunk", sim::NetworkModel::chunk}, {"ideal", sim::NetworkModel::ideal}};
const Words<sim::CollectiveMode> kCollectives{
    {"auto", sim::CollectiveMode::automatic}, {"step", sim::CollectiveMode::step}, {"bulk", sim::CollectiveMode::bulk}};
const Words<sim::ChunkOrder> kOrders{{"round_robin", sim::ChunkOrder::round_robin}, {"fifo", sim::ChunkOrder::fifo}};

}  // namespace

void fields(Fields& f, sim::RunOptions& r) {
  f.leaf({.name = "network", .doc = "network model"}, leaf(r.network, kNetworks));
  f.leaf({.name = "collectives", .doc = "how collectives are played"}, leaf(r.collectives, kCollectives));
  f.leaf({.name = "step_limit", .doc = "auto: above so many transfers inexact bulk is allowed"}, leaf(r.step_limit));
  f.group({.name = "chunk", .doc = "for network chunk"}, [&] {
    f.leaf({.name = "size", .doc = "of a chunk"}, leaf(r.chunk.size, kPositive));
    f.leaf({.name = "window", .doc = "bytes in flight of a transfer; auto: 2 chunks a hop + capacity x path latency"},
           or_auto(r.chunk.window));
    f.leaf({.name = "order", .doc = "how a link serves its transfers"}, leaf(r.chunk.order, kOrders));
  });
  f.leaf({.name = "bins", .doc = "time bins of the link load record; 0: none"}, leaf(r.bins, Range{.high = 1e6}));
  f.leaf({.name = "critical_path", .doc = "record what each task waited for"}, leaf(r.critical_path));
}

void fields(Fields& f, Scenario& s) {
  f.leaf({.name = "name", .doc = "for people; the file's name unless given"}, leaf(s.name));
  f.group({.name = "cluster", .doc = "GPUs, nodes and networks", .need = kRequired, .preset_folder = "clusters"},
          [&] { fields(f, s.cluster); });
  f.optional_group(
      {.name = "hardware",
       .doc = "the GPU",
       .preset_folder = "hardware",
       .if_absent = "none; needed for transformer and linear_blocks"},
      s.hardware_given, [&] { s.hardware_given = true; }, [&] { fields(f, s.hardware); });
  f.group({.name = "workload", .doc = "what is run", .need = kRequired}, [&] { fields(f, s.workload); });
  f.group({.name = "run", .doc = "how it is simulated"}, [&] { fields(f, s.run); });
}

}  // namespace traingraph::scenarios
