// Double binary tree all-reduce: two binary trees over the members, so made that (for even N) an inner node of one is a leaf
// of the other; each reduces half of the buffer to its root and broadcasts it back down, cut into m pieces that follow one
// another through the tree. Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 2009; the trees are shaped and rooted as in NCCL: member 0 above the in-order tree of 1..N-1,
// and the second tree the mirror image (N even) or the first shifted by one (N odd).
//
// One lane per tree edge and direction; one inbox per edge end, because piece p goes up only when *both* children's
// piece p is there. Tables of O(N), built once.
#include <array>
#include <vector>

#include "sim/error.h"
#include "workloads/collectives/sources.h"

namespace traingraph::workloads::detail {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

/// A member's place in one tree, and its inboxes there.
struct Node {
  std::uint32_t parent = kNone;
  std::array<std::uint32_t, 2> child{kNone, kNone};
  std::uint32_t from_parent = kNone;
  std::array<std::uint32_t, 2> from_child{kNone, kNone};

  [[nodiscard]] std::uint32_t slot_of(std::uint32_t member) const { return child[0] == member ? 0 : 1; }
};

/// Parent in the first tree: the lowest set bit b of r says how high r stands; its parent is the neighbour at distance b
/// with the next bit set, or, past the end, the one below.
std::uint32_t in_order_parent(std::uint32_t r, std::uint32_t n) {
  if (r == 0) return kNone;
  const std::uint32_t b = r & (~r + 1);
  if ((r & (2 * b)) != 0) return r - b;
  return r + b < n ? r + b : r - b;
}

std::vector<Node> build_tree(std::uint32_t n, bool second) {
  const auto relabel = [n, second](std::uint32_t r) {
    if (!second) return r;
    return n % 2 == 0 ? n - 1 - r : (r + 1) % n;
  };
  std::vector<Node> nodes(n);
  for (std::uint32_t r = 1; r < n; ++r) {
    const std::uint32_t parent = relabel(in_order_parent(r, n));
    nodes[relabel(r)].parent = parent;
    std::array<std::uint32_t, 2>& child = nodes[parent].child;
    SIM_ASSERT(child[1] == kNone, "a binary tree's node has at most two children");
    child[child[0] == kNone ? 0 : 1] = relabel(r);
  }
  return nodes;
}

struct Lane {
  std::uint32_t destination = 0;
  std::uint32_t inbox = 0;
  std::array<std::uint32_t, 2> need{kNone, kNone};  ///< inboxes that must hold this piece
};

class DoubleTree final : public Source {
 public:
  DoubleTree(const SourceBasics& basics, std::uint32_t pieces, sim::Bytes piece)
      : Source{basics}, pieces_{pieces}, piece_{piece}, first_lane_{0}, first_inbox_{0} {
    const std::uint32_t n = basics.members;
    std::array<std::vector<Node>, 2> trees{build_tree(n, false), build_tree(n, true)};
    number_inboxes(trees, n);
    lanes_.reserve(4 * (static_cast<std::size_t>(n) - 1));
    for (std::uint32_t m = 0; m < n; ++m) {
      for (const std::vector<Node>& tree : trees) add_lanes(tree, m);
      first_lane_.push_back(static_cast<std::uint32_t>(lanes_.size()));
    }
  }

  [[nodiscard]] std::uint32_t lanes() const override { return static_cast<std::uint32_t>(lanes_.size()); }
  [[nodiscard]] std::uint32_t inboxes() const override { return first_inbox_.back(); }
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t member) const override { return first_lane_[member]; }
  [[nodiscard]] std::uint32_t first_inbox(std::uint32_t member) const override { return first_inbox_[member]; }
  [[nodiscard]] std::uint32_t sends(std::uint32_t) const override { return pieces_; }
  [[nodiscard]] std::uint32_t expected(std::uint32_t) const override { return pieces_; }
  [[nodiscard]] bool uniform(std::uint32_t) const override { return true; }
  [[nodiscard]] sim::Send send(std::uint32_t lane, std::uint32_t) const override {
    return {.destination = lanes_[lane].destination, .inbox = lanes_[lane].inbox, .bytes = piece_};
  }
  [[nodiscard]] sim::Needs needs(std::uint32_t lane, std::uint32_t number) const override {
    sim::Needs needs;
    for (const std::uint32_t inbox : lanes_[lane].need) {
      if (inbox != kNone) needs.add(inbox, number + 1);
    }
    return needs;
  }

 private:
  void number_inboxes(std::array<std::vector<Node>, 2>& trees, std::uint32_t n) {
    std::uint32_t next = 0;
    for (std::uint32_t m = 0; m < n; ++m) {
      for (std::vector<Node>& tree : trees) {
        Node& node = tree[m];
        if (node.parent != kNone) node.from_parent = next++;
        for (std::size_t c = 0; c < 2; ++c) {
          if (node.child[c] != kNone) node.from_child[c] = next++;
        }
      }
      first_inbox_.push_back(next);
    }
  }

  void add_lanes(const std::vector<Node>& tree, std::uint32_t m) {
    const Node& node = tree[m];
    const bool root = node.parent == kNone;
    if (!root) {
      const Node& parent = tree[node.parent];
      lanes_.push_back({node.parent, parent.from_child[parent.slot_of(m)], node.from_child});
    }
    for (const std::uint32_t child : node.child) {
      if (child == kNone) continue;
      // The root turns a piece around once its children have sent it up; the others wait for their parent.
      Lane down{child, tree[child].from_parent, {node.from_parent, kNone}};
      if (root) down.need = node.from_child;
      lanes_.push_back(down);
    }
  }

  std::uint32_t pieces_;
  sim::Bytes piece_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> first_lane_;
  std::vector<std::uint32_t> first_inbox_;
};

}  // namespace

SourcePointer make_tree(const SourceBasics& basics, sim::Bytes bytes, std::uint32_t pieces) {
  return std::make_shared<DoubleTree>(basics, pieces, bytes / (2.0 * static_cast<double>(pieces)));
}

}  // namespace traingraph::workloads::detail
