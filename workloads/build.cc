#include "workloads/build.h"

#include <variant>

#include "sim/error.h"
#include "workloads/collective_run.h"
#include "workloads/custom_program.h"
#include "workloads/linear_blocks.h"
#include "workloads/transformer.h"

namespace traingraph::workloads {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang 16 does not deduce it for aggregates

}  // namespace

Workload build(const WorkloadSpec& spec, const HardwareSpec& hardware, const Cluster& cluster) {
  if (spec.steps == 0) throw sim::InputError{"steps must be at least 1"};
  return std::visit(Overloaded{
                        [&](const TransformerSpec& job) { return build_transformer(job, spec, hardware, cluster); },
                        [&](const LinearBlocksSpec& job) { return build_linear_blocks(job, spec, hardware, cluster); },
                        [&](const CollectiveRunSpec& job) { return build_collective_run(job, spec, cluster); },
                        [&](const CustomProgramSpec& job) { return build_custom_program(job, spec, cluster); },
                    },
                    spec.job);
}

}  // namespace traingraph::workloads
