// What `traingraph VERB --help` says beyond the list of options.
#pragma once

#include <string_view>

namespace traingraph::scenarios::cli {

inline constexpr std::string_view kUsage =
    "usage: traingraph run S.yaml [-o R.h5] | check S.yaml | bound S.yaml | plan S.yaml | limits [A.yaml]\n"
    "       traingraph sweep SWEEP.yaml [-o T.h5] | validate theory | topo list | topo show X\n"
    "       traingraph --version | --help";

inline constexpr std::string_view kMainHelp = R"(
Exit codes: 0 done; 1 a comparison failed; 2 the command line or the input is wrong (a deadlocked program included);
3 a defect of the program; 4 disk, permission or memory; 130 interrupted.
Quantities carry their unit, in scenarios and here: 400 Gb/s, 50 GB/s, 1.5 us, 80 GB, 80 GiB.
stdout carries the result, stderr the talk. Environment variables never change a result.
)";

inline constexpr std::string_view kRunHelp = R"(
S.yaml is a scenario: a cluster, a workload, and how to simulate it; '-' reads it from stdin. --set a.b=c replaces or adds one
value, is checked like the file, and may be repeated; the scenario that was really run is stored in the result file.
An output file appears whole under its name or not at all: data go to R.h5.part, which is renamed at the end. A file that exists
is refused before the run starts unless --force is given; a directory, a symbolic link or a device always is, and so is a name that
another run is writing to.
The progress line is shown on a terminal only, after half a second; the time left follows from the work done.
Examples:
  traingraph run scenarios/examples/gpt3_175b_1024_a100.yaml -o gpt3.h5
  traingraph run S.yaml --set workload.global_batch=3072 --format json > batch3072.json
)";

inline constexpr std::string_view kCheckHelp = R"(
Reads and checks S.yaml as `run` does, builds the cluster and the workload, and prints the effective scenario: every value, with the
place it came from (the file's line, a preset, --set, or a default), and how large the run would be. Nothing is simulated.
`traingraph check --schema` lists all keys.
)";

inline constexpr std::string_view kBoundHelp = R"(
Simulates no network. The lower bounds hold for every schedule on this very fabric: arithmetic, memory traffic, every link, switch and
cut, the longest chain of dependent work, the pipeline; the largest binds, and beside each stands how much faster it would have to
become before the next one binds. The step model of arXiv 2411.01137 stands below, at the scenario's layout, with its fabric seen as two
levels: what is to be expected rather than what cannot be beaten.
)";

inline constexpr std::string_view kLimitsHelp = R"(
The closed-form model of E. Erdil and D. Schneider-Joseph, "Data movement limits to frontier model training" (arXiv 2411.01137):
for every training compute the layout over the GPUs that finishes in time with the highest utilization, found exactly; where that
utilization falls below 80 % of what the GPU sustains (linear-scaling limit); and the largest run that can be finished at all
(latency wall). A.yaml holds assumptions that differ from the paper's; --set replaces one more. The ending of -o chooses the form
of the file: .h5, .svg, .json, .csv, .txt; stdout has the --format all the same.
Examples:
  traingraph limits --gpu all
  traingraph limits --gpu h100 --set batch_exponent=0.333 -o h100.svg
  traingraph limits --set 'gpu.network[1].bandwidth=100 GB/s' --sensitivity
Keys of A.yaml and of --set: type, default in brackets, meaning. [paper]: as in arXiv 2411.01137 and its published code; [ours]:
an addition, whose default leaves the paper's model as it is. Quantities carry their unit. Presets name the source of each number.
)";

inline constexpr std::string_view kPlanHelp = R"(
Searches every layout of the scenario's model on its cluster: TP, SP, CP, PP, virtual stages, EP, DP, ZeRO stage, micro-batch,
recomputation, schedule, order of ranks. What does not fit is rejected, with counts per reason. The rest is put in the order of a lower
bound of the step and simulated in that order, until no bound that is left beats the best simulated step: then the plan is proven. --top
and --budget stop earlier; then the plan says how much faster a layout may still be. Steps are whole cold ones (workload.steps: 1).
The scenario's own layout does not matter, unless --keep names a dimension; its other options (overlaps, bucket size, algorithms) are
used wherever they have an effect. Without a file, --model, --cluster and --hardware name presets; --set changes the rest.
Keep: tp, sequence_parallel, cp, pp, virtual_stages, ep, micro_batch, zero_stage, recompute, schedule, order.
--gpus 1024..65536 plans for 1,024 GPUs and every doubling up to 65,536; --tokens and --deadline say what a training would take.
Examples:
  traingraph plan scenarios/examples/llama3_8b_fsdp_32_h100.yaml --top 20
  traingraph plan --model llama3_70b --cluster rail_optimized --hardware h100_sxm --batch 1024 --gpus 256..2048 --top 0 \
      --tokens 15e12 --deadline 90d
)";

inline constexpr std::string_view kSweepHelp = R"(
SWEEP.yaml:
  scenario: base.yaml            # beside the sweep
  set: {workload.steps: 1}       # for all points
  grid:                          # every combination, the last key fastest
    workload.parallel.tp: [1, 2, 4, 8]
    cluster.nic.bandwidth: [200 Gb/s, 400 Gb/s]
  list:                          # and each of these with it
    - {workload.global_batch: 512, workload.micro_batch: 1}
    - {workload.global_batch: 1024, workload.micro_batch: 2}
One row a point: its values, the scalars of its result, or the error that keeps it from running. A killed sweep, started again with the
same -o, goes on where it was: finished points stand in FILE.journal until the table is complete. The table is the same, byte for byte,
whatever the threads and ranks. With MPI: mpirun -n 64 traingraph sweep S.yaml -o S.h5; rank 0 hands out the points, the others run them.
)";

inline constexpr std::string_view kValidateTheoryHelp = R"(
Random scenarios against their lower bounds, ideal cases against their formulas, and the step model of arXiv 2411.01137 against the
simulation of its own workload over a grid of layouts. Exit code 1 when a bound or a formula is missed. Half a minute, and
seconds with --smoke.
)";

inline constexpr std::string_view kTopoShowHelp = R"(
X is the name of a cluster preset (`traingraph topo list`) or a scenario file. Prints devices and links by kind and tier, bisection
bandwidth, oversubscription and diameter. --format dot or svg draws; -o writes the same to a file, whose ending (.dot, .svg, .json)
chooses the form when --format does not.
)";

}  // namespace traingraph::scenarios::cli
