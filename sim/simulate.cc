#include "sim/simulate.h"

#include "sim/chunk_model.h"
#include "sim/engine.h"
#include "sim/flow_model.h"
#include "sim/ideal_model.h"

namespace traingraph::sim {

Record simulate(const LinkTable& links, const Router& router, const Program& program, const RunOptions& options,
                TraceSink* trace) {
  switch (options.network) {
    case NetworkModel::flow:
      return Engine<FlowModel>{links, router, program, options, trace}.run();
    case NetworkModel::ideal:
      return Engine<IdealModel>{links, router, program, options, trace}.run();
    case NetworkModel::chunk:
      return Engine<ChunkModel>{links, router, program, options, trace}.run();
  }
  throw InternalError{"unknown network model"};
}

}  // namespace traingraph::sim
