// Small collective algorithms, written for the engine's tests apart from workloads/collectives.
//
//   Ring       every member sends `rounds` pieces to its successor, piece s once s pieces have arrived from its predecessor
//   Direct     every member sends one piece to every other, all at once
//   Chain      member 0 sends m pieces along 0, 1, .. N-1; each is forwarded on arrival
//   Doubling   N = 2^k: in round i every member exchanges S/2^(i+1) with the member whose index differs in bit i (unlike
//   edges) InSwitch   one transfer from all to all
#pragma once

#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "sim/transfer_source.h"

namespace traingraph::sim::tests {

/// Sources with one lane and one inbox per member.
class OneLane : public TransferSource {
 public:
  explicit OneLane(std::uint32_t members) : members_{members} {}
  [[nodiscard]] std::uint32_t members() const override { return members_; }
  [[nodiscard]] std::uint32_t lanes() const override { return members_; }
  [[nodiscard]] std::uint32_t inboxes() const override { return members_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member; }

 private:
  std::uint32_t members_;
};

class Ring final : public OneLane {
 public:
  Ring(std::uint32_t members, std::uint32_t rounds, Bytes piece, bool stop_and_wait = false)
      : OneLane{members}, rounds_{members > 1 ? rounds : 0}, piece_{piece}, stop_and_wait_{stop_and_wait} {}
  [[nodiscard]] std::string algorithm() const override { return "ring"; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return rounds_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return rounds_; }
  [[nodiscard]] Send send(std::uint32_t lane, std::uint32_t) const override {
    const std::uint32_t next = (lane + 1) % members();
    return {next, next, piece_, false};
  }
  [[nodiscard]] Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    Needs needs;
    if (number > 0) needs.add(lane, number);
    return needs;
  }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
  [[nodiscard]] bool stop_and_wait() const override { return stop_and_wait_; }

 private:
  std::uint32_t rounds_;
  Bytes piece_;
  bool stop_and_wait_;
};

/// All-reduce of S bytes by a ring: 2(N-1) pieces of S/N.
[[nodiscard]] inline auto ring_all_reduce(Bytes bytes, bool stop_and_wait = false) {
  return [=](std::uint32_t members) {
    return std::make_shared<Ring>(members, 2 * (members - 1), bytes / members, stop_and_wait);
  };
}

class Direct final : public TransferSource {
 public:
  Direct(std::uint32_t members, Bytes piece) : members_{members}, piece_{piece} {}
  [[nodiscard]] std::string algorithm() const override { return "direct"; }
  [[nodiscard]] std::uint32_t members() const override { return members_; }
  [[nodiscard]] std::uint32_t lanes() const override { return members_ * (members_ - 1); }
  [[nodiscard]] std::uint32_t inboxes() const override { return members_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member * (members_ - 1); }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return members_ - 1; }
  [[nodiscard]] Send send(std::uint32_t lane, std::uint32_t) const override {
    const std::uint32_t from = lane / (members_ - 1);
    const std::uint32_t to = (from + 1 + lane % (members_ - 1)) % members_;
    return {to, to, piece_, false};
  }
  [[nodiscard]] Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }

 private:
  std::uint32_t members_;
  Bytes piece_;
};

[[nodiscard]] inline auto direct_all_to_all(Bytes bytes) {
  return [=](std::uint32_t members) { return std::make_shared<Direct>(members, bytes / members); };
}

class Chain final : public OneLane {
 public:
  Chain(std::uint32_t members, std::uint32_t pieces, Bytes bytes)
      : OneLane{members}, pieces_{pieces}, piece_{bytes / pieces} {}
  [[nodiscard]] std::string algorithm() const override { return "chain"; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t lane) const override { return lane + 1 < members() ? pieces_ : 0; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t inbox) const override { return inbox > 0 ? pieces_ : 0; }
  [[nodiscard]] Send send(std::uint32_t lane, std::uint32_t) const override { return {lane + 1, lane + 1, piece_, false}; }
  [[nodiscard]] Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    Needs needs;
    if (lane > 0) needs.add(lane, number + 1);
    return needs;
  }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }

 private:
  std::uint32_t pieces_;
  Bytes piece_;
};

[[nodiscard]] inline auto chain_broadcast(Bytes bytes, std::uint32_t pieces) {
  return [=](std::uint32_t members) { return std::make_shared<Chain>(members, pieces, bytes); };
}

class Doubling final : public OneLane {
 public:
  Doubling(std::uint32_t members, Bytes bytes)
      : OneLane{members}, rounds_{static_cast<std::uint32_t>(std::bit_width(members) - 1)}, bytes_{bytes} {}
  [[nodiscard]] std::string algorithm() const override { return "doubling"; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return rounds_; }
  [[nodiscard]] std::uint32_t inboxes() const override { return members() * rounds_; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member * rounds_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 1; }
  [[nodiscard]] Send send(std::uint32_t lane, std::uint32_t number) const override {
    const std::uint32_t partner = lane ^ (1U << number);
    return {partner, partner * rounds_ + number, bytes_ / static_cast<double>(2U << number), false};
  }
  [[nodiscard]] Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    Needs needs;
    if (number > 0) needs.add(lane * rounds_ + number - 1, 1);
    return needs;
  }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return rounds_ < 2; }

 private:
  std::uint32_t rounds_;
  Bytes bytes_;
};

class InSwitch final : public TransferSource {
 public:
  InSwitch(std::uint32_t members, Bytes bytes) : members_{members}, bytes_{bytes} {}
  [[nodiscard]] std::string algorithm() const override { return "in-switch"; }
  [[nodiscard]] std::uint32_t members() const override { return members_; }
  [[nodiscard]] std::uint32_t lanes() const override { return 1; }
  [[nodiscard]] std::uint32_t inboxes() const override { return members_; }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return member == 0 ? 0 : 1; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return member; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return 1; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return 1; }
  [[nodiscard]] Send send(std::uint32_t, std::uint32_t) const override { return {0, 0, bytes_, true}; }
  [[nodiscard]] Needs needs(std::uint32_t, std::uint32_t) const override { return {}; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
  [[nodiscard]] bool starts_together() const override { return true; }

 private:
  std::uint32_t members_;
  Bytes bytes_;
};

}  // namespace traingraph::sim::tests
