#include "sim/alone.h"

#include <limits>
#include <utility>

#include "sim/clock_range.h"
#include "sim/event_queue.h"
#include "sim/flow_model.h"
#include "sim/ideal_model.h"
#include "sim/max_min.h"
#include "sim/step_state.h"

namespace traingraph::sim {

namespace {

/// One collective on one network model: the engine's rules for transfers, without ranks, streams or records.
template <class Model>
class Player {
 public:
  Player(const LinkTable& links, const PathTable& paths) : paths_{paths}, model_{links, paths, queue_, RunOptions{}} {}

  Duration steps(const TransferSource& source, const std::function<PathId(std::uint32_t, const Send&)>& path) {
    state_.reset(source);
    const Time begin = now_;
    const auto post = [&](std::uint32_t lane, std::uint32_t number) {
      const Send send = source.send(lane, number);
      const std::uint32_t id = take(Flight{lane, send, path(lane, send)});
      const Duration overhead = paths_.overhead(flights_[id].path);
      queue_.push(later(now_, overhead), EventKind::transfer_begin, 0, id);
    };
    for (std::uint32_t m = 0; m < source.members(); ++m) state_.mark_entered(m);
    const std::uint32_t beginners = source.starts_together() ? 1 : source.members();
    for (std::uint32_t m = 0; m < beginners; ++m) state_.begin(m, post);
    play([&](std::uint32_t id) { state_.left(flights_[id].lane, post); },
         [&](std::uint32_t id) {
           const Flight f = flights_[id];
           release(id);
           if (!f.send.to_all) {
             state_.arrived(f.lane, f.send.inbox, post);
           } else {
             for (std::uint32_t b = 0; b < source.inboxes(); ++b) state_.arrived(f.lane, b, post);
           }
         });
    return now_ - begin;
  }

  Duration bulk(const std::vector<BulkEdge>& edges) {
    const Time begin = now_;
    Time last = now_;
    for (const BulkEdge& edge : edges) {
      const std::uint32_t id = take(Flight{edge.lane, Send{0, 0, edge.bytes, false}, edge.path});
      queue_.push(now_, EventKind::transfer_begin, 0, id);
    }
    play([&](std::uint32_t) { last = now_; }, [&](std::uint32_t id) { release(id); });
    return last - begin;
  }

 private:
  struct Flight {
    std::uint32_t lane = 0;
    Send send;
    PathId path{};
  };

  std::uint32_t take(Flight flight) {
    if (free_.empty()) {
      flights_.push_back(flight);
      return static_cast<std::uint32_t>(flights_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    flights_[id] = flight;
    return id;
  }
  void release(std::uint32_t id) { free_.push_back(id); }

  template <class Left, class Arrived>
  void play(const Left& left, const Arrived& arrived) {
    const auto on_left = [&](std::uint32_t id) {
      queue_.push(later(now_, paths_.latency(flights_[id].path)), EventKind::arrival, 0, id);
      left(id);
    };
    while (!queue_.empty()) {
      now_ = queue_.next_time();
      while (!queue_.empty() && queue_.next_time() == now_) {
        const Event event = queue_.pop();
        if (event.kind() == EventKind::model) {
          model_.on_event(event, now_);
        } else if (event.kind() == EventKind::arrival) {
          arrived(event.payload);
        } else if (const Flight& f = flights_[event.payload]; f.send.bytes.count() > 0 && !paths_.links(f.path).empty()) {
          model_.start(event.payload, f.path, f.send.bytes, 1, Bandwidth{}, now_);
        } else {
          on_left(event.payload);
        }
        for (std::size_t i = 0; i < model_.completions().size(); ++i) on_left(model_.completions()[i].id);
        model_.completions().clear();
      }
      model_.solve(now_);
    }
  }

  const PathTable& paths_;
  EventQueue queue_;
  Model model_;
  StepState state_;
  Time now_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_;
};

}  // namespace

struct AloneTimer::Impl {
  Impl(const LinkTable& link_table, const PathTable& path_table, NetworkModel network)
      : links{link_table}, paths{path_table} {
    if (network == NetworkModel::ideal) {
      ideal = std::make_unique<Player<IdealModel>>(links, paths);
    } else {
      flow = std::make_unique<Player<FlowModel>>(links, paths);
      solver = std::make_unique<MaxMin>(links, paths);
    }
  }
  const LinkTable& links;
  const PathTable& paths;
  std::unique_ptr<Player<FlowModel>> flow;
  std::unique_ptr<Player<IdealModel>> ideal;
  std::unique_ptr<MaxMin> solver;
};

AloneTimer::AloneTimer(const LinkTable& links, const PathTable& paths, NetworkModel network)
    : impl_{std::make_unique<Impl>(links, paths, network)} {}
AloneTimer::~AloneTimer() = default;

Duration AloneTimer::steps(const TransferSource& source,
                           const std::function<PathId(std::uint32_t lane, const Send& send)>& path) {
  return impl_->flow ? impl_->flow->steps(source, path) : impl_->ideal->steps(source, path);
}

Duration AloneTimer::bulk(const std::vector<BulkEdge>& edges) {
  return impl_->flow ? impl_->flow->bulk(edges) : impl_->ideal->bulk(edges);
}

std::vector<double> AloneTimer::rates(const std::vector<PathId>& paths) {
  std::vector<double> result(paths.size());
  if (impl_->solver) {
    for (std::uint32_t i = 0; i < paths.size(); ++i) impl_->solver->add(i, paths[i], 1, 0);
    impl_->solver->solve();
    for (std::uint32_t i = 0; i < paths.size(); ++i) result[i] = impl_->solver->rate(i);
    for (std::uint32_t i = 0; i < paths.size(); ++i) impl_->solver->remove(i);
    impl_->solver->solve();
    return result;
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    double rate = std::numeric_limits<double>::infinity();
    for (const PathLink& hop : impl_->paths.links(paths[i]))
      rate = std::min(rate, impl_->links[hop.link].capacity.bytes_per_s() * hop.k / hop.n);
    result[i] = rate;
  }
  return result;
}

}  // namespace traingraph::sim
