// Do the algorithms compute what they claim? The transfers are played with symbolic data: the buffer is cut into blocks, and
// of each block a member knows the set of members whose contributions are summed up in its copy (a bit mask). Which blocks a
// message carries is stated here, per algorithm, from the literature and not from the sources; a message must carry exactly
// the bytes of its blocks, a sum may count nobody twice, and at the end everyone must hold what the collective promises.
// Events happen in random orders.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <set>

#include "tests/workloads/collective_player.h"
#include "tests/workloads/double_tree.h"
#include "workloads/collectives/collectives.h"

namespace traingraph::workloads {
namespace {

struct Carried {
  std::vector<std::uint32_t> blocks;
  bool adds = false;  ///< the receiver adds the message to its copy; otherwise it replaces its copy with the finished block
};
using Meaning =
    std::function<Carried(std::uint32_t member, std::uint32_t lane, std::uint32_t number, const sim::Send& send)>;

class SymbolicRun {
 public:
  SymbolicRun(const sim::TransferSource& source, std::uint32_t blocks, double block_bytes, Meaning meaning)
      : source_{source},
        n_{source.members()},
        block_bytes_{block_bytes},
        meaning_{std::move(meaning)},
        held_(n_, std::vector<std::uint64_t>(blocks, 0)) {}

  std::uint64_t everyone() const { return (std::uint64_t{1} << n_) - 1; }
  std::uint64_t& held(std::uint32_t member, std::uint32_t block) { return held_[member][block]; }

  /// Every member starts with its own contribution to every block.
  void start_with_own_contributions() {
    for (std::uint32_t m = 0; m < n_; ++m) {
      for (std::uint64_t& mask : held_[m]) mask = std::uint64_t{1} << m;
    }
  }

  void play(std::uint32_t seed) {
    CollectivePlayer player{source_};
    CollectivePlayer::Hooks hooks;
    hooks.start = [&](std::uint32_t m, std::uint32_t lane, std::uint32_t number, const sim::Send& send) {
      const Carried carried = meaning_(m, lane, number, send);
      EXPECT_NEAR(send.bytes.count(), static_cast<double>(carried.blocks.size()) * block_bytes_, 1e-6);
      CollectivePlayer::Payload payload;
      for (const std::uint32_t block : carried.blocks) {
        EXPECT_NE(held_[m][block], 0U) << "member " << m << " sends block " << block << " before it has any of it";
        if (!carried.adds) {
          EXPECT_EQ(held_[m][block], everyone()) << "member " << m << " passes on block " << block << " unfinished";
        }
        payload.push_back(held_[m][block]);
      }
      return payload;
    };
    hooks.arrive = [&](std::uint32_t m, std::uint32_t lane, std::uint32_t number, const sim::Send& send,
                       const CollectivePlayer::Payload& payload) {
      const Carried carried = meaning_(m, lane, number, send);
      for (std::size_t i = 0; i < payload.size(); ++i) {
        std::uint64_t& mine = held_[send.destination][carried.blocks[i]];
        if (carried.adds) {
          EXPECT_EQ(mine & payload[i], 0U) << "a contribution is counted twice";
          mine |= payload[i];
        } else {
          mine = payload[i];
        }
      }
    };
    player.play(seed, hooks);
  }

  void expect_everyone_holds_everything() {
    for (std::uint32_t m = 0; m < n_; ++m) {
      for (std::size_t b = 0; b < held_[m].size(); ++b)
        EXPECT_EQ(held_[m][b], everyone()) << "member " << m << " block " << b;
    }
  }

  /// Every member holds one finished block (or `each` blocks), and no two members the same.
  void expect_finished_blocks_are_spread(std::size_t each) {
    std::set<std::size_t> seen;
    for (std::uint32_t m = 0; m < n_; ++m) {
      std::size_t finished = 0;
      for (std::size_t b = 0; b < held_[m].size(); ++b) {
        if (held_[m][b] != everyone()) continue;
        ++finished;
        EXPECT_TRUE(seen.insert(b).second) << "block " << b << " is finished at two members";
      }
      EXPECT_EQ(finished, each) << "member " << m;
    }
  }

 private:
  const sim::TransferSource& source_;
  std::uint32_t n_;
  double block_bytes_;
  Meaning meaning_;
  std::vector<std::vector<std::uint64_t>> held_;
};

constexpr double kBytes = 5040;  // divided by every size up to 10
constexpr std::uint32_t kSeeds = 4;

std::shared_ptr<const sim::TransferSource> make(CollectiveKind kind, Algorithm algorithm, std::uint32_t n,
                                                const CollectiveOptions& options = {}) {
  return make_source(kind, algorithm, n, sim::Bytes{kBytes}, options);
}

/// Block that member r of a ring of n passes on in step s: what it received one step earlier.
std::uint32_t ring_block(std::uint32_t r, std::uint32_t s, std::uint32_t n) { return (r + 2 * n - s % n) % n; }

Carried ring_all_reduce_step(std::uint32_t r, std::uint32_t s, std::uint32_t n) {
  if (s < n - 1) return {{ring_block(r, s, n)}, true};
  return {{ring_block(r + 1, s - (n - 1), n)}, false};
}

TEST(CollectiveData, RingReduceScatterLeavesOneSumWithEach) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const auto source = make(CollectiveKind::reduce_scatter, Algorithm::ring, n);
      SymbolicRun run{*source, n, kBytes / n, [n](auto m, auto, auto s, const auto&) {
                        return Carried{{ring_block(m, s, n)}, true};
                      }};
      run.start_with_own_contributions();
      run.play(seed);
      run.expect_finished_blocks_are_spread(1);
    }
  }
}

TEST(CollectiveData, RingAllGatherBringsEveryBlockToEveryone) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const auto source = make(CollectiveKind::all_gather, Algorithm::ring, n);
      SymbolicRun run{*source, n, kBytes / n, [n](auto m, auto, auto s, const auto&) {
                        return Carried{{ring_block(m, s, n)}, false};
                      }};
      for (std::uint32_t m = 0; m < n; ++m) run.held(m, m) = run.everyone();
      run.play(seed);
      run.expect_everyone_holds_everything();
    }
  }
}

TEST(CollectiveData, RingAllReduceSumsEveryBlockForEveryone) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const auto source = make(CollectiveKind::all_reduce, Algorithm::ring, n);
      SymbolicRun run{*source, n, kBytes / n,
                      [n](auto m, auto, auto s, const auto&) { return ring_all_reduce_step(m, s, n); }};
      run.start_with_own_contributions();
      run.play(seed);
      run.expect_everyone_holds_everything();
    }
  }
}

TEST(CollectiveData, BidirectionalRingAllReduceSumsBothHalves) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const auto source = make(CollectiveKind::all_reduce, Algorithm::bidirectional_ring, n);
      // The backward half is the same ring seen in a mirror: member m is number n-1-m there.
      const Meaning meaning = [n](auto m, auto lane, auto s, const auto&) {
        if (lane % 2 == 0) return ring_all_reduce_step(m, s, n);
        Carried carried = ring_all_reduce_step(n - 1 - m, s, n);
        carried.blocks.front() += n;
        return carried;
      };
      SymbolicRun run{*source, 2 * n, kBytes / (2 * n), meaning};
      run.start_with_own_contributions();
      run.play(seed);
      run.expect_everyone_holds_everything();
    }
  }
}

TEST(CollectiveData, DirectReduceScatterAllGatherAndAllReduce) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    const Meaning scatter = [](auto, auto, auto, const auto& send) { return Carried{{send.destination}, true}; };
    const Meaning gather = [](auto m, auto, auto, const auto&) { return Carried{{m}, false}; };
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const auto rs = make(CollectiveKind::reduce_scatter, Algorithm::direct, n);
      SymbolicRun scattered{*rs, n, kBytes / n, scatter};
      scattered.start_with_own_contributions();
      scattered.play(seed);
      scattered.expect_finished_blocks_are_spread(1);
      const auto ag = make(CollectiveKind::all_gather, Algorithm::direct, n);
      SymbolicRun gathered{*ag, n, kBytes / n, gather};
      for (std::uint32_t m = 0; m < n; ++m) gathered.held(m, m) = gathered.everyone();
      gathered.play(seed);
      gathered.expect_everyone_holds_everything();
      const auto ar = make(CollectiveKind::all_reduce, Algorithm::direct, n);
      SymbolicRun reduced{*ar, n, kBytes / n, [&](auto m, auto lane, auto s, const auto& send) {
                            return s == 0 ? scatter(m, lane, s, send) : gather(m, lane, s, send);
                          }};
      reduced.start_with_own_contributions();
      reduced.play(seed);
      reduced.expect_everyone_holds_everything();
    }
  }
}

/// The blocks that agree with `member` in the bits of `fixed`.
std::vector<std::uint32_t> agreeing(std::uint32_t member, std::uint32_t fixed, std::uint32_t n) {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t b = 0; b < n; ++b) {
    if ((b & fixed) == (member & fixed)) blocks.push_back(b);
  }
  return blocks;
}

TEST(CollectiveData, HalvingDoublingReduceScatterAllGatherAndAllReduce) {
  for (const std::uint32_t n : {2U, 4U, 8U}) {
    const auto k = static_cast<std::uint32_t>(std::countr_zero(n));
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      // Halving far first: in step s the partner gets the blocks that it, and not the sender, goes on with.
      const auto rs = make(CollectiveKind::reduce_scatter, Algorithm::halving_doubling, n);
      SymbolicRun scattered{*rs, n, kBytes / n, [=](auto, auto, auto s, const auto& send) {
                              const std::uint32_t fixed = n - (n >> (s + 1));  // the s+1 highest bits
                              return Carried{agreeing(send.destination, fixed, n), true};
                            }};
      scattered.start_with_own_contributions();
      scattered.play(seed);
      for (std::uint32_t m = 0; m < n; ++m) EXPECT_EQ(scattered.held(m, m), scattered.everyone());
      scattered.expect_finished_blocks_are_spread(1);
      // Doubling near first: after s steps a member holds the 2^s blocks of its aligned group.
      const auto ag = make(CollectiveKind::all_gather, Algorithm::halving_doubling, n);
      SymbolicRun gathered{*ag, n, kBytes / n, [=](auto m, auto, auto s, const auto&) {
                             return Carried{agreeing(m, (n - 1) & ~((1U << s) - 1), n), false};
                           }};
      for (std::uint32_t m = 0; m < n; ++m) gathered.held(m, m) = gathered.everyone();
      gathered.play(seed);
      gathered.expect_everyone_holds_everything();
      // Halving near first, then the way back.
      const auto ar = make(CollectiveKind::all_reduce, Algorithm::halving_doubling, n);
      SymbolicRun reduced{*ar, n, kBytes / n, [=](auto m, auto, auto s, const auto& send) {
                            if (s < k) return Carried{agreeing(send.destination, (2U << s) - 1, n), true};
                            return Carried{agreeing(m, (1U << (2 * k - s)) - 1, n), false};
                          }};
      reduced.start_with_own_contributions();
      reduced.play(seed);
      reduced.expect_everyone_holds_everything();
    }
  }
}

TEST(CollectiveData, ChainBroadcastAndReduce) {
  for (std::uint32_t n = 2; n <= 9; ++n) {
    for (std::uint32_t root = 0; root < n; ++root) {
      CollectiveOptions options;
      options.root = root;
      options.pieces = 4;
      const auto broadcast = make(CollectiveKind::broadcast, Algorithm::chain, n, options);
      SymbolicRun copied{*broadcast, 4, kBytes / 4, [](auto, auto, auto s, const auto&) { return Carried{{s}, false}; }};
      for (std::uint32_t piece = 0; piece < 4; ++piece) copied.held(root, piece) = copied.everyone();
      copied.play(root);
      copied.expect_everyone_holds_everything();
      const auto reduce = make(CollectiveKind::reduce, Algorithm::chain, n, options);
      SymbolicRun summed{*reduce, 4, kBytes / 4, [](auto, auto, auto s, const auto&) { return Carried{{s}, true}; }};
      summed.start_with_own_contributions();
      summed.play(root);
      for (std::uint32_t piece = 0; piece < 4; ++piece) EXPECT_EQ(summed.held(root, piece), summed.everyone());
    }
  }
}

TEST(CollectiveData, DoubleTreeAllReduceSumsBothHalvesPieceByPiece) {
  constexpr std::uint32_t kPieces = 3;
  for (std::uint32_t n = 2; n <= 9; ++n) {
    const DoubleTree trees{n};
    CollectiveOptions options;
    options.pieces = kPieces;
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const auto source = make(CollectiveKind::all_reduce, Algorithm::tree, n, options);
      const Meaning meaning = [&](auto m, auto lane, auto s, const auto& send) {
        const std::uint32_t tree = trees.tree_of_lane(m, lane - source->first_lane(m));
        const bool up = trees.parent[tree][m] == send.destination;
        EXPECT_TRUE(up || trees.parent[tree][send.destination] == m);
        return Carried{{tree * kPieces + s}, up};
      };
      SymbolicRun run{*source, 2 * kPieces, kBytes / (2 * kPieces), meaning};
      run.start_with_own_contributions();
      run.play(seed);
      run.expect_everyone_holds_everything();
    }
  }
}

TEST(CollectiveData, HierarchicalAllReduceByInnerRingAndDirect) {
  for (const std::uint32_t n : {4U, 6U, 8U, 9U}) {
    for (std::uint32_t g = 1; g <= n; ++g) {
      if (n % g != 0) continue;
      const std::uint32_t domains = n / g;
      for (const Algorithm inner : {Algorithm::ring, Algorithm::direct}) {
        CollectiveOptions options;
        options.domain_size = g;
        options.inner = inner;
        const auto source = make(CollectiveKind::all_reduce, Algorithm::hierarchical, n, options);
        // g chunks of `domains` blocks each.
        const auto chunk = [domains](std::uint32_t c, bool adds) {
          Carried carried{{}, adds};
          for (std::uint32_t b = 0; b < domains; ++b) carried.blocks.push_back(c * domains + b);
          return carried;
        };
        const std::uint32_t inner_lanes = g == 1 ? 0 : inner == Algorithm::ring ? 1 : g - 1;
        const Meaning meaning = [&](auto m, auto lane, auto s, const auto& send) {
          const std::uint32_t p = m % g;
          const std::uint32_t d = m / g;
          const std::uint32_t own =
              inner == Algorithm::ring ? (p + 1) % g : p;  // the chunk that p ends the first phase with
          const std::uint32_t j = lane - source->first_lane(m);
          if (j < inner_lanes) return chunk(inner == Algorithm::ring ? ring_block(p, s, g) : send.destination % g, true);
          if (domains > 1 && j == inner_lanes) {
            Carried carried = ring_all_reduce_step(d, s, domains);
            carried.blocks.front() += own * domains;
            return carried;
          }
          return chunk(inner == Algorithm::ring ? ring_block(own, s, g) : own, false);
        };
        for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
          SymbolicRun run{*source, n, kBytes / n, meaning};
          run.start_with_own_contributions();
          run.play(seed);
          run.expect_everyone_holds_everything();
        }
      }
    }
  }
}

// When its last message has arrived, every member has heard, directly or through others, that every other one is there.
TEST(CollectiveData, DisseminationBarrierTellsEveryoneOfEveryone) {
  for (std::uint32_t n = 2; n <= 17; ++n) {
    for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
      const auto source = make(CollectiveKind::barrier, Algorithm::dissemination, n);
      std::vector<std::uint64_t> heard_of(n);
      for (std::uint32_t m = 0; m < n; ++m) heard_of[m] = std::uint64_t{1} << m;
      CollectivePlayer player{*source};
      CollectivePlayer::Hooks hooks;
      hooks.start = [&](auto m, auto, auto, const auto& send) {
        EXPECT_EQ(send.bytes.count(), 0);
        return CollectivePlayer::Payload{heard_of[m]};
      };
      hooks.arrive = [&](auto, auto, auto, const auto& send, const auto& payload) {
        heard_of[send.destination] |= payload.front();
      };
      player.play(seed, hooks);
      for (std::uint32_t m = 0; m < n; ++m)
        EXPECT_EQ(heard_of[m], (std::uint64_t{1} << n) - 1) << "member " << m << " of " << n;
    }
  }
}

}  // namespace
}  // namespace traingraph::workloads
