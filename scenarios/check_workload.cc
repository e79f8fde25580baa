#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/checks.h"
#include "workloads/schedule.h"
#include "workloads/size_limits.h"

namespace traingraph::scenarios {

namespace {

using workloads::Attention;
using workloads::CollectiveRunSpec;
using workloads::CustomProgramSpec;
using workloads::CustomTask;
using workloads::HardwareSpec;
using workloads::LinearBlocksSpec;
using workloads::ModelSpec;
using workloads::ParallelSpec;
using workloads::TaskKind;
using workloads::TransformerSpec;

bool cluster_size_readable(const Checker& check) {
  return check.readable({"cluster.nodes", "cluster.node.gpus", "cluster.scale_out.kind", "cluster.scale_out.devices"});
}

void check_model(const ModelSpec& m, const ParallelSpec& p, Checker& check) {
  if (!check.readable({"workload.model", "workload.parallel"})) return;
  const std::uint32_t kv_heads = m.kv_head_count();
  check.expect(m.head_size != 0 || m.hidden % m.heads == 0, "workload.model.hidden",
               "{} is not divisible by {} heads; state head_size if that is meant", m.hidden, m.heads);
  check.expect(m.heads % kv_heads == 0, "workload.model.kv_heads", "{} does not divide the {} heads", kv_heads, m.heads);
  check.expect(m.heads % p.tp == 0, "workload.parallel.tp", "{} does not divide the model's {} attention heads", p.tp,
               m.heads);
  check.expect(m.ffn % p.tp == 0, "workload.parallel.tp", "{} does not divide the model's ffn of {}", p.tp, m.ffn);
  check.expect(m.kv_heads == 0 || kv_heads % p.tp == 0 || p.tp % kv_heads == 0, "workload.parallel.tp",
               "{} and the model's {} key/value heads: one must be a multiple of the other", p.tp, kv_heads);
  check.expect(!p.sequence_parallel || m.sequence % p.tp == 0, "workload.parallel.sequence_parallel",
               "needs a sequence that TP divides: {} and {}", m.sequence, p.tp);
}

void check_order(const ParallelSpec& p, Checker& check) {
  if (!check.readable({"workload.parallel.order"})) return;
  const std::vector<std::string> names{"tp", "cp", "ep", "dp", "pp"};
  std::set<std::string> seen;
  std::string_view rest = p.order;
  bool good = true;
  while (good) {
    const std::size_t end = std::min(rest.find('-'), rest.size());
    const std::string name{rest.substr(0, end)};
    good = std::find(names.begin(), names.end(), name) != names.end() && seen.insert(name).second;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  for (const auto& [name, degree] : {std::pair{"tp", p.tp}, {"cp", p.cp}, {"dp", p.dp}, {"pp", p.pp}})
    good = good && (degree == 1 || seen.contains(name));
  check.expect(good, "workload.parallel.order",
               "expected tp, dp and pp (cp and ep may be named), each once, joined by '-', found '{}'", p.order);
}

/// Members of a job that says nothing of them: those of a placement list, else every GPU.
std::uint64_t gpus_offered(const Scenario& s) {
  const auto& placement = s.workload.placement;
  return placement.kind == workloads::PlacementKind::list ? placement.gpus.size() : gpu_count(s.cluster);
}

/// The degrees of a layout, as a message shows them, and the keys at which they and the number of GPUs stand.
struct Layout {
  std::uint64_t used = 0;
  std::string product;
  std::string_view path;
  std::string_view gpus_path;
};

/// TP·PP·DP must be the GPUs used.
void check_gpus(const Scenario& s, std::optional<std::uint32_t> gpus, const Layout& l, Checker& check) {
  if (!cluster_size_readable(check) || !check.readable({"workload.placement"})) return;
  const std::uint64_t offered = gpus_offered(s);
  const std::uint64_t there = gpu_count(s.cluster);
  if (gpus) {
    check.expect(*gpus <= there, l.gpus_path, "{} GPUs are to be used, but the cluster has {}", *gpus, there);
    check.expect(l.used == *gpus, l.path, "{} = {}, but {} says {}", l.product, l.used, l.gpus_path, *gpus);
    return;
  }
  const std::string of =
      offered == there ? fmt::format("the cluster has {} GPUs", there) : fmt::format("the placement lists {} GPUs", offered);
  const std::string advice =
      l.used < offered ? fmt::format("; to leave the others idle set {}: {}", l.gpus_path, l.used) : "";
  check.expect(l.used == offered, l.path, "{} = {}, but {}{}", l.product, l.used, of, advice);
}

void check_transformer(const Scenario& s, const TransformerSpec& t, Checker& check) {
  const ParallelSpec& p = t.parallel;
  check_model(t.model, p, check);
  check_order(p, check);
  check_parallel(t, check);
  if (check.readable({"workload.parallel"})) {
    const std::uint64_t used = std::uint64_t{p.tp} * p.cp * p.pp * p.dp;
    const std::string context = p.cp > 1 ? fmt::format(" x CP {}", p.cp) : "";
    check_gpus(s, p.gpus,
               {used, fmt::format("TP {}{} x PP {} x DP {}", p.tp, context, p.pp, p.dp), "workload.parallel",
                "workload.parallel.gpus"},
               check);
    check.expect(!p.overlap_param_gather || p.distributed_optimizer || p.zero_stage > 0,
                 "workload.parallel.overlap_param_gather",
                 "needs distributed_optimizer: true, for only then parameters are gathered");
  }
  if (check.readable({"workload.global_batch", "workload.micro_batch", "workload.parallel.dp"})) {
    const std::uint64_t unit = std::uint64_t{p.dp} * t.micro_batch;
    check.expect(t.global_batch % unit == 0, "workload.global_batch", "{} is no multiple of DP {} x micro_batch {} = {}",
                 t.global_batch, p.dp, t.micro_batch, unit);
  }
  if (!s.hardware_given) {
    check.expect(false, "hardware", "is missing; workload kind transformer needs it");
    return;
  }
  const HardwareSpec& h = s.hardware;
  if (check.readable({"hardware.peaks", "workload.precision"})) {
    check.expect(h.peaks.contains(t.precision), "workload.precision", "hardware '{}' has no peak for {}", h.name,
                 name_of(t.precision));
    const workloads::Precision general = workloads::general_precision(t.precision);
    check.expect(general == t.precision || h.peaks.contains(general), "workload.precision",
                 "hardware '{}' has no peak for {}, which {} training needs too", h.name, name_of(general),
                 name_of(t.precision));
  }
  if (check.readable({"hardware", "workload.attention"})) {
    check.expect(t.attention != Attention::flash || h.flash_attention_efficiency.has_value(), "workload.attention",
                 "hardware '{}' has no flash_attention_efficiency; set hardware.flash_attention_efficiency", h.name);
    check.expect(t.attention != Attention::cudnn || h.cudnn_attention_efficiency.has_value(), "workload.attention",
                 "hardware '{}' has no cudnn_attention_efficiency; set hardware.cudnn_attention_efficiency", h.name);
  }
}

void check_linear_blocks(const Scenario& s, const LinearBlocksSpec& l, Checker& check) {
  check.expect(s.hardware_given, "hardware", "is missing; workload kind linear_blocks needs it");
  check.expect(!s.hardware_given || s.hardware.matmul.has_value() || !check.readable({"hardware.matmul"}), "hardware.matmul",
               "is missing; workload kind linear_blocks needs the tiled data-movement model");
  if (!check.readable({"workload"})) return;
  check.expect(!workloads::splits_backward(l.schedule), "workload.schedule",
               "{} is not built for linear_blocks; allowed: 1f1b, gpipe", name_of(l.schedule));
  const std::size_t levels = l.tp_ff.size();
  const auto product = [](const std::vector<std::uint32_t>& v) {
    return std::accumulate(v.begin(), v.end(), 1.0, [](double a, std::uint32_t b) { return a * b; });
  };
  check.expect(levels > 0, "workload.tp_ff", "needs one degree per network level");
  for (const auto& [name, list] : {std::pair{"tp_hidden", &l.tp_hidden}, {"pp", &l.pp}, {"dp", &l.dp}}) {
    check.expect(list->size() == levels, fmt::format("workload.{}", name), "lists {} network levels, but tp_ff lists {}",
                 list->size(), levels);
  }
  check.expect(l.ep.empty() || l.ep.size() == levels, "workload.ep", "lists {} network levels, but tp_ff lists {}",
               l.ep.size(), levels);
  const double ep = product(l.ep);
  check.expect(std::fmod(l.experts, ep) == 0, "workload.ep", "{} does not divide the {} experts", ep, l.experts);
  check.expect(l.active_experts <= l.experts, "workload.active_experts", "is {}; allowed: up to the {} experts",
               l.active_experts, l.experts);
  const double pp = product(l.pp);
  const double used = product(l.tp_ff) * product(l.tp_hidden) * ep * pp * product(l.dp);
  const double most = 4294967296.0;
  check.expect(used <= most, "workload", "the degrees multiply to {} ranks", used);
  if (used > most) return;
  const auto stages = static_cast<std::uint64_t>(pp);
  check.expect(l.blocks % stages == 0, "workload.blocks", "{} is not divisible by the {} pipeline stages", l.blocks, stages);
  if (l.blocks % stages == 0) {
    check.expect(l.blocks / stages % l.virtual_stages == 0, "workload.virtual_stages",
                 "{} does not divide the {} blocks of a stage", l.virtual_stages, l.blocks / stages);
  }
  check.expect(l.virtual_stages == 1 || l.microbatches % stages == 0, "workload.microbatches",
               "{} is no multiple of the {} pipeline stages, as an interleaved schedule needs", l.microbatches, stages);
  check_gpus(s, l.gpus,
             {static_cast<std::uint64_t>(used),
              fmt::format("tp_ff {} x tp_hidden {}{} x pp {} x dp {}", product(l.tp_ff), product(l.tp_hidden),
                          ep == 1 ? "" : fmt::format(" x ep {}", ep), pp, product(l.dp)),
              "workload", "workload.gpus"},
             check);
}

void check_collective(const Scenario& s, const CollectiveRunSpec& c, Checker& check) {
  if (!check.readable({"workload"}) || !cluster_size_readable(check)) return;
  const std::uint64_t gpus = gpu_count(s.cluster);
  check.expect(c.ranks <= gpus, "workload.ranks", "{} ranks, but the cluster has {} GPUs", c.ranks, gpus);
  if (c.ranks > gpus || gpus == 0) return;
  const auto members = c.ranks == 0 ? static_cast<std::uint32_t>(gpus_offered(s)) : c.ranks;
  check.expect(c.late_entry.empty() || c.late_entry.size() == members, "workload.late_entry",
               "lists {} ranks of {}; one each, or none", c.late_entry.size(), members);
  if (workloads::has_root(c.collective) && c.options.root >= members) {
    check.report("workload.root", fmt::format("there is no rank {}; ranks are 0 to {}", c.options.root, members - 1));
    return;
  }
  workloads::CollectiveOptions options = c.options;
  if (c.algorithm == workloads::Algorithm::hierarchical && options.domain_size == 0) return;  // known when the fabric is
  try {
    workloads::check_collective(c.collective, c.algorithm, members, c.bytes, options);
  } catch (const sim::InputError& e) {
    check.expect(false, "workload.algorithm", "{}", e.what());
  }
}

using Groups = std::map<std::string_view, const workloads::CustomGroup*>;

bool contains(const std::vector<std::uint32_t>& ranks, std::uint32_t rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

/// Whether `rank` plays `t`.
bool plays(const CustomTask& t, std::uint32_t rank, const Groups& groups) {
  if (t.kind != TaskKind::collective) return t.rank == rank;
  const auto group = groups.find(t.group);
  return group == groups.end() || (contains(group->second->ranks, rank) && !contains(t.except, rank));
}

void check_except(const CustomTask& t, std::size_t i, const workloads::CustomGroup& group, Checker& check) {
  std::set<std::uint32_t> excepted;
  for (std::size_t k = 0; k < t.except.size(); ++k) {
    const std::string where = fmt::format("workload.tasks[{}].except[{}]", i, k);
    check.expect(contains(group.ranks, t.except[k]), where, "rank {} is not in group '{}'", t.except[k], group.name);
    check.expect(excepted.insert(t.except[k]).second, where, "names rank {} twice", t.except[k]);
  }
  const bool somebody =
      std::any_of(group.ranks.begin(), group.ranks.end(), [&](std::uint32_t r) { return !excepted.contains(r); });
  check.expect(somebody || group.ranks.empty(), fmt::format("workload.tasks[{}].except", i), "leaves nobody of group '{}'",
               group.name);
}

void check_task(const CustomProgramSpec& c, std::size_t i, std::uint64_t ranks,
                const std::map<std::string_view, const CustomTask*>& tasks, const Groups& groups, Checker& check) {
  const CustomTask& t = c.tasks[i];
  const auto path = [i](std::string_view key) { return fmt::format("workload.tasks[{}].{}", i, key); };
  const bool collective = t.kind == TaskKind::collective;
  check.expect(collective || t.rank < ranks, path("rank"), "there is no rank {}; ranks are 0 to {}", t.rank, ranks - 1);
  if (t.kind == TaskKind::send || t.kind == TaskKind::receive) {
    check.expect(t.peer < ranks, path("peer"), "there is no rank {}; ranks are 0 to {}", t.peer, ranks - 1);
    check.expect(t.peer != t.rank, path("peer"), "is the task's own rank {}", t.rank);
  }
  if (collective && groups.contains(t.group)) check_except(t, i, *groups.at(t.group), check);
  if (collective && groups.contains(t.group) && t.collective == workloads::CollectiveKind::all_to_all_v) {
    const auto members = static_cast<std::uint32_t>(groups.at(t.group)->ranks.size());
    try {
      workloads::check_collective(t.collective, t.algorithm, members, {}, {.matrix = t.matrix});
    } catch (const sim::InputError& e) {
      check.report(path("matrix"), e.what());
    }
  }
  if (collective && !groups.contains(t.group)) {
    constexpr std::size_t kMostNames = 100;  // each unknown name is compared with all of them
    std::vector<std::string> names;
    for (std::size_t k = 0; k < std::min(kMostNames, c.groups.size()); ++k) names.push_back(c.groups[k].name);
    check.expect(false, path("group"), "no group '{}'{}", t.group, suggestion(t.group, names));
  }
  for (std::size_t k = 0; k < t.after.size(); ++k) {
    const auto it = tasks.find(t.after[k]);
    const std::string where = fmt::format("workload.tasks[{}].after[{}]", i, k);
    check.expect(it != tasks.end(), where, "no task '{}'", t.after[k]);
    if (it == tasks.end()) continue;
    const CustomTask& before = *it->second;
    check.expect(it->second != &t, where, "'{}' is the task itself", t.after[k]);
    const bool later = it->second > &t && before.kind != TaskKind::collective && before.stream == t.stream;
    check.expect(collective || !later || before.rank != t.rank, where,
                 "'{}' comes later in the same stream, whose tasks run in the order in which they are listed", t.after[k]);
    if (collective) continue;
    if (before.kind == TaskKind::collective) {
      check.expect(plays(before, t.rank, groups), where, "rank {} takes no part in '{}'", t.rank, t.after[k]);
    } else {
      check.expect(before.rank == t.rank, where, "'{}' is a task of rank {}, not of rank {}; ranks meet by messages",
                   t.after[k], before.rank, t.rank);
    }
  }
}

void check_custom(const Scenario& s, const CustomProgramSpec& c, Checker& check) {
  if (!check.readable({"workload"})) return;
  std::uint64_t ranks = c.ranks;
  if (ranks == 0) {
    for (const auto& g : c.groups) {
      for (const std::uint32_t r : g.ranks) ranks = std::max(ranks, std::uint64_t{r} + 1);
    }
    for (const CustomTask& t : c.tasks) {
      if (t.kind != TaskKind::collective) ranks = std::max(ranks, std::uint64_t{t.rank} + 1);
      if (t.kind == TaskKind::send || t.kind == TaskKind::receive) ranks = std::max(ranks, std::uint64_t{t.peer} + 1);
    }
  }
  if (cluster_size_readable(check)) {
    const std::string_view path = c.ranks == 0 ? "workload.tasks" : "workload.ranks";
    check.expect(ranks <= gpu_count(s.cluster), path, "{} ranks, but the cluster has {} GPUs", ranks, gpu_count(s.cluster));
  }
  check.expect(!c.tasks.empty(), "workload.tasks", "is empty; there is nothing to run");
  Groups groups;
  for (std::size_t i = 0; i < c.groups.size(); ++i) {
    const auto& g = c.groups[i];
    const auto [first, added] = groups.emplace(g.name, &g);
    check.expect(added, fmt::format("workload.groups[{}].name", i), "'{}' is also the name of groups[{}]", g.name,
                 first->second - c.groups.data());
    check.expect(!g.ranks.empty(), fmt::format("workload.groups[{}].ranks", i), "is empty");
    std::set<std::uint32_t> members;
    for (const std::uint32_t r : g.ranks) {
      check.expect(r < ranks, fmt::format("workload.groups[{}].ranks", i), "there is no rank {}; ranks are 0 to {}", r,
                   ranks - 1);
      check.expect(members.insert(r).second, fmt::format("workload.groups[{}].ranks", i), "names rank {} twice", r);
    }
  }
  std::map<std::string_view, const CustomTask*> tasks;
  for (std::size_t i = 0; i < c.tasks.size(); ++i) {
    const bool added = tasks.emplace(c.tasks[i].id, &c.tasks[i]).second;
    check.expect(added, fmt::format("workload.tasks[{}].id", i), "'{}' is the id of an earlier task", c.tasks[i].id);
  }
  for (std::size_t i = 0; i < c.tasks.size(); ++i) check_task(c, i, ranks, tasks, groups, check);
}

/// The job that would be built, against what the program holds.
void check_size(const Scenario& s, Checker& check) {
  if (!check.readable({"workload"})) return;
  const double operations = workloads::least_operations(s.workload);
  const std::string_view path =
      check.blamed({"workload.model.layers", "workload.blocks", "workload.iterations", "workload.microbatches",
                    "workload.global_batch", "workload.virtual_stages", "workload.model", "workload.kind"});
  check.expect(operations <= static_cast<double>(workloads::kMostOperations), path,
               "layers and micro-batches make at least {:.4g} operations; at most {} are allowed", operations,
               workloads::kMostOperations);
  if (const auto* t = std::get_if<TransformerSpec>(&s.workload.job)) {
    const std::uint64_t experts = std::uint64_t{t->model.moe.experts} * t->model.layers;
    check.expect(experts <= workloads::kMostExperts, "workload.model.moe.experts",
                 "{} experts in all layers; at most {} are allowed", experts, workloads::kMostExperts);
  }
}

void check_placement(const Scenario& s, Checker& check) {
  if (!cluster_size_readable(check)) return;
  const std::uint64_t gpus = gpu_count(s.cluster);
  if (check.readable({"workload.placement"})) {
    std::set<std::uint32_t> used;
    for (std::size_t i = 0; i < s.workload.placement.gpus.size(); ++i) {
      const std::uint32_t g = s.workload.placement.gpus[i];
      const std::string path = fmt::format("workload.placement.gpus[{}]", i);
      check.expect(g < gpus, path, "there is no GPU {}; GPUs are 0 to {}", g, gpus - 1);
      check.expect(used.insert(g).second, path, "GPU {} is listed twice", g);
    }
  }
  if (!check.readable({"workload.slow_gpus"})) return;
  std::set<std::uint32_t> slow;
  for (std::size_t i = 0; i < s.workload.slow_gpus.size(); ++i) {
    const std::uint32_t g = s.workload.slow_gpus[i].gpu;
    const std::string path = fmt::format("workload.slow_gpus[{}].gpu", i);
    check.expect(g < gpus, path, "there is no GPU {}; GPUs are 0 to {}", g, gpus - 1);
    check.expect(slow.insert(g).second, path, "GPU {} is listed twice", g);
  }
}

}  // namespace

void check_workload(const Scenario& s, Checker& check) {
  if (!check.readable({"workload.kind"})) return;
  if (const auto* t = std::get_if<TransformerSpec>(&s.workload.job)) check_transformer(s, *t, check);
  if (const auto* l = std::get_if<LinearBlocksSpec>(&s.workload.job)) check_linear_blocks(s, *l, check);
  if (const auto* c = std::get_if<CollectiveRunSpec>(&s.workload.job)) check_collective(s, *c, check);
  if (const auto* c = std::get_if<CustomProgramSpec>(&s.workload.job)) check_custom(s, *c, check);
  check_placement(s, check);
  check_size(s, check);
}

}  // namespace traingraph::scenarios
