// What the Limits view lets people change, and the question that it asks the program.

/** The defaults of the controls: the paper's assumptions come from the program, the rest is here. */
export function defaultState(assumptions) {
  return {
    gpus: ["h100"], network_bandwidth: 1, network_latency: 1, flop_rate: 1, memory_bandwidth: 1,
    batch_exponent: assumptions.batch_exponent, depth_exponent: assumptions.depth_exponent,
    duration_days: assumptions.duration_days, experts: 1, active_experts: 1, batch_sparsity_exponent: 0,
    word_bits: "native", all_reduce_words: String(assumptions.all_reduce_words), from: 1e24, to: 1e32, custom: "", picked: "",
    example: "",
  };
}

/** Controls in groups; a slider moves over `range`, logarithmically with `log`, in so many `steps`. */
export const kGroups = [
  {title: "Hardware", controls: [
    {key: "network_bandwidth", label: "Network bandwidth", range: [1 / 256, 256], log: true, steps: 64, unit: "\u00d7"},
    {key: "network_latency", label: "Network latency", range: [1 / 256, 256], log: true, steps: 64, unit: "\u00d7"},
    {key: "flop_rate", label: "FLOP rate", range: [1 / 256, 256], log: true, steps: 64, unit: "\u00d7"},
    {key: "memory_bandwidth", label: "Memory bandwidth", range: [1 / 256, 256], log: true, steps: 64, unit: "\u00d7"},
    {key: "word_bits", label: "Precision", words: [["native", "of the preset"], ["32", "32 bits"], ["16", "16 bits"], ["8", "8 bits"], ["4", "4 bits"]]},
    {key: "all_reduce_words", label: "All-reduce", words: [["2", "in the network"], ["3", "multicast"], ["4", "ring"], ["in_switch", "in one switch"]]},
  ]},
  {title: "Training run", controls: [
    {key: "duration_days", label: "At most", range: [7, 3650], log: true, steps: 120, unit: " days"},
    {key: "batch_exponent", label: "Batch ~ compute to the", range: [0, 0.5], steps: 60, unit: ""},
    {key: "depth_exponent", label: "Depth ~ compute to the", range: [0, 0.5], steps: 60, unit: ""},
  ]},
  {title: "Sparsity", controls: [
    {key: "experts", label: "Experts", range: [1, 1024], log: true, steps: 10, unit: ""},
    {key: "active_experts", label: "Active for a token", range: [1, 64], log: true, steps: 6, unit: ""},
    {key: "batch_sparsity_exponent", label: "Batch ~ sparsity to the", range: [0, 1], steps: 20, unit: ""},
  ]},
];

const kFactors = ["network_bandwidth", "network_latency", "flop_rate", "memory_bandwidth"];
const kSame = ["batch_exponent", "depth_exponent", "experts", "active_experts", "batch_sparsity_exponent", "word_bits", "all_reduce_words"];

/** The overrides in a text of lines; empty lines and those that begin with # count for nothing. */
export function customLines(text) {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
}

/** The body of a request; what equals its default is not said. */
export function questionOf(state, defaults, gpu, points) {
  const set = [];
  for (const key of kSame) if (state[key] !== defaults[key]) set.push(`${key}=${state[key]}`);
  if (state.duration_days !== defaults.duration_days) set.push(`duration=${state.duration_days} d`);
  set.push(`scan.from=${state.from}`, `scan.to=${state.to}`, ...customLines(state.custom));
  const scale = {};
  for (const key of kFactors) if (state[key] !== 1) scale[key] = state[key];
  return {gpu, set, scale, points};
}

/** A slider's value at one of its steps, and back. The default is always a value: `snap` moves to it from half a step away. */
export function sliderValue({range: [low, high], log, steps}, step, snap) {
  const share = step / steps;
  const value = log ? low * (high / low) ** share : low + (high - low) * share;
  if (Math.abs(sliderStep({range: [low, high], log, steps}, snap) - step) <= 0.5) return snap;
  return Number(value.toPrecision(4));
}

export function sliderStep({range: [low, high], log, steps}, value) {
  const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.min(steps, Math.max(0, share * steps));
}

/** The same question on the command line. */
export function commandOf(gpu, set) {
  return ["traingraph limits --gpu " + gpu, ...set.map((text) => `--set '${text.replaceAll("'", "'\\''")}'`)].join(" \\\n    ");
}
