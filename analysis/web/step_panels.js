// The tables and bars of a step: summary, where time went, bounds, memory, the fabric by tiers, sensitivities.

import {element, facts, legend, svgElement, table} from "./dom.js";
import {duration, percent, prefixed, thousands} from "./numbers.js";

const kGpus = [["busiest", "busiest GPU"], ["median", "median GPU"], ["least_busy", "least busy GPU"]];

export function summaryPanel({summary: s}) {
  const some = (key, text) => (s[key] === undefined ? [] : [[text[0], text[1](s[key])]]);
  return facts([
    ["Step time", duration(s.step_time_s)], ["GPUs", thousands(s.gpus)],
    ...some("tokens_per_s", ["Throughput", (v) => `${prefixed(v, "tokens/s")}, ${prefixed(s.tokens_per_s_per_gpu, "tokens/s per GPU")}`]),
    ...some("mfu", ["MFU / HFU", (v) => `${percent(v)} / ${percent(s.hfu)}`]),
    ...some("bus_bandwidth_bytes_per_s", ["Bus bandwidth", (v) => prefixed(v, "B/s")]),
    ["Lower bound", `${duration(s.lower_bound_s)} (${s.binding_bound ?? "none"}), gap ${s.gap.toFixed(3)}`],
    ...some("peak_memory_bytes", ["Peak memory of a GPU", (v) => prefixed(v, "B") + (s.memory.capacity_bytes ? ` of ${prefixed(s.memory.capacity_bytes, "B")}` : "")]),
  ]);
}

/** Stacked bars of seconds by category, one bar a row. */
function bars(rows, categories) {
  const longest = Math.max(...rows.map(({parts}) => categories.reduce((sum, c) => sum + (parts[c] ?? 0), 0)));
  return element("div", {class: "bars"}, legend(categories), rows.map(({label, parts}) => {
    let at = 0;
    const rectangles = categories.map((category, i) => {
      const width = longest > 0 ? (100 * (parts[category] ?? 0)) / longest : 0;
      const rectangle = svgElement("rect", {class: `f${i % 8}`, "fill-opacity": i < 8 ? 1 : 0.5, x: `${at}%`, y: 0, width: `${width}%`, height: 16},
        svgElement("title", {}, `${category} ${duration(parts[category] ?? 0)}`));
      at += width;
      return rectangle;
    });
    return element("div", {class: "bar"}, element("span", {}, label), svgElement("svg", {width: "100%", height: 16, role: "img", "aria-label": label}, rectangles));
  }));
}

export function timePanel({summary, stages, categories}) {
  const used = categories.filter((c) => [...Object.values(summary.time_split).map((split) => split[`${c}_s`]), ...stages.map(({mean_s}) => mean_s[c])].some((v) => v > 0));
  const gpus = kGpus.map(([key, label]) => ({label, parts: Object.fromEntries(used.map((c) => [c, summary.time_split[key][`${c}_s`]]))}));
  const means = stages.length > 1 ? stages.map(({stage, mean_s}) => ({label: `stage ${stage}, mean`, parts: mean_s})) : [];
  const rows = [...gpus, ...means];
  return element("div", {}, bars(rows, used), element("details", {}, element("summary", {}, "As a table"),
    table(["", ...used], rows.map(({label, parts}) => [label, ...used.map((c) => duration(parts[c] ?? 0))]))));
}

export function boundsPanel({bounds, summary}) {
  return table(["bound", "value", "of the step time", "given by", "holds for"],
    bounds.map((b) => [b.name + (b.binds ? " (binds)" : ""), duration(b.value_s), percent(b.value_s / summary.step_time_s), b.subject, b.holds_for]), [0, 3, 4]);
}

/** The fabric by tiers, the most loaded first and named. */
export function fabricPanel({summary, most_loaded_links: links}) {
  const tiers = Object.entries(summary.links ?? {}).sort(([, a], [, b]) => b.mean_utilization - a.mean_utilization);
  const [busiest] = tiers;
  const bar = (share, kind) => svgElement("svg", {width: 160, height: 12, role: "img", "aria-label": percent(share)},
    svgElement("rect", {class: "f7", "fill-opacity": 0.25, width: 160, height: 12}), svgElement("rect", {class: kind, width: 160 * Math.min(1, share), height: 12}));
  return element("div", {},
    busiest ? element("p", {}, "Most loaded: tier ", element("strong", {}, busiest[0]), ` at ${percent(busiest[1].mean_utilization)} mean`, links[0] ? `, link ${links[0].name} at ${percent(links[0].mean_utilization)}` : "", ".") : null,
    table(["tier", "", "mean", "busy", "peak", "links used", "carried"], tiers.map(([name, t]) => [name, bar(t.mean_utilization, name === busiest[0] ? "f1" : "f0"), percent(t.mean_utilization),
      percent(t.busy_fraction), percent(t.peak_utilization), `${thousands(t.links_used)} of ${thousands(t.links)}`, prefixed(t.bytes, "B")])),
    element("h3", {}, "Most loaded links"),
    table(["link", "tier", "mean", "busy", "peak", "carried"], links.map((l) => [l.name, l.tier, percent(l.mean_utilization), percent(l.busy_fraction), percent(l.peak_utilization), prefixed(l.bytes, "B")]), [0, 1]));
}

export function memoryPanel({summary}) {
  if (!summary.memory?.terms) return null;
  return facts(Object.entries(summary.memory.terms).map(([name, bytes]) => [name.replace(/_bytes$/, "").replaceAll("_", " "), prefixed(bytes, "B")]));
}

export function pathPanel({summary}) {
  if (!summary.critical_path) return null;
  const rows = (parts) => Object.entries(parts).sort(([, a], [, b]) => b - a).map(([name, seconds]) => [name.replace(/_s$/, ""), duration(seconds), percent(seconds / summary.critical_path.length_s)]);
  return element("div", {class: "two"}, table(["by kind", "time", "share"], rows(summary.critical_path.by_kind)), table(["by task", "time", "share"], rows(summary.critical_path.by_task).slice(0, 10)));
}

export function sensitivityPanel({summary}) {
  if (!summary.sensitivity) return null;
  return table(["one percent more of", "changes the step time by"], Object.entries(summary.sensitivity).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).map(([name, value]) => [name.replaceAll("_", " "), `${value.toFixed(3)} %`]));
}
