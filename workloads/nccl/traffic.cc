#include "workloads/nccl/traffic.h"

#include <algorithm>
#include <bit>
#include <map>

#include "sim/error.h"

namespace traingraph::workloads {
namespace {

class Writer {
 public:
  Writer(const NcclGroups& groups, double bytes) : groups_{groups}, bytes_{bytes} {
    nodes_ = static_cast<std::uint32_t>(groups.nodes.size());
    per_node_ = static_cast<std::uint32_t>(groups.nodes.front().size());
    ranks_ = nodes_ * per_node_;
    rows_.resize(ranks_);
  }

  void send(std::uint32_t from, std::uint32_t to, double bytes) {
    if (from != to && bytes > 0) rows_[from][to] += bytes;
  }

  /// `bytes` out of and into every GPU, inside its node.
  void inside(double bytes) {
    if (per_node_ < 2) return;
    for (const auto& node : groups_.nodes) {
      for (std::uint32_t i = 0; i < per_node_; ++i) {
        if (!groups_.full_mesh) {
          send(node[i], node[(i + 1) % per_node_], bytes);
          continue;
        }
        for (std::uint32_t j = 0; j < per_node_; ++j) send(node[i], node[j], bytes / (per_node_ - 1));
      }
    }
  }

  void ring(double factor) {
    inside(factor * bytes_);
    if (nodes_ < 2) return;
    for (std::uint32_t k = 0; k < nodes_; ++k) {
      for (std::uint32_t r = 0; r < per_node_; ++r) {
        send(groups_.nodes[k][r], groups_.nodes[(k + 1) % nodes_][r], factor * bytes_ / per_node_);
      }
    }
  }

  /// Up and down the chain of a node: the reduction one way, the result the other.
  void chains() {
    if (per_node_ < 2) return;
    const double each = bytes_ * (per_node_ - 1) / per_node_;
    if (groups_.full_mesh) return inside(2 * each);
    for (const auto& node : groups_.nodes) {
      for (std::uint32_t i = 0; i < per_node_; ++i) {
        send(node[i], node[(i + 1) % per_node_], each);
        send(node[(i + 1) % per_node_], node[i], each);
      }
    }
  }

  /// Double binary tree between nodes, on every rail (Sanders, Speck, Traff 2009, as NCCL numbers it).
  void trees() {
    const double half = bytes_ / per_node_ / 2;
    for (std::uint32_t k = 1; k < nodes_; ++k) {
      const std::uint32_t up = parent(k);
      join(k, up, half);
      const auto other = [&](std::uint32_t i) { return nodes_ % 2 == 0 ? nodes_ - 1 - i : (i + 1) % nodes_; };
      join(other(k), other(up), half);
    }
  }

  void pat() {
    for (std::uint32_t step = 1; step < ranks_; step *= 2) {
      const double shares = std::min(step, ranks_ - step);
      for (std::uint32_t r = 0; r < ranks_; ++r) send(r, (r + step) % ranks_, bytes_ / ranks_ * shares);
    }
  }

  void every_pair() {
    for (std::uint32_t a = 0; a < ranks_; ++a) {
      for (std::uint32_t b = 0; b < ranks_; ++b) send(a, b, bytes_ / ranks_);
    }
  }

  void star(bool to_root) {
    for (std::uint32_t r = 1; r < ranks_; ++r) send(to_root ? r : 0, to_root ? 0 : r, bytes_ / ranks_);
  }

  void successors() {
    for (std::uint32_t r = 0; r < ranks_; ++r) send(r, (r + 1) % ranks_, bytes_);
  }

  [[nodiscard]] double ranks() const { return ranks_; }

  [[nodiscard]] BytesMatrix matrix() const {
    BytesMatrix m(ranks_);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (const auto& [to, bytes] : rows_[r]) m[r].push_back({to, sim::Bytes{bytes}});
    }
    return m;
  }

 private:
  [[nodiscard]] std::uint32_t parent(std::uint32_t k) const {
    const std::uint32_t bit = k & (~k + 1);
    const std::uint32_t up = (k ^ bit) | (bit << 1U);
    return up < nodes_ ? up : k ^ bit;
  }

  void join(std::uint32_t a, std::uint32_t b, double bytes) {
    for (std::uint32_t r = 0; r < per_node_; ++r) {
      send(groups_.nodes[a][r], groups_.nodes[b][r], bytes);
      send(groups_.nodes[b][r], groups_.nodes[a][r], bytes);
    }
  }

  const NcclGroups& groups_;
  double bytes_;
  std::uint32_t nodes_ = 0, per_node_ = 0, ranks_ = 0;
  std::vector<std::map<std::uint32_t, double>> rows_;
};

double ring_factor(CollectiveKind kind, double n) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return (n - 1) / n;
    default:
      return 1;
  }
}

void point_to_point(CollectiveKind kind, Writer& w) {
  switch (kind) {
    case CollectiveKind::all_to_all:
      return w.every_pair();
    case CollectiveKind::send_recv:
      return w.successors();
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return w.star(kind == CollectiveKind::gather);
    default:
      throw sim::InputError{"this collective has no point-to-point form"};
  }
}

}  // namespace

BytesMatrix nccl_traffic(CollectiveKind kind, std::optional<NcclAlgorithm> algorithm, const NcclGroups& groups,
                         double bytes) {
  Writer w{groups, bytes};
  if (!algorithm) {
    point_to_point(kind, w);
    return w.matrix();
  }
  const double share = kind == CollectiveKind::all_reduce ? 1 : (w.ranks() - 1) / w.ranks();
  switch (*algorithm) {
    case NcclAlgorithm::ring:
      w.ring(ring_factor(kind, w.ranks()));
      break;
    case NcclAlgorithm::tree:
      w.chains();
      w.trees();
      break;
    case NcclAlgorithm::nvls:
      w.inside(share * bytes);
      break;
    case NcclAlgorithm::nvls_tree:
      w.inside(share * bytes);
      w.trees();
      break;
    case NcclAlgorithm::pat:
      w.pat();
      break;
  }
  return w.matrix();
}

}  // namespace traingraph::workloads
