#include "sim/chunk_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "sim/end_time.h"
#include "sim/error.h"

namespace traingraph::sim {
namespace {

// What a model event's payload names: its two highest bits tell.
constexpr std::uint32_t kLinkEvent = 0;          // a link has sent its chunk
constexpr std::uint32_t kChunkEvent = 1U << 30;  // a chunk has crossed its stage
constexpr std::uint32_t kEntryEvent = 2U << 30;  // a capped transfer's next chunk may enter
constexpr std::uint32_t kPayload = (1U << 30) - 1;

template <class T>
std::uint32_t take_slot(std::vector<T>& slots, std::vector<std::uint32_t>& unused, const T& value) {
  if (unused.empty()) {
    slots.push_back(value);
    SIM_ASSERT(slots.size() <= kPayload, "chunks in flight are numbered by 30 bits");
    return static_cast<std::uint32_t>(slots.size() - 1);
  }
  const std::uint32_t slot = unused.back();
  unused.pop_back();
  slots[slot] = value;
  return slot;
}

}  // namespace

ChunkModel::ChunkModel(const LinkTable& links, const PathTable& paths, EventQueue& queue, const RunOptions& options)
    : paths_{paths},
      queue_{queue},
      loads_{links, options.bins},
      size_{options.chunk.size.count()},
      window_{options.chunk.window.count()},
      fifo_{options.chunk.order == ChunkOrder::fifo},
      links_(links.size()) {
  if (!(size_ > 0) || !std::isfinite(size_)) throw InputError{fmt::format("chunk size {} bytes; must be positive", size_)};
  if (!(window_ >= 0)) throw InputError{fmt::format("chunk window {} bytes; must not be negative", window_)};
  SIM_ASSERT(links.size() <= kPayload, "links are numbered by 30 bits in events");
  for (std::size_t l = 0; l < links.size(); ++l) {
    links_[l].capacity = links[static_cast<LinkId>(l)].capacity.bytes_per_s();
    links_[l].latency = links[static_cast<LinkId>(l)].latency;
  }
}

std::uint64_t ChunkModel::window_of(const Transfer& t) const {
  if (window_ > 0) return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(window_ / size_));
  double rate = t.cap > 0 ? t.cap : std::numeric_limits<double>::infinity();
  for (const PathLink& hop : paths_.links(t.path)) {
    const double capacity = links_[index(hop.link)].capacity;
    if (capacity > 0) rate = std::min(rate, capacity / hop.fraction());
  }
  std::size_t hops = 0;
  for (const Route& route : paths_.routes(t.path)) hops += route.stages.size();
  const double in_transit = std::isfinite(rate) ? rate * paths_.latency(t.path).in_seconds() : 0.0;
  return 2 * std::uint64_t{hops} * t.weight + static_cast<std::uint64_t>(std::ceil(in_transit / size_));
}

void ChunkModel::start(std::uint32_t id, PathId path, Bytes bytes, std::uint32_t weight, Bandwidth cap, Time now) {
  if (id >= transfers_.size()) transfers_.resize(std::max<std::size_t>(id + 1, transfers_.size() * 2));
  Transfer& t = transfers_[id];
  t.path = path;
  t.bytes = bytes.count();
  t.cap = cap.bytes_per_s();
  t.sequence = started_++;
  t.chunks = static_cast<std::uint64_t>(std::max(1.0, std::ceil(bytes.count() / size_)));
  t.entered = t.left = t.delivered = 0;
  t.next_entry = now;
  t.weight = weight;
  t.active = true;
  t.entry_pending = false;
  if (paths_.links(path).empty()) {
    queue_.push(end_time(now, t.bytes, t.cap), EventKind::model, 0, kEntryEvent | id);
    return;
  }
  t.by_route.assign(paths_.routes(path).size(), 0);
  const auto hops = paths_.links(path);
  t.lanes.assign(hops.size(), Lane{});
  for (std::size_t hop = 0; hop < hops.size(); ++hop) t.lanes[hop].quantum = size_ * weight * hops[hop].n / hops[hop].k;
  t.window = window_of(t);
  enter(id, now);
}

/// A transfer without links is limited by its cap alone; chunks would change nothing.
void ChunkModel::play_without_links(std::uint32_t id, Time now) {
  Transfer& t = transfers_[id];
  const Duration latency = paths_.latency(t.path);
  if (t.left == 0) {
    t.left = 1;
    completions_.push_back({id, false});
    if (latency > Duration{}) {
      queue_.push(now + latency, EventKind::model, 0, kEntryEvent | id);
      return;
    }
  }
  t.active = false;
  completions_.push_back({id, true});
}

/// The route whose share of the chunks, the next one included, is furthest from what it has got.
std::uint32_t ChunkModel::choose_route(const Transfer& t) const {
  const std::vector<Route>& routes = paths_.routes(t.path);
  std::uint32_t best = 0;
  double furthest = -std::numeric_limits<double>::infinity();
  const auto total = static_cast<double>(t.entered + 1);
  for (std::uint32_t r = 0; r < routes.size(); ++r) {
    const double behind = (total * routes[r].n - static_cast<double>(t.by_route[r]) * routes[r].k) / routes[r].k;
    if (behind > furthest) {
      furthest = behind;
      best = r;
    }
  }
  return best;
}

/// Lets chunks in, as many as window and cap allow.
void ChunkModel::enter(std::uint32_t id, Time now) {
  Transfer& t = transfers_[id];
  while (t.entered < t.chunks && t.entered - t.delivered < t.window) {
    if (t.cap > 0 && now < t.next_entry) {
      if (!t.entry_pending && t.next_entry < Time::never()) queue_.push(t.next_entry, EventKind::model, 0, kEntryEvent | id);
      t.entry_pending = true;
      return;
    }
    const bool last = t.entered + 1 == t.chunks;
    Chunk chunk;
    chunk.bytes = last ? t.bytes - static_cast<double>(t.chunks - 1) * size_ : size_;
    chunk.transfer = id;
    chunk.route = choose_route(t);
    ++t.by_route[chunk.route];
    ++t.entered;
    if (t.cap > 0) t.next_entry = end_time(now, chunk.bytes, t.cap);
    enter_stage(take_slot(chunks_, unused_chunks_, chunk), now);
  }
}

/// The chunk begins to wait for every link of its stage.
void ChunkModel::enter_stage(std::uint32_t id, Time now) {
  Chunk& chunk = chunks_[id];
  Transfer& t = transfers_[chunk.transfer];
  const std::vector<LinkId>& stage = paths_.routes(t.path)[chunk.route].stages[chunk.stage];
  SIM_ASSERT(!stage.empty(), "a stage of a route has links");
  chunk.open = static_cast<std::uint32_t>(stage.size());
  chunk.ready = now;
  const auto hops = paths_.links(t.path);
  for (const LinkId link : stage) {
    const auto hop =
        std::lower_bound(hops.begin(), hops.end(), link, [](const PathLink& h, LinkId l) { return h.link < l; });
    const auto place = static_cast<std::uint32_t>(hop - hops.begin());
    Lane& at = t.lanes[place];
    const std::uint32_t node = take_slot(nodes_, unused_nodes_, Node{id, kNone});
    if (at.first == kNone) {
      at.first = node;
    } else {
      nodes_[at.last].next = node;
    }
    at.last = node;
    if (!at.waiting) {
      at.waiting = true;
      joining_.push_back({index(link), t.sequence, {chunk.transfer, place}});
    }
  }
}

std::uint32_t ChunkModel::take_front(Lane& at) {
  const std::uint32_t node = at.first;
  at.first = nodes_[node].next;
  unused_nodes_.push_back(node);
  return nodes_[node].chunk;
}

void ChunkModel::list_free(std::uint32_t link) {
  if (links_[link].listed) return;
  links_[link].listed = true;
  free_links_.push_back(link);
}

/// Into the ring: last, or under fifo behind all that came to the link earlier.
void ChunkModel::join(std::uint32_t link, LaneRef ref) {
  LinkState& l = links_[link];
  Lane& at = lane(ref);
  at.next = LaneRef{};
  at.deficit = 0;
  if (at.came == 0) at.came = ++came_;
  if (l.head.transfer == kNone) {
    l.head = l.tail = ref;
  } else if (!fifo_ || lane(l.tail).came < at.came) {
    lane(l.tail).next = ref;
    l.tail = ref;
  } else if (at.came < lane(l.head).came) {
    at.next = l.head;
    l.head = ref;
  } else {
    LaneRef before = l.head;
    while (lane(lane(before).next).came < at.came) before = lane(before).next;
    at.next = lane(before).next;
    lane(before).next = ref;
  }
}

void ChunkModel::leave_ring(LinkState& l) {
  Lane& at = lane(l.head);
  l.head = at.next;
  if (l.head.transfer == kNone) l.tail = LaneRef{};
  at.waiting = false;
  at.next = LaneRef{};
  l.turn_open = false;
}

void ChunkModel::rotate(LinkState& l) {
  l.turn_open = false;
  const LaneRef first = l.head;
  Lane& at = lane(first);
  if (at.next.transfer == kNone) return;
  l.head = at.next;
  at.next = LaneRef{};
  lane(l.tail).next = first;
  l.tail = first;
}

/// Sums of thirds of a chunk may miss the whole by rounding.
bool ChunkModel::may_send(const Lane& at) const {
  return chunks_[nodes_[at.first].chunk].bytes <= at.deficit + 1e-9 * size_;
}

/// Turns the ring until its head may send.
void ChunkModel::find_turn(LinkState& l) {
  LaneRef first;  // of the lanes passed over
  while (true) {
    Lane& at = lane(l.head);
    if (!l.turn_open) {
      at.deficit += at.quantum;
      l.turn_open = true;
    }
    if (may_send(at)) return;
    if (first.transfer == kNone) first = l.head;
    rotate(l);
    if (l.head.transfer == first.transfer && l.head.hop == first.hop) skip_rounds(l);
  }
}

/// Nobody could send in a whole round: adds the quanta of all rounds but the last that will pass until somebody can.
void ChunkModel::skip_rounds(const LinkState& l) {
  double rounds = std::numeric_limits<double>::infinity();
  for (LaneRef ref = l.head; ref.transfer != kNone; ref = lane(ref).next) {
    const Lane& at = lane(ref);
    rounds = std::min(rounds, std::ceil((chunks_[nodes_[at.first].chunk].bytes - at.deficit - 1e-9 * size_) / at.quantum));
  }
  if (rounds <= 1) return;
  for (LaneRef ref = l.head; ref.transfer != kNone; ref = lane(ref).next)
    lane(ref).deficit += (rounds - 1) * lane(ref).quantum;
}

/// The link, if it is free and up, takes the next chunk of the ring.
void ChunkModel::serve_next(std::uint32_t link, Time now) {
  LinkState& l = links_[link];
  if (l.chunk != kNone || l.head.transfer == kNone || !(l.capacity > 0)) return;
  if (!fifo_) find_turn(l);
  Lane& at = lane(l.head);
  const std::uint32_t chunk = take_front(at);
  at.deficit -= chunks_[chunk].bytes;
  if (at.first == kNone) {
    leave_ring(l);
  } else if (!fifo_ && !may_send(at)) {
    rotate(l);
  }
  l.chunk = chunk;
  l.remaining = l.unrecorded = chunks_[chunk].bytes;
  l.since = now;
  if (l.freed == now) {
    l.remaining -= l.credit_ps * 1e-12 * l.capacity;
  }
  transmit(link, now);
}

/// Sets the end of the chunk in transmission from what remains of it now.
void ChunkModel::transmit(std::uint32_t link, Time now) {
  LinkState& l = links_[link];
  const Time end = end_time(now, l.remaining, l.capacity);
  l.credit_ps = 0;
  if (end == Time::never()) return;
  l.credit_ps = std::clamp(static_cast<double>((end - now).count_ps()) - l.remaining / l.capacity * 1e12, 0.0, 1.0);
  l.event = queue_.push(end, EventKind::model, 0, kLinkEvent | link);
}

/// Moves `since` of a busy link to now, and records what it has carried.
void ChunkModel::settle(std::uint32_t link, Time now) {
  LinkState& l = links_[link];
  if (l.chunk == kNone) return;
  if (l.capacity > 0 && now > l.since) {
    const double carried = std::min(l.unrecorded, l.capacity * (now - l.since).in_seconds());
    loads_.add_transmission(LinkId{link}, carried, l.since, now);
    l.unrecorded -= carried;
    l.remaining = std::max(0.0, l.remaining - l.capacity * (now - l.since).in_seconds());
  }
  l.since = now;
}

/// A link has sent its chunk.
void ChunkModel::sent(std::uint32_t link, Time now) {
  LinkState& l = links_[link];
  loads_.add_transmission(LinkId{link}, l.unrecorded, l.since, now);
  const std::uint32_t id = l.chunk;
  l.chunk = kNone;
  l.freed = now;
  list_free(link);
  Chunk& chunk = chunks_[id];
  chunk.ready = std::max(chunk.ready, now + l.latency);
  if (--chunk.open > 0) return;
  if (chunk.stage == 0) {
    Transfer& t = transfers_[chunk.transfer];
    if (++t.left == t.chunks) completions_.push_back({chunk.transfer, false});
  }
  if (chunk.ready > now) {
    queue_.push(chunk.ready, EventKind::model, 0, kChunkEvent | id);
  } else {
    deliver(id, now);
  }
}

/// The chunk has crossed its stage.
void ChunkModel::deliver(std::uint32_t id, Time now) {
  Chunk& chunk = chunks_[id];
  const std::uint32_t owner = chunk.transfer;
  Transfer& t = transfers_[owner];
  if (++chunk.stage < paths_.routes(t.path)[chunk.route].stages.size()) {
    enter_stage(id, now);
    return;
  }
  unused_chunks_.push_back(id);
  if (++t.delivered == t.chunks) {
    t.active = false;
    completions_.push_back({owner, true});
  } else {
    enter(owner, now);
  }
}

void ChunkModel::on_event(const Event& event, Time now) {
  const std::uint32_t id = event.payload & kPayload;
  switch (event.payload & ~kPayload) {
    case kLinkEvent:
      sent(id, now);
      return;
    case kChunkEvent:
      deliver(id, now);
      return;
    case kEntryEvent:
      if (paths_.links(transfers_[id].path).empty()) {
        play_without_links(id, now);
      } else {
        transfers_[id].entry_pending = false;
        enter(id, now);
      }
      return;
    default:
      SIM_ASSERT(false, "a chunk event names a link, a chunk or a transfer");
  }
}

void ChunkModel::solve(Time now) {
  std::ranges::sort(joining_, [](const Joining& a, const Joining& b) {
    return std::tie(a.link, a.sequence) < std::tie(b.link, b.sequence);
  });
  for (const Joining& j : joining_) {
    join(j.link, j.lane);
    list_free(j.link);
  }
  joining_.clear();
  for (const std::uint32_t link : free_links_) {
    links_[link].listed = false;
    serve_next(link, now);
  }
  free_links_.clear();
}

void ChunkModel::set_capacity(LinkId link, Bandwidth capacity, Time now) {
  LinkState& l = links_[index(link)];
  settle(index(link), now);
  loads_.set_capacity(link, capacity.bytes_per_s(), now);
  l.capacity = capacity.bytes_per_s();
  if (l.chunk != kNone) {
    queue_.cancel(l.event);
    transmit(index(link), now);
  }
  list_free(index(link));
  // The default window follows the capacities.
  for (std::uint32_t id = 0; id < transfers_.size(); ++id) {
    Transfer& t = transfers_[id];
    if (!t.active || paths_.links(t.path).empty()) continue;
    t.window = window_of(t);
    enter(id, now);
  }
}

void ChunkModel::begin_window(Time now) {
  for (std::uint32_t link = 0; link < links_.size(); ++link) settle(link, now);
  loads_.begin_window(now);
}

void ChunkModel::end_window(Time now) {
  for (std::uint32_t link = 0; link < links_.size(); ++link) settle(link, now);
  loads_.end_window(now);
}

}  // namespace traingraph::sim
