// The verbs, one file each. They write the result to stdout or a file and throw what goes wrong; main.cc makes exit codes of
// it.
#pragma once

#include "scenarios/cli/options.h"

namespace traingraph::scenarios::cli {

void run(const Options& options);
void check(const Options& options);
void bound(const Options& options);
void limits(const Options& options);
void plan(const Options& options);
void sweep(const Options& options);
void validate_theory(const Options& options);
void topo_list(const Options& options);
void topo_show(const Options& options);
void import_cluster(const Options& options);
void collective(const Options& options);
void compare(const Options& options);
void serve(const Options& options);
void report(const Options& options);

}  // namespace traingraph::scenarios::cli
