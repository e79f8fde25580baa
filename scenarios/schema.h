// The schema: every key of a scenario, as visitors' code (fields.h). One file per part: schema_cluster.cc,
// schema_hardware.cc, schema_workload.cc, schema.cc.
#pragma once

#include "scenarios/fields.h"
#include "scenarios/scenario.h"

namespace traingraph::scenarios {

void fields(Fields& f, Scenario& s);
void fields(Fields& f, topology::ClusterSpec& c);
void fields(Fields& f, topology::ScaleUp& s);
void fields(Fields& f, topology::ScaleOut& s);
void fields(Fields& f, topology::RoutingSpec& r);
void fields(Fields& f, workloads::HardwareSpec& h);
void fields(Fields& f, workloads::MatmulSpec& m);
void fields(Fields& f, workloads::SoftwareSpec& s);
void fields(Fields& f, workloads::ModelSpec& m);
void fields(Fields& f, workloads::WorkloadSpec& w);
void fields(Fields& f, sim::RunOptions& r);

}  // namespace traingraph::scenarios
