// Engine: preparation, the loop over instants, and the end of a run.
#pragma once

#include <fmt/format.h>

#include "sim/engine.h"

namespace traingraph::sim {

template <class Model>
void Engine<Model>::prepare() {
  program_.check();
  record_.modes.resize(program_.collectives.size());
  for (std::uint32_t c = 0; c < record_.modes.size(); ++c) record_.modes[c].collective = c;
  record_.program_transfers = plans_.program_transfers();
  record_.inexact_transfers = plans_.inexact_transfers();
  bulk_allowed_ = options_.collectives == CollectiveMode::automatic && record_.inexact_transfers > options_.step_limit;
  planned_steps_ = record_.inexact_transfers;

  timelines_.reserve(program_.templates.size());
  for (const Template& t : program_.templates) timelines_.emplace_back(t, program_.durations);
  streams_.reserve(program_.ranks.size());  // at least one each
  open_ops_.assign(program_.steps, 0);
  played_steps_ = program_.steps > 1 ? program_.steps + 1 : program_.steps;
  for (std::uint32_t r = 0; r < program_.ranks.size(); ++r) {
    const Rank& rank = program_.ranks[static_cast<RankId>(r)];
    const Timeline& line = timelines_[index(rank.role)];
    for (std::uint32_t s = 0; s < line.streams(); ++s) {
      Stream stream;
      stream.rank = r;
      stream.stream = s;
      streams_.push_back(stream);
    }
    const std::size_t ops = program_.templates[rank.role].ops.size();
    for (std::uint64_t& open : open_ops_) open += ops;
  }
  for (const std::uint64_t open : open_ops_) total_ops_ += open;
  channels_.resize(program_.channels.size());
  communicators_.resize(program_.communicators.size());
  std::size_t members = 0;
  for (std::uint32_t c = 0; c < communicators_.size(); ++c) {
    communicators_[c].first_call = static_cast<std::uint32_t>(members);
    members += program_.communicators[static_cast<CommunicatorId>(c)].members.size();
  }
  calls_.assign(members, 0);
  for (std::uint32_t i = 0; i < program_.link_changes.size(); ++i)
    queue_.push(program_.link_changes[i].at, EventKind::link_change, i, i);
}

template <class Model>
void Engine<Model>::take_completions() {
  auto& completions = model_.completions();
  for (std::size_t i = 0; i < completions.size(); ++i) {
    if (completions[i].arrived) {
      arrive(completions[i].id);
    } else {
      left_wire(completions[i].id);
    }
  }
  completions.clear();
}

template <class Model>
void Engine<Model>::handle(const Event& event) {
  switch (event.kind()) {
    case EventKind::link_change: {
      const Program::LinkChange& change = program_.link_changes[event.payload];
      model_.set_capacity(change.link, change.capacity, now_);
      break;
    }
    case EventKind::model:
      model_.on_event(event, now_);
      take_completions();
      break;
    case EventKind::arrival:
      arrive(event.payload);
      break;
    case EventKind::compute_end:
      complete_plain(event.payload, streams_[event.payload].run_end - streams_[event.payload].position);
      break;
    case EventKind::collective_end:
      end_bulk(event.payload);
      break;
    case EventKind::member_end:
      end_staggered(event.payload);
      break;
    case EventKind::transfer_begin:
      begin_drain(event.payload);
      break;
  }
}

template <class Model>
void Engine<Model>::check_cancelled() const {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) throw Cancelled{};
}

template <class Model>
void Engine<Model>::report_progress() {
  check_cancelled();
  if (options_.progress) options_.progress({now_, done_ops_, total_ops_, record_.counters.events});
}

/// The last step has ended. What the ranks do meanwhile belongs to the next one, and is played until it is known.
template <class Model>
void Engine<Model>::end_window() {
  account_.end_window(now_);
  model_.end_window(now_);
  if (played_steps_ == program_.steps) return;
  for (const Stream& s : streams_)
    if (s.stream == 0 && timeline(s).length(0) > 0 && s.last_end < now_) ++unknown_;
  for (const CommunicatorState& c : communicators_)
    for (std::uint32_t id = c.oldest; id != kNone; id = instances_[id]->newer) {
      Instance& instance = *instances_[id];
      instance.awaited = instance.exact || instance.mode == Mode::staggered;
      if (instance.awaited) ++unknown_;
    }
}

template <class Model>
Record Engine<Model>::run() {
  constexpr std::uint64_t kEventsPerReport = 1 << 14;
  check_cancelled();
  for (std::uint32_t i = 0; i < streams_.size(); ++i) queue_stream(i, i);
  drain_ready();
  while (true) {
    // The instant is over when nothing is left to do at it; collectives left open are decided then.
    decide_open_modes();
    drain_ready();
    if (!undecided_.empty() || (!queue_.empty() && queue_.next_time() == now_)) {
      for (Event event; queue_.pop_at(now_, event);) {
        handle(event);
        drain_ready();
        if (++record_.counters.events % kEventsPerReport == 0) report_progress();
      }
      continue;
    }
    model_.solve(now_);
    take_completions();
    drain_ready();
    if ((done_ops_ == total_ops_ && unknown_ == 0) || queue_.empty()) break;
    now_ = queue_.next_time();
  }
  if (done_ops_ != total_ops_) {
    if (model_.moving()) beyond_clock();
    throw InputError{explain_stuck()};
  }
  SIM_ASSERT(record_.step_ends.size() == program_.steps || total_ops_ == 0, "every step has ended");

  record_.counters.operations = done_ops_;
  if (total_ops_ == 0) end_window();
  for (const Stream& s : streams_)
    if (s.stream == 0)
      account_.charge(static_cast<RankId>(s.rank), program_.idle_category, s.last_end, record_.window_end());
  account_.finish(record_);
  model_.finish(record_);
  if (mirrored_) record_mirrored(record_);
  if (options_.critical_path) write_critical_path(record_);
  return std::move(record_);
}

/// What a link carried that was left out of the simulation is what its mirror carried.
template <class Model>
void Engine<Model>::record_mirrored(Record& record) const {
  for (std::uint32_t l = 0; l < record.links.size(); ++l) {
    const LinkId link{l};
    const LinkId mirror = router_.mirror_of(link);
    if (mirror == link) continue;
    record.links[link] = record.links[mirror];
    if (record.bins > 0)
      std::copy_n(&record.load[std::size_t{index(mirror)} * record.bins], record.bins,
                  &record.load[std::size_t{l} * record.bins]);
  }
}

template <class Model>
void Engine<Model>::write_critical_path(Record& record) const {
  const Time begin = record.window_begin();
  std::vector<CriticalElement> backwards;
  Duration slack;  // of the release of the element that stands after this one
  for (Causes::Node node = last_node_; node != Causes::kNone; node = causes_[node].parent) {
    const Causes::Entry& e = causes_[node];
    if (e.end <= begin && !backwards.empty()) break;
    const Stream& s = streams_[e.stream];
    const Timeline& line = timeline(s);
    Time end = e.end;
    for (std::uint32_t p = e.last_position + 1; p-- > e.first_position;) {
      const bool first = p == e.first_position;
      const Time start = first ? e.start : end - scaled(s, p, p + 1);
      if (end > begin || backwards.empty())
        backwards.push_back(
            {static_cast<RankId>(s.rank), e.step, line.op_at(s.stream, p), std::max(start, begin), end, slack});
      end = start;
      slack = first ? e.slack : start.since_start();  // inside a run nothing else is waited for
    }
  }
  record.critical_path.assign(backwards.rbegin(), backwards.rend());
}

/// What the stream's next or running operation waits for.
template <class Model>
std::string Engine<Model>::explain_wait(std::uint32_t stream) const {
  const Stream& s = streams_[stream];
  const Op& op = current_op(s);
  if (s.status == Status::blocked) {
    const Template& t = role(s);
    for (std::uint32_t d = 0; d < op.dependencies; ++d) {
      const Dependency& dep = t.dependencies[op.first_dependency + d];
      const Stream& target = streams_[stream - s.stream + dep.stream];
      if (target.step > s.step || (target.step == s.step && target.position > dep.position)) continue;
      const Op& waited = t.ops[timeline(s).op_at(dep.stream, dep.position)];
      return fmt::format("its own '{}' on stream {}", program_.labels[waited.label].name, dep.stream);
    }
  }
  if (op.kind == OpKind::receive) {
    const Channel& channel = program_.channels[static_cast<ChannelId>(slot(s, op).target)];
    return fmt::format("a message from rank {}", index(channel.source));
  }
  if (op.kind == OpKind::collective) {
    const Slot& at = slot(s, op);
    const Communicator& c = program_.communicators[static_cast<CommunicatorId>(at.target)];
    std::vector<RankId> missing;
    for (std::uint32_t id = communicators_[at.target].oldest; id != kNone; id = instances_[id]->newer) {
      if (instances_[id]->streams[at.member] != stream) continue;
      for (std::uint32_t m = 0; m < c.members.size(); ++m)
        if (instances_[id]->streams[m] == kNone) missing.push_back(c.members[m]);
    }
    if (!missing.empty())
      return fmt::format("{} to enter '{}' on '{}'", list_ranks(missing), program_.collectives[op.argument].name, c.name);
    return "its transfers, some of which have no rate (a link is down)";
  }
  return "its transfer, which has no rate (a link on its path is down)";
}

template <class Model>
std::string Engine<Model>::explain_stuck() const {
  std::vector<bool> over(program_.ranks.size(), true);  // ranks that have nothing left to do
  for (const Stream& s : streams_)
    if (s.status != Status::finished) over[s.rank] = false;
  // A communicator that some members entered and others never will: the error that users can act on, so it comes first.
  for (const auto& instance : instances_) {
    if (instance->finished == instance->streams.size()) continue;
    const Communicator& c = program_.communicators[instance->plan->communicator];
    std::vector<RankId> here;
    std::vector<RankId> missing;
    bool all_over = true;
    for (std::uint32_t m = 0; m < instance->streams.size(); ++m) {
      const bool entered = instance->streams[m] != kNone;
      (entered ? here : missing).push_back(c.members[m]);
      all_over = all_over && (entered || over[index(c.members[m])]);
    }
    if (!missing.empty() && all_over)
      return fmt::format("collective '{}' on communicator '{}' (call number {}) never completes: {} entered, {} never {}",
                         program_.collectives[instance->plan->collective].name, c.name, instance->sequence + 1,
                         list_ranks(here), list_ranks(missing), missing.size() == 1 ? "arrives" : "arrive");
  }
  std::vector<Blocked> blocked;
  for (std::uint32_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (s.status != Status::finished)
      blocked.push_back({static_cast<RankId>(s.rank), s.step, timeline(s).op_at(s.stream, s.position), i});
  }
  return describe_deadlock(program_, blocked, now_, [this](const Blocked& b) { return explain_wait(b.stream); });
}

}  // namespace traingraph::sim
