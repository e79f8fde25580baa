#include "analysis/hdf5_writer.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "analysis/explain.h"
#include "analysis/fields.h"
#include "analysis/h5_file.h"
#include "analysis/link_use.h"
#include "analysis/task_trace.h"

namespace traingraph::analysis {
namespace {

using enum ColumnType;

/// The longest of `texts` mapped to strings: the width of their column.
template <class Range, class ToText>
std::size_t width_of(const Range& range, ToText to_text) {
  std::size_t width = 1;
  for (const auto& item : range) width = std::max(width, std::string{to_text(item)}.size());
  return width;
}

void write_summary(H5File& file, const Result& result) {
  for (const Field& field : fields(result, false)) {
    std::string path = "/summary/" + field.path;
    std::replace(path.begin(), path.end(), '.', '/');
    std::visit(
        [&](const auto& v) {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, sim::Duration>) {
            file.scalar(path, seconds(v));
            file.attribute(path, "ps", v.count_ps());
          } else {
            file.scalar(path, v);
          }
        },
        field.value);
    file.attribute(path, "units", field.unit);
  }
}

void write_nodes(H5File& file, const topology::Fabric& fabric) {
  using topology::Device;
  H5Table t = file.table("/topology/nodes",
                         {{"id", uint32},
                          {"kind", text, width_of(topology::kDeviceKinds, [](auto k) { return to_string(k); })},
                          {"name", text, width_of(fabric.devices, [](const Device& d) { return d.name; })},
                          {"domain", int32},
                          {"node", int32},
                          {"rack", int32},
                          {"unit", int32},
                          {"pod", int32},
                          {"rail", int32}},
                         fabric.devices.size());
  for (std::uint32_t d = 0; d < fabric.devices.size(); ++d) {
    const Device& device = fabric.devices[topology::DeviceId{d}];
    t.put(d);
    t.put(std::string_view{to_string(device.kind)});
    t.put(std::string_view{device.name});
    for (const std::int32_t place : {device.domain, device.node, device.rack, device.unit, device.pod, device.rail})
      t.put(place);
    t.end_row();
  }
  t.finish();
}

void write_links(H5File& file, const topology::Fabric& fabric) {
  using topology::LinkInfo;
  H5Table t = file.table("/topology/links",
                         {{"id", uint32},
                          {"source", uint32},
                          {"target", uint32},
                          {"tier", text, width_of(topology::kTiers, [](auto k) { return to_string(k); })},
                          {"capacity_Bps", float64},
                          {"latency_s", float64},
                          {"cables", uint32},
                          {"name", text, width_of(fabric.link_info, [](const LinkInfo& l) { return l.name; })}},
                         fabric.links.size());
  for (std::uint32_t l = 0; l < fabric.links.size(); ++l) {
    const LinkInfo& info = fabric.link_info[sim::LinkId{l}];
    const sim::Link& link = fabric.links[sim::LinkId{l}];
    t.put(l);
    t.put(static_cast<std::uint32_t>(info.source));
    t.put(static_cast<std::uint32_t>(info.target));
    t.put(std::string_view{to_string(info.tier)});
    t.put(link.capacity.bytes_per_s());
    t.put(seconds(link.latency));
    t.put(info.cables);
    t.put(std::string_view{info.name});
    t.end_row();
  }
  t.finish();
}

void write_ranks(H5File& file, const topology::Fabric& fabric, const workloads::Workload& workload) {
  const sim::Program& program = workload.program;
  H5Table ranks = file.table("/ranks",
                             {{"rank", uint32},
                              {"gpu", uint32},
                              {"node", int32},
                              {"tp", uint32},
                              {"cp", uint32},
                              {"ep", uint32},
                              {"dp", uint32},
                              {"pp", uint32},
                              {"class", uint32},
                              {"role", text, width_of(program.templates, [](const sim::Template& r) { return r.name; })}},
                             program.ranks.size());
  H5Table classes =
      file.table("/classes", {{"class", uint32}, {"representative", uint32}, {"members", uint64}}, program.ranks.size());
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    const sim::Rank& rank = program.ranks[sim::RankId{r}];
    const workloads::Coordinates at =
        workload.coordinates.empty() ? workloads::Coordinates{} : workload.coordinates[sim::RankId{r}];
    ranks.put(r);
    ranks.put(index(rank.endpoint));
    ranks.put(fabric.devices[fabric.endpoints[rank.endpoint]].node);
    for (const std::uint32_t c : {at.tp, at.cp, at.ep, at.dp, at.pp}) ranks.put(c);
    ranks.put(r);
    ranks.put(std::string_view{program.templates[rank.role].name});
    ranks.end_row();
    classes.put(r);
    classes.put(r);
    classes.put(rank.multiplicity);
    classes.end_row();
  }
  ranks.finish();
  classes.finish();
}

void write_load(H5File& file, const topology::Fabric& fabric, const sim::Record& record) {
  if (record.bins == 0) return;
  file.matrix("/links/load", record.load, fabric.links.size(), record.bins);
  file.attribute("/links/load", "units", std::string{"1"});
  file.attribute("/links/load", "bin_s", seconds(record.bin_width));
  file.attribute("/links/load", "bin_ps", record.bin_width.count_ps());
}

/// Where each GPU's time went over the reported step, in the program's categories.
void write_time_splits(H5File& file, const workloads::Workload& workload, const sim::Record& record) {
  const std::vector<std::string>& categories = workload.program.categories;
  std::vector<Column> columns{{"rank", uint32}};
  for (const std::string& category : categories) columns.push_back({category + "_ps", int64});
  H5Table t = file.table("/time_splits", std::move(columns), record.splits.size());
  for (std::uint32_t r = 0; r < record.splits.size(); ++r) {
    t.put(r);
    for (std::size_t c = 0; c < categories.size(); ++c) t.put(record.splits[sim::RankId{r}].by_category[c].count_ps());
    t.end_row();
  }
  t.finish();
}

void write_most_loaded(H5File& file, const Result& result) {
  const std::vector<LinkUse>& links = result.top_links;
  H5Table t = file.table("/links/most_loaded",
                         {{"order", uint64},
                          {"id", uint32},
                          {"name", text, width_of(links, [](const LinkUse& l) { return l.name; })},
                          {"tier", text, width_of(links, [](const LinkUse& l) { return l.tier; })},
                          {"capacity_Bps", float64},
                          {"bytes", float64},
                          {"busy_fraction", float64},
                          {"mean_utilization", float64},
                          {"peak_utilization", float64}},
                         links.size());
  for (const LinkUse& l : links) {
    t.put(t.rows());
    t.put(index(l.link));
    t.put(std::string_view{l.name});
    t.put(std::string_view{l.tier});
    for (const double v : {l.capacity_bytes_per_s, l.bytes, l.busy_fraction, l.mean_utilization, l.peak_utilization})
      t.put(v);
    t.end_row();
  }
  t.finish();
}

void write_bounds(H5File& file, const Result& result) {
  H5Table t = file.table("/bounds",
                         {{"number", int32},
                          {"name", text, width_of(result.bounds, [](const Bound& b) { return b.name; })},
                          {"subject", text, width_of(result.bounds, [](const Bound& b) { return b.subject; })},
                          {"holds_for", text, width_of(result.bounds, [](const Bound& b) { return b.holds_for; })},
                          {"window", text, width_of(result.bounds, [](const Bound& b) { return to_string(b.window); })},
                          {"value_ps", int64},
                          {"value_s", float64},
                          {"simulated_ps", int64},
                          {"binds", int32}},
                         result.bounds.size());
  for (const Bound& b : result.bounds) {
    t.put(b.number);
    t.put(std::string_view{b.name});
    t.put(std::string_view{b.subject});
    t.put(std::string_view{b.holds_for});
    t.put(std::string_view{to_string(b.window)});
    t.put(b.value.count_ps());
    t.put(seconds(b.value));
    t.put(b.simulated.count_ps());
    t.put(b.binds ? 1 : 0);
    t.end_row();
  }
  t.finish();
}

void write_critical_path(H5File& file, const Result& result) {
  const std::vector<PathElement>& elements = result.critical_path.elements;
  H5Table t = file.table("/critical_path",
                         {{"order", uint64},
                          {"rank", uint32},
                          {"step", uint32},
                          {"kind", text, width_of(elements, [](const PathElement& e) { return e.kind; })},
                          {"task", text, width_of(elements, [](const PathElement& e) { return e.task; })},
                          {"microbatch", int32},
                          {"layer", int32},
                          {"start_ps", int64},
                          {"end_ps", int64},
                          {"slack_ps", int64}},
                         elements.size());
  for (const PathElement& e : elements) {
    t.put(t.rows());
    t.put(index(e.rank));
    t.put(e.step);
    t.put(std::string_view{e.kind});
    t.put(std::string_view{e.task});
    t.put(e.microbatch);
    t.put(e.layer);
    t.put(e.start.count_ps());
    t.put(e.end.count_ps());
    t.put(e.slack.count_ps());
    t.end_row();
  }
  t.finish();
}

void write_collectives(H5File& file, const Result& result) {
  const std::vector<CollectiveUse>& uses = result.collectives;
  H5Table t = file.table("/collectives",
                         {{"name", text, width_of(uses, [](const CollectiveUse& c) { return c.name; })},
                          {"algorithm", text, width_of(uses, [](const CollectiveUse& c) { return c.algorithm; })},
                          {"bytes", float64},
                          {"calls", uint64},
                          {"step", uint64},
                          {"bulk_exact", uint64},
                          {"bulk_forced", uint64},
                          {"reason", text, width_of(uses, [](const CollectiveUse& c) { return c.reason(); })}},
                         uses.size());
  for (const CollectiveUse& c : uses) {
    t.put(std::string_view{c.name});
    t.put(std::string_view{c.algorithm});
    t.put(c.bytes);
    t.put(c.calls);
    t.put(c.step);
    t.put(c.bulk_exact);
    t.put(c.bulk_forced);
    t.put(c.reason());
    t.end_row();
  }
  t.finish();
}

void write_link_use(H5File& file, const topology::Fabric& fabric, const sim::Program& program, const sim::Record& record) {
  const std::vector<LinkUse> uses = link_use(fabric, program, record);
  H5Table t = file.table("/links/use",
                         {{"id", uint32},
                          {"bytes", float64},
                          {"busy_fraction", float64},
                          {"mean_utilization", float64},
                          {"peak_utilization", float64}},
                         uses.size());
  for (const LinkUse& use : uses) {
    t.put(index(use.link));
    for (const double v : {use.bytes, use.busy_fraction, use.mean_utilization, use.peak_utilization}) t.put(v);
    t.end_row();
  }
  t.finish();
}

void write_communicators(H5File& file, const Explanation& explanation) {
  struct Row {
    std::uint64_t group = 0;
    const ExplainedCommunicator* communicator = nullptr;
    std::string ranks;
  };
  std::vector<Row> rows;
  for (std::uint64_t g = 0; g < explanation.groups.size(); ++g) {
    for (const ExplainedCommunicator& c : explanation.groups[g].communicators) rows.push_back({g, &c, compact(c.members)});
  }
  H5Table t = file.table("/explain/communicators",
                         {{"group", uint64},
                          {"name", text, width_of(rows, [](const Row& r) { return r.communicator->name; })},
                          {"size", uint64},
                          {"ranks", text, width_of(rows, [](const Row& r) { return r.ranks; })}},
                         rows.size());
  for (const Row& row : rows) {
    t.put(row.group);
    t.put(std::string_view{row.communicator->name});
    t.put(std::uint64_t{row.communicator->members.size()});
    t.put(std::string_view{row.ranks});
    t.end_row();
  }
  t.finish();
}

void write_calls(H5File& file, const Explanation& explanation) {
  struct Row {
    std::uint64_t group = 0;
    const ExplainedCall* call = nullptr;
  };
  std::vector<Row> rows;
  for (std::uint64_t g = 0; g < explanation.groups.size(); ++g) {
    for (const ExplainedCall& call : explanation.groups[g].calls) rows.push_back({g, &call});
  }
  H5Table t = file.table("/explain/calls",
                         {{"group", uint64},
                          {"collective", text, width_of(rows, [](const Row& r) { return r.call->collective; })},
                          {"algorithm", text, width_of(rows, [](const Row& r) { return r.call->algorithm; })},
                          {"bytes", float64},
                          {"calls_per_step", uint64}},
                         rows.size());
  for (const Row& row : rows) {
    t.put(row.group);
    t.put(std::string_view{row.call->collective});
    t.put(std::string_view{row.call->algorithm});
    t.put(row.call->bytes);
    t.put(row.call->calls_per_step);
    t.end_row();
  }
  t.finish();
}

void write_messages(H5File& file, const Explanation& explanation) {
  const std::vector<ExplainedMessages>& all = explanation.messages;
  H5Table t = file.table("/explain/messages",
                         {{"from", text, width_of(all, [](const ExplainedMessages& m) { return m.from; })},
                          {"to", text, width_of(all, [](const ExplainedMessages& m) { return m.to; })},
                          {"channels", uint64},
                          {"messages_per_step", uint64},
                          {"bytes_per_step", float64}},
                         all.size());
  for (const ExplainedMessages& m : all) {
    t.put(std::string_view{m.from});
    t.put(std::string_view{m.to});
    t.put(m.channels);
    t.put(m.messages_per_step);
    t.put(m.bytes_per_step);
    t.end_row();
  }
  t.finish();
}

void write_explanation(H5File& file, const sim::Program& program) {
  const Explanation explanation = explain(program);
  write_communicators(file, explanation);
  write_calls(file, explanation);
  write_messages(file, explanation);
}

}  // namespace

/// The trace writes into the file beside it: built in place, never moved.
struct ResultFile::State {
  State(std::filesystem::path path, const workloads::Workload& w, const ResultFileOptions& options)
      : workload{w}, file{std::move(path), options.keep_partial}, trace{file, w, options.tasks, options.transfers} {}

  const workloads::Workload& workload;
  H5File file;
  TaskTrace trace;
};

ResultFile::ResultFile(std::filesystem::path path, const workloads::Workload& workload, const ResultFileOptions& options)
    : state_{std::make_unique<State>(std::move(path), workload, options)} {
  H5File& file = state_->file;
  file.attribute("/", "schema_version", std::string{kSchemaVersion});
  file.attribute("/", "traingraph_version", options.version);
  file.attribute("/", "scenario", options.scenario);
  file.attribute("/", "seed", options.seed);
}

ResultFile::~ResultFile() = default;

sim::TraceSink* ResultFile::trace() {
  const bool wanted = state_->trace.wants_tasks() || state_->trace.wants_transfers();
  return wanted ? &state_->trace : nullptr;
}

void ResultFile::finish(const Result& result, const topology::Fabric& fabric, const sim::Record& record) {
  H5File& file = state_->file;
  state_->trace.finish();
  write_summary(file, result);
  write_nodes(file, fabric);
  write_links(file, fabric);
  write_ranks(file, fabric, state_->workload);
  write_time_splits(file, state_->workload, record);
  write_load(file, fabric, record);
  write_most_loaded(file, result);
  write_bounds(file, result);
  write_critical_path(file, result);
  write_collectives(file, result);
  write_link_use(file, fabric, state_->workload.program, record);
  write_explanation(file, state_->workload.program);
  file.commit();
}

}  // namespace traingraph::analysis
