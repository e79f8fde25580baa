#include "workloads/collectives/closed_form.h"

#include <cmath>

#include "workloads/collectives/sources.h"

namespace traingraph::workloads {
namespace {

/// Seconds; the arguments are real numbers so that a formula reads as it is written.
class Formula {
 public:
  Formula(CollectiveKind kind, sim::Bytes bytes, const Port& port, const CollectiveOptions& options)
      : kind_{kind},
        options_{options},
        bytes_{bytes},
        wire_{bytes.count() / port.rate.bytes_per_s()},
        a_{port.overhead.in_seconds()},
        l_{port.latency.in_seconds()} {}

  [[nodiscard]] std::optional<double> operator()(Algorithm algorithm, std::uint32_t members) const {
    const double n = members;
    const double latency = a_ + l_;
    const double phases = kind_ == CollectiveKind::all_reduce ? 2 : 1;
    switch (algorithm) {
      case Algorithm::ring:
        return phases * (n - 1) * (latency + wire_ / n);
      case Algorithm::bidirectional_ring:
        return phases * (n - 1) * (latency + wire_ / (2 * n));
      case Algorithm::direct:
        if (kind_ == CollectiveKind::all_to_all_v) return std::nullopt;
        if (kind_ == CollectiveKind::send_recv) return latency + wire_;
        return phases * (latency + (n - 1) / n * wire_);
      case Algorithm::pairwise:
        return (n - 1) * (latency + wire_ / n);
      case Algorithm::halving_doubling:
        return phases * (detail::ceil_log2(members) * latency + (n - 1) / n * wire_);  // sum of 2^-i is 1 - 1/N
      case Algorithm::chain: {
        const double m = piece_count(bytes_, options_);
        if (options_.stop_and_wait) return (n - 2 + m) * (latency + wire_ / m);
        return (n - 1) * latency + (n - 2 + m) * wire_ / m + (m - 1) * a_;
      }
      case Algorithm::tree:
        return std::nullopt;
      case Algorithm::in_switch:
        return latency + wire_;
      case Algorithm::hierarchical: {
        const double g = options_.domain_size;
        const double domains = n / g;
        const double inner = g == 1                                ? 0
                             : options_.inner == Algorithm::direct ? latency + (g - 1) / g * wire_
                                                                   : (g - 1) * (latency + wire_ / g);
        return 2 * inner + 2 * (domains - 1) * (latency + wire_ / (g * domains));
      }
      case Algorithm::dissemination:
        return detail::ceil_log2(members) * latency;
    }
    return std::nullopt;
  }

 private:
  CollectiveKind kind_;
  const CollectiveOptions& options_;
  sim::Bytes bytes_;
  double wire_;  ///< S/B
  double a_;
  double l_;
};

}  // namespace

std::optional<sim::Duration> closed_form(CollectiveKind kind, Algorithm algorithm, std::uint32_t members, sim::Bytes bytes,
                                         const Port& port, const CollectiveOptions& options) {
  check_collective(kind, algorithm, members, bytes, options);
  if (members == 1) return sim::Duration{};
  const std::optional<double> seconds = Formula{kind, bytes, port, options}(algorithm, members);
  if (!seconds) return std::nullopt;
  return sim::Duration::seconds(*seconds);
}

std::string closed_form_text(CollectiveKind kind, Algorithm algorithm, const CollectiveOptions& options) {
  const bool twice = kind == CollectiveKind::all_reduce;
  switch (algorithm) {
    case Algorithm::ring:
      return twice ? "2(N-1)(L + S/(N B))" : "(N-1)(L + S/(N B))";
    case Algorithm::bidirectional_ring:
      return twice ? "2(N-1)(L + S/(2N B))" : "(N-1)(L + S/(2N B))";
    case Algorithm::direct:
      if (kind == CollectiveKind::all_to_all_v) return "";
      if (kind == CollectiveKind::send_recv) return "L + S/B";
      return twice ? "2(L + (N-1)/N S/B)" : "L + (N-1)/N S/B";
    case Algorithm::pairwise:
      return "(N-1)(L + S/(N B))";
    case Algorithm::halving_doubling:
      return twice ? "2(log2(N) L + (N-1)/N S/B)" : "log2(N) L + (N-1)/N S/B";
    case Algorithm::chain:
      return options.stop_and_wait ? "(N-2+m)(L + S/(m B))" : "(N-1) L + (N-2+m) S/(m B) + (m-1) a";
    case Algorithm::tree:
      return "";
    case Algorithm::in_switch:
      return "L + S/B";
    case Algorithm::hierarchical:
      return options.inner == Algorithm::direct ? "2(L + (g-1)/g S/B) + 2(n-1)(L + S/(N B))"
                                                : "2(g-1)(L + S/(g B)) + 2(n-1)(L + S/(N B))";
    case Algorithm::dissemination:
      return "ceil(log2 N) L";
  }
  return "";
}

}  // namespace traingraph::workloads
