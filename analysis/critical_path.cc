#include "analysis/critical_path.h"

#include <algorithm>
#include <map>

#include "sim/error.h"

namespace traingraph::analysis {
namespace {

std::vector<PathShare> shares(const CriticalPath& path, const std::string PathElement::*name) {
  std::map<std::string, PathShare> by_name;
  for (const PathElement& e : path.elements) {
    PathShare& share = by_name[e.*name];
    ++share.elements;
    share.time += e.end - e.start;
  }
  std::vector<PathShare> sorted;
  for (auto& [key, share] : by_name) {
    share.name = key;
    share.fraction = path.length > sim::Duration{} ? share.time / path.length : 0.0;
    sorted.push_back(std::move(share));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const PathShare& a, const PathShare& b) { return a.time > b.time; });
  return sorted;
}

}  // namespace

std::string to_string(sim::OpKind kind) {
  switch (kind) {
    case sim::OpKind::compute:
      return "compute";
    case sim::OpKind::collective:
      return "collective";
    case sim::OpKind::send:
      return "send";
    case sim::OpKind::receive:
      return "receive";
    case sim::OpKind::marker:
      return "marker";
  }
  SIM_ASSERT(false, "every kind of operation has a name");
}

CriticalPath critical_path(const sim::Program& program, const sim::Record& record) {
  CriticalPath path;
  path.elements.reserve(record.critical_path.size());
  for (const sim::CriticalElement& e : record.critical_path) {
    SIM_ASSERT(e.end >= e.start, "time does not go back on the critical path");
    SIM_ASSERT(path.elements.empty() || e.start >= path.elements.back().end, "critical path elements do not overlap");
    const sim::Op& op = program.templates[program.ranks[e.rank].role].ops[e.op];
    path.elements.push_back({.rank = e.rank,
                             .step = e.step,
                             .op = e.op,
                             .kind = to_string(op.kind),
                             .task = program.labels[op.label].name,
                             .microbatch = op.microbatch,
                             .layer = op.layer,
                             .start = e.start,
                             .end = e.end,
                             .slack = e.slack});
    path.length += e.end - e.start;
  }
  path.by_kind = shares(path, &PathElement::kind);
  path.by_task = shares(path, &PathElement::task);
  return path;
}

}  // namespace traingraph::analysis
