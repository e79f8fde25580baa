// The queue of pending events: a Boost d-ary heap (arity 4, immutable) with lazy cancellation.
//
// Order: (time, kind, place), where place is the acting task's place in its rank's program. Events that agree in all three
// commute by construction of the engine, so neither ids nor addresses nor the order of insertion decide anything.
// Handles are always safe: {slot, generation}. cancel() of an event that has fired or was cancelled returns false.
// Cost: push and pop O(log n); cancel O(1), its entry is dropped when it reaches the top. Not thread-safe.
#pragma once

#include <boost/heap/d_ary_heap.hpp>
#include <cstdint>
#include <vector>

#include "sim/units.h"

namespace traingraph::sim {

/// Kinds of one instant, in the order in which they are handled.
enum class EventKind : std::uint8_t {
  link_change,     ///< payload: index of the change
  model,           ///< the network model's own: a transfer's end, a chunk's end
  arrival,         ///< payload: transfer
  compute_end,     ///< payload: rank stream
  collective_end,  ///< payload: instance
  transfer_begin,  ///< payload: transfer, its overhead is over
};

struct EventHandle {
  std::uint32_t slot = 0xffffffff;
  std::uint32_t generation = 0;
};

struct Event {
  Time time;
  std::uint64_t order = 0;  ///< kind << 56 | place
  std::uint32_t payload = 0;
  std::uint32_t slot = 0;

  [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(order >> 56); }
};

class EventQueue {
 public:
  EventHandle push(Time time, EventKind kind, std::uint32_t place, std::uint32_t payload) {
    std::uint32_t slot;
    if (free_ != kNone) {
      slot = free_;
      free_ = slots_[slot].next_free;
    } else {
      slot = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back({});
    }
    slots_[slot].live = true;
    heap_.push(Event{time, static_cast<std::uint64_t>(kind) << 56 | place, payload, slot});
    return {slot, slots_[slot].generation};
  }

  /// True if the event was pending and will now not fire.
  bool cancel(EventHandle handle) {
    if (!pending(handle)) return false;
    slots_[handle.slot].live = false;
    ++slots_[handle.slot].generation;
    return true;
  }

  [[nodiscard]] bool pending(EventHandle handle) const {
    return handle.slot < slots_.size() && slots_[handle.slot].live && slots_[handle.slot].generation == handle.generation;
  }

  [[nodiscard]] bool empty() {
    drop_cancelled();
    return heap_.empty();
  }

  /// REQUIRES: !empty().
  [[nodiscard]] Time next_time() {
    drop_cancelled();
    return heap_.top().time;
  }

  /// Takes the first event. REQUIRES: !empty().
  Event pop() {
    drop_cancelled();
    const Event event = heap_.top();
    heap_.pop();
    slots_[event.slot].live = false;
    ++slots_[event.slot].generation;
    release(event.slot);
    return event;
  }

  void reserve(std::size_t n) {
    heap_.reserve(n);
    slots_.reserve(n);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Slot {
    std::uint32_t generation = 0;
    std::uint32_t next_free = kNone;
    bool live = false;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return a.time != b.time ? a.time > b.time : a.order > b.order; }
  };

  void drop_cancelled() {
    while (!heap_.empty() && !slots_[heap_.top().slot].live) {
      const std::uint32_t slot = heap_.top().slot;
      heap_.pop();
      release(slot);
    }
  }
  void release(std::uint32_t slot) {
    slots_[slot].next_free = free_;
    free_ = slot;
  }

  boost::heap::d_ary_heap<Event, boost::heap::arity<4>, boost::heap::compare<Later>> heap_;
  std::vector<Slot> slots_;
  std::uint32_t free_ = kNone;
};

}  // namespace traingraph::sim
