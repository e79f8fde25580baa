#include "workloads/workload.h"

namespace traingraph::workloads {

std::vector<std::string> category_names() {
  return {"compute", "memory_bound", "exposed_tp", "exposed_cp", "exposed_ep",
          "bubble",  "wait",         "exposed_dp", "optimizer",  "idle"};
}

}  // namespace traingraph::workloads
