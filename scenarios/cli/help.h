// What `traingraph VERB --help` says beyond the list of options.
#pragma once

#include <string_view>

namespace traingraph::scenarios::cli {

inline constexpr std::string_view kUsage =
    "usage: traingraph run S.yaml [-o R.h5] | check S.yaml | bound S.yaml | plan S.yaml | limits [A.yaml]\n"
    "       traingraph sweep SWEEP.yaml [-o T.h5] | validate theory | topo list | topo show X\n"
    "       traingraph import KIND FILE... [-o cluster.yaml] | collective OP CLUSTER | compare CLUSTER LOG...\n"
    "       traingraph serve [--port N] | report R.h5 [-o R.html]\n"
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
X is the name of a cluster preset (`traingraph topo list`), a scenario file, or a cluster that `traingraph import` wrote. Prints devices and links by kind and tier, bisection
bandwidth, oversubscription and diameter. --format dot or svg draws; -o writes the same to a file, whose ending (.dot, .svg, .json)
chooses the form when --format does not.
)";

inline constexpr std::string_view kImportHelp = R"(
KIND is auto, which looks at the files, or one of
  nccl_xml       an NCCL or RCCL topology (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): PCIe, sockets, NVLink, xGMI, NICs of one node
  ibnetdiscover  output of ibnetdiscover            iblinkinfo  output of iblinkinfo
  slurm          topology.conf or topology.yaml     nvidia_smi  the matrix of `nvidia-smi topo -m`
  infragraph     InfraGraph YAML, several files     astra_sim   ASTRA-sim's network YAML, and its system JSON
  ns3            ns-3 topology of SimAI, ASTRA-sim  htsim       htsim's .topo
The cluster is written as the `cluster:` of a scenario, every device and link by name: to stdout, or to the file of -o. What the files do
not say (a speed, a number of GPUs) is said on stderr and can be given. A scenario may also name the files themselves:
  cluster: {import: topo.xml}
  cluster: {import: {files: [topo.xml], nodes: 4, bandwidth: 200 Gb/s}}
Examples:
  traingraph import auto topo.xml --set nodes=16 -o cluster.yaml
  traingraph import slurm topology.conf --set gpus_per_node=8 --set 'bandwidth=400 Gb/s' -o cluster.yaml
Keys of --set: meaning [default].
)";

inline constexpr std::string_view kCollectiveHelp = R"(
The nccl-tests of the simulator: OP is all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, sendrecv, gather or
scatter; CLUSTER a preset (`traingraph topo list`), a scenario, or a file of `traingraph import`. Sizes are those of the full buffer, as
nccl-tests counts it, from -b to -e by the factor -f; K, M and G are binary.
The time of a row is the latency that NCCL's cost model counts for (algorithm, protocol), and the longer of: what that model's
bandwidth needs; what the fabric needs to carry the algorithm's traffic, all of it at once. `auto` is NCCL's own choice, the fastest of its
cost table (--explain shows it); it needs the channels and graph speeds of the node (presets nccl_nodes), and refuses without them.
CollNet is not modelled. The in-place columns repeat the out-of-place ones.
Examples:
  traingraph collective all_reduce dgx_h100_superpod --set nodes=4 -b 1M -e 8G --explain
  traingraph collective alltoall mi300x_rail --gpus 0-15
)";

inline constexpr std::string_view kCompareHelp = R"(
Reads logs of nccl-tests or rccl-tests (raw ones too, with other lines between), runs the same collective on as many hosts and ranks of
CLUSTER, and prints measured beside predicted. Rows that are off by more than the usual spread are marked; a log whose large messages are
slower than predicted by more than that is flagged, with the likeliest cause. Exit code 1 when a log is flagged.
A log does not always say which collective it is; --op does. Without known channels and graph speeds give --algo.
Examples:
  traingraph compare dgx_h100_superpod all_reduce.log
  traingraph compare mi300x_rail rccl.log --algo ring
)";

inline constexpr std::string_view kServeHelp = R"(
Serves the interactive page to browsers on this machine (http://127.0.0.1:PORT/, printed once it listens) until Ctrl-C. Nothing is
fetched from elsewhere, no file is read or kept for the page, and requests from other machines or other sites' pages are refused.
)";

inline constexpr std::string_view kReportHelp = R"(
The page has everything in it and asks no network: summary, where time went, streams over time, bounds, critical path, fabric. The load
of links over time is there when the run recorded it: `traingraph run S.yaml -o R.h5 --bins 200`.
)";

}  // namespace traingraph::scenarios::cli
