// TransferSource: a collective algorithm as the engine sees it, and the seam behind which workloads/collectives lives.
//
// A source describes one collective among `members()` members as *lanes*. A lane belongs to its sending member and sends its
// `sends(lane)` transfers one after the other. Every transfer adds 1 to one *inbox* (a counter of arrivals) of its
// destination member. Send number s of a lane may start when
//   (0) its member has entered the collective,
//   (i) the arrivals that it forwards are there: every Need {inbox, count} of needs(lane, s) holds, and
//   (ii) the lane's own send s-1 has left the wire (default) or has arrived at its receiver (stop_and_wait()).
// A member has finished when all sends of its lanes have left the wire and all its inboxes hold expected(inbox) arrivals.
// A source is immutable and shared by all running instances: state lives in the engine, O(lanes + inboxes) per instance.
//
// Lanes of one member are contiguous, likewise inboxes; lane 0..lanes()-1 in order of member.
//
// An in-switch reduction is one lane of member 0 whose only send has `to_all` set: its path is
// Router::route_in_switch(all members), it needs every member's entry, and its arrival counts in inbox i of each member i.
#pragma once

#include <cstdint>
#include <string>

#include "sim/units.h"

namespace traingraph::sim {

/// The most conditions that one send may have (a tree's root of two children needs two).
inline constexpr std::uint32_t kMaxNeeds = 3;

struct Need {
  std::uint32_t inbox = 0;
  std::uint32_t count = 0;
};

struct Needs {
  Need need[kMaxNeeds];
  std::uint32_t size = 0;
  void add(std::uint32_t inbox, std::uint32_t count) { need[size++] = Need{inbox, count}; }
};

struct Send {
  std::uint32_t destination = 0;  ///< member index
  std::uint32_t inbox = 0;        ///< global inbox index, one of the destination's
  Bytes bytes;
  bool to_all = false;  ///< in-switch: one transfer from all to all
};

class TransferSource {
 public:
  TransferSource() = default;
  TransferSource(const TransferSource&) = delete;
  TransferSource& operator=(const TransferSource&) = delete;
  virtual ~TransferSource() = default;

  [[nodiscard]] virtual std::string algorithm() const = 0;  ///< "ring", "direct", ... for people
  [[nodiscard]] virtual std::uint32_t members() const = 0;
  [[nodiscard]] virtual std::uint32_t lanes() const = 0;
  [[nodiscard]] virtual std::uint32_t inboxes() const = 0;
  [[nodiscard]] virtual std::uint32_t first_lane(std::uint32_t member) const = 0;  ///< member may equal members(): lanes()
  [[nodiscard]] virtual std::uint32_t first_inbox(
      std::uint32_t member) const = 0;  ///< member may equal members(): inboxes()
  [[nodiscard]] virtual std::uint32_t sends(std::uint32_t lane) const = 0;
  [[nodiscard]] virtual std::uint32_t expected(std::uint32_t inbox) const = 0;
  [[nodiscard]] virtual Send send(std::uint32_t lane, std::uint32_t number) const = 0;
  [[nodiscard]] virtual Needs needs(std::uint32_t lane, std::uint32_t number) const = 0;
  /// True when every send of the lane has the same destination and size: bulk mode then needs no walk over the sends.
  [[nodiscard]] virtual bool uniform(std::uint32_t lane) const = 0;
  [[nodiscard]] virtual bool stop_and_wait() const { return false; }
  /// True when each member waits for every member's entry before anything moves (in-switch reduction).
  [[nodiscard]] virtual bool starts_together() const { return false; }
};

}  // namespace traingraph::sim
