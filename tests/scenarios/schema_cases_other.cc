#include <variant>

#include "tests/scenarios/schema_cases.h"

namespace traingraph::scenarios::test {

namespace {

using sim::Bytes;
using sim::Duration;
using workloads::Algorithm;
using workloads::CollectiveKind;
using Degrees = std::vector<std::uint32_t>;

const workloads::LinearBlocksSpec& lin(const Scenario& s) { return std::get<workloads::LinearBlocksSpec>(s.workload.job); }
const workloads::CollectiveRunSpec& col(const Scenario& s) { return std::get<workloads::CollectiveRunSpec>(s.workload.job); }
const workloads::CustomProgramSpec& prog(const Scenario& s) {
  return std::get<workloads::CustomProgramSpec>(s.workload.job);
}
const workloads::CustomTask& task(const Scenario& s, std::size_t i) { return prog(s).tasks[i]; }
bool sends(const Scenario& s, std::size_t row, std::uint32_t destination, double bytes) {
  const auto& m = col(s).options.matrix;
  return m != nullptr && m->size() == 8 && (*m)[row].size() == 1 && (*m)[row][0].destination == destination &&
         (*m)[row][0].bytes == Bytes{bytes};
}

const char* const kCollective = R"(name: base
cluster:
  node: {gpus: 8, nic: {bandwidth: 50 GB/s}}
  scale_out: {kind: single_switch}
workload: {kind: collective, collective: all_reduce, algorithm: ring, bytes: 1 MiB}
)";
const char* const kProgram = R"(name: base
cluster:
  node: {gpus: 4, nic: {bandwidth: 50 GB/s}}
  scale_out: {kind: single_switch}
workload:
  kind: custom
  groups: [{name: all, ranks: [0, 1]}]
  tasks:
    - {id: a, kind: compute, rank: 0, duration: 1 ms}
    - {id: b, kind: send, rank: 0, peer: 1, bytes: 1 MB}
    - {id: c, kind: receive, rank: 1, peer: 0}
    - {id: d, kind: collective, group: all, collective: all_reduce, bytes: 1 MB}
    - {id: e, kind: marker, rank: 1}
)";

}  // namespace

std::vector<SchemaCase> other_workload_cases() {
  return {
      {"workload.gpus", kLinear, {"workload.gpus=16", "workload.dp=[1, 1]"}, TRAINGRAPH_HOLDS(lin(s).gpus == 16)},
      {"workload.hidden", kLinear, {"workload.hidden=1000.5"}, TRAINGRAPH_HOLDS(lin(s).hidden == 1000.5)},
      {"workload.ff", kLinear, {"workload.ff=4000.5"}, TRAINGRAPH_HOLDS(lin(s).ff == 4000.5)},
      {"workload.blocks", kLinear, {"workload.blocks=16"}, TRAINGRAPH_HOLDS(lin(s).blocks == 16)},
      {"workload.batch_tokens", kLinear, {"workload.batch_tokens=1000.5"}, TRAINGRAPH_HOLDS(lin(s).batch_tokens == 1000.5)},
      {"workload.microbatches", kLinear, {"workload.microbatches=8"}, TRAINGRAPH_HOLDS(lin(s).microbatches == 8)},
      {"workload.tp_ff",
       kLinear,
       {"workload.tp_ff=[4, 1]", "workload.tp_hidden=[2, 1]"},
       TRAINGRAPH_HOLDS(lin(s).tp_ff == Degrees({4, 1}))},
      {"workload.tp_hidden",
       kLinear,
       {"workload.tp_ff=[4, 1]", "workload.tp_hidden=[2, 1]"},
       TRAINGRAPH_HOLDS(lin(s).tp_hidden == Degrees({2, 1}))},
      {"workload.pp", kLinear, {"workload.pp=[1, 4]", "workload.dp=[1, 1]"}, TRAINGRAPH_HOLDS(lin(s).pp == Degrees({1, 4}))},
      {"workload.dp", kLinear, {"workload.pp=[1, 1]", "workload.dp=[1, 4]"}, TRAINGRAPH_HOLDS(lin(s).dp == Degrees({1, 4}))},
      {"workload.schedule",
       kLinear,
       {"workload.schedule=gpipe"},
       TRAINGRAPH_HOLDS(lin(s).schedule == workloads::ScheduleKind::gpipe)},
      {"workload.virtual_stages", kLinear, {"workload.virtual_stages=4"}, TRAINGRAPH_HOLDS(lin(s).virtual_stages == 4)},
      {"workload.defer_weight_gradients",
       kLinear,
       {"workload.defer_weight_gradients=false"},
       TRAINGRAPH_HOLDS(!lin(s).defer_weight_gradients)},
      {"workload.keep_weights_resident",
       kLinear,
       {"workload.keep_weights_resident=true"},
       TRAINGRAPH_HOLDS(lin(s).keep_weights_resident),
       {"workload.hidden=2048", "workload.ff=8192", "workload.batch_tokens=2048"}},
      {"workload.tp_all_reduce",
       kLinear,
       {"workload.tp_all_reduce=direct"},
       TRAINGRAPH_HOLDS(lin(s).tp_all_reduce == Algorithm::direct)},
      {"workload.dp_all_reduce",
       kLinear,
       {"workload.dp_all_reduce=direct"},
       TRAINGRAPH_HOLDS(lin(s).dp_all_reduce == Algorithm::direct)},

      {"workload.experts",
       kLinear,
       {"workload.experts=4", "workload.active_experts=2"},
       TRAINGRAPH_HOLDS(lin(s).experts == 4)},
      {"workload.active_experts",
       kLinear,
       {"workload.active_experts=2"},
       TRAINGRAPH_HOLDS(lin(s).active_experts == 2),
       {"workload.experts=4"}},
      {"workload.ep",
       kLinear,
       {"workload.ep=[1, 2]", "workload.dp=[1, 1]"},
       TRAINGRAPH_HOLDS(lin(s).ep == Degrees({1, 2})),
       {"workload.experts=4"}},
      {"workload.ep_all_to_all",
       kLinear,
       {"workload.ep_all_to_all=pairwise"},
       TRAINGRAPH_HOLDS(lin(s).ep_all_to_all == Algorithm::pairwise),
       {"workload.experts=4", "workload.ep=[1, 2]", "workload.dp=[1, 1]"}},

      {"workload.collective",
       kCollective,
       {"workload.collective=all_gather"},
       TRAINGRAPH_HOLDS(col(s).collective == CollectiveKind::all_gather)},
      {"workload.algorithm",
       kCollective,
       {"workload.algorithm=direct"},
       TRAINGRAPH_HOLDS(col(s).algorithm == Algorithm::direct)},
      {"workload.bytes", kCollective, {"workload.bytes=5 MB"}, TRAINGRAPH_HOLDS(col(s).bytes == Bytes{5e6})},
      {"workload.ranks", kCollective, {"workload.ranks=4"}, TRAINGRAPH_HOLDS(col(s).ranks == 4)},
      {"workload.iterations", kCollective, {"workload.iterations=4"}, TRAINGRAPH_HOLDS(col(s).iterations == 4)},
      {"workload.late_entry",
       kCollective,
       {"workload.ranks=2", "workload.late_entry=[0 s, 3 us]"},
       TRAINGRAPH_HOLDS(col(s).late_entry.size() == 2 && col(s).late_entry[1] == Duration::ps(3000000))},
      {"workload.root",
       kCollective,
       {"workload.root=3"},
       TRAINGRAPH_HOLDS(col(s).options.root == 3),
       {"workload={kind: collective, collective: gather, bytes: 1 MB}"}},
      {"workload.pieces",
       kCollective,
       {"workload.pieces=5"},
       TRAINGRAPH_HOLDS(col(s).options.pieces == 5),
       {"workload={kind: collective, collective: broadcast, algorithm: chain, bytes: 1 MB}"}},
      {"workload.piece_bytes",
       kCollective,
       {"workload.piece_bytes=5 kB"},
       TRAINGRAPH_HOLDS(col(s).options.piece_bytes == Bytes{5e3}),
       {"workload={kind: collective, collective: broadcast, algorithm: chain, bytes: 1 MB}"}},
      {"workload.domain_size",
       kCollective,
       {"workload.domain_size=4"},
       TRAINGRAPH_HOLDS(col(s).options.domain_size == 4),
       {"workload.algorithm=hierarchical", "workload.domain_size=2"}},
      {"workload.inner",
       kCollective,
       {"workload.inner=direct"},
       TRAINGRAPH_HOLDS(col(s).options.inner == Algorithm::direct),
       {"workload.algorithm=hierarchical", "workload.domain_size=4"}},
      {"workload.stop_and_wait",
       kCollective,
       {"workload.stop_and_wait=true"},
       TRAINGRAPH_HOLDS(col(s).options.stop_and_wait),
       {"workload={kind: collective, collective: broadcast, algorithm: chain, bytes: 1 MB}",
        "cluster.node.nic.latency=1 us"}},
      {"workload.matrix[].source",
       kCollective,
       {"workload.matrix[0].source=2"},
       TRAINGRAPH_HOLDS(sends(s, 2, 1, 3e3)),
       {"workload={kind: collective, collective: all_to_all_v, matrix: [{source: 0, destination: 1, bytes: 3 kB}]}"}},
      {"workload.matrix[].destination",
       kCollective,
       {"workload.matrix[0].destination=5"},
       TRAINGRAPH_HOLDS(sends(s, 0, 5, 3e3)),
       {"workload={kind: collective, collective: all_to_all_v, matrix: [{source: 0, destination: 1, bytes: 3 kB}]}"}},
      {"workload.matrix[].bytes",
       kCollective,
       {"workload.matrix[0].bytes=7 kB"},
       TRAINGRAPH_HOLDS(sends(s, 0, 1, 7e3)),
       {"workload={kind: collective, collective: all_to_all_v, matrix: [{source: 0, destination: 1, bytes: 3 kB}]}"}},
      {"workload.placement.gpus",
       kCollective,
       {"workload.placement.gpus=[5, 2]"},
       TRAINGRAPH_HOLDS(s.workload.placement.gpus == Degrees({5, 2})),
       {"workload.ranks=2", "workload.placement={kind: list, gpus: [0, 1]}"}},

      {"workload.ranks", kProgram, {"workload.ranks=3"}, TRAINGRAPH_HOLDS(prog(s).ranks == 3)},
      {"workload.groups[].name",
       kProgram,
       {"workload.groups[0].name=g", "workload.tasks[3].group=g"},
       TRAINGRAPH_HOLDS(prog(s).groups[0].name == "g"),
       {},
       SeenIn::explanation},
      {"workload.groups[].ranks",
       kProgram,
       {"workload.groups[0].ranks=[0, 1, 2]"},
       TRAINGRAPH_HOLDS(prog(s).groups[0].ranks == Degrees({0, 1, 2}))},
      {"workload.tasks[].id", kProgram, {"workload.tasks[0].id=first"}, TRAINGRAPH_HOLDS(task(s, 0).id == "first")},
      {"workload.tasks[].kind",
       kProgram,
       {"workload.tasks[0]={id: a, kind: marker, rank: 0}"},
       TRAINGRAPH_HOLDS(task(s, 0).kind == workloads::TaskKind::marker)},
      {"workload.tasks[].rank", kProgram, {"workload.tasks[0].rank=1"}, TRAINGRAPH_HOLDS(task(s, 0).rank == 1)},
      {"workload.tasks[].stream", kProgram, {"workload.tasks[0].stream=1"}, TRAINGRAPH_HOLDS(task(s, 0).stream == 1)},
      {"workload.tasks[].duration",
       kProgram,
       {"workload.tasks[0].duration=3 ns"},
       TRAINGRAPH_HOLDS(task(s, 0).duration == Duration::ps(3000))},
      {"workload.tasks[].bytes",
       kProgram,
       {"workload.tasks[1].bytes=3 kB"},
       TRAINGRAPH_HOLDS(task(s, 1).bytes == Bytes{3e3})},
      {"workload.tasks[].bytes",
       kProgram,
       {"workload.tasks[3].bytes=3 kB"},
       TRAINGRAPH_HOLDS(task(s, 3).bytes == Bytes{3e3})},
      {"workload.tasks[].matrix[].source",
       kProgram,
       {"workload.tasks[0].matrix[0].source=2"},
       TRAINGRAPH_HOLDS((*task(s, 0).matrix)[2].size() == 1),
       {"workload={kind: custom, groups: [{name: all, ranks: [0, 1, 2]}], tasks: [{id: x, kind: collective, group: all, "
        "collective: "
        "all_to_all_v, algorithm: direct, matrix: [{source: 0, destination: 1, bytes: 3 kB}]}]}"}},
      {"workload.tasks[].matrix[].destination",
       kProgram,
       {"workload.tasks[0].matrix[0].destination=2"},
       TRAINGRAPH_HOLDS((*task(s, 0).matrix)[0][0].destination == 2),
       {"workload={kind: custom, groups: [{name: all, ranks: [0, 1, 2]}], tasks: [{id: x, kind: collective, group: all, "
        "collective: "
        "all_to_all_v, algorithm: direct, matrix: [{source: 0, destination: 1, bytes: 3 kB}]}]}"}},
      {"workload.tasks[].matrix[].bytes",
       kProgram,
       {"workload.tasks[0].matrix[0].bytes=7 kB"},
       TRAINGRAPH_HOLDS((*task(s, 0).matrix)[0][0].bytes == Bytes{7e3}),
       {"workload={kind: custom, groups: [{name: all, ranks: [0, 1, 2]}], tasks: [{id: x, kind: collective, group: all, "
        "collective: "
        "all_to_all_v, algorithm: direct, matrix: [{source: 0, destination: 1, bytes: 3 kB}]}]}"}},
      {"workload.tasks[].peer",
       kProgram,
       {"workload.tasks[1].peer=2", "workload.tasks[2].rank=2"},
       TRAINGRAPH_HOLDS(task(s, 1).peer == 2)},
      {"workload.tasks[].peer",
       kProgram,
       {"workload.tasks[2].peer=2", "workload.tasks[1].rank=2"},
       TRAINGRAPH_HOLDS(task(s, 2).peer == 2)},
      {"workload.tasks[].group",
       kProgram,
       {"workload.tasks[3].group=more"},
       TRAINGRAPH_HOLDS(task(s, 3).group == "more"),
       {"workload.groups=[{name: all, ranks: [0, 1]}, {name: more, ranks: [0, 1, 2]}]"}},
      {"workload.tasks[].except",
       kProgram,
       {"workload.tasks[3].except=[1]"},
       TRAINGRAPH_HOLDS(task(s, 3).except == Degrees({1})),
       {},
       SeenIn::acceptance},
      {"workload.tasks[].collective",
       kProgram,
       {"workload.tasks[3].collective=broadcast"},
       TRAINGRAPH_HOLDS(task(s, 3).collective == CollectiveKind::broadcast && task(s, 3).algorithm == Algorithm::chain)},
      {"workload.tasks[].algorithm",
       kProgram,
       {"workload.tasks[3].algorithm=tree"},
       TRAINGRAPH_HOLDS(task(s, 3).algorithm == Algorithm::tree)},
      {"workload.tasks[].after",
       kProgram,
       {"workload.tasks[4].after=[c]"},
       TRAINGRAPH_HOLDS(task(s, 4).after == std::vector<std::string>({"c"})),
       {"workload.tasks[4]={id: e, kind: compute, rank: 1, stream: 1, duration: 1 ms}"}},
  };
}

}  // namespace traingraph::scenarios::test
