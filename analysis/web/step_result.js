// The result of a step, for the page and for a report: every panel from one step document.

import {element, legend} from "./dom.js";
import {HeatMap} from "./heat_map.js";
import {duration} from "./numbers.js";
import {kColours, kPicosecond, rowsOf} from "./step_model.js";
import {boundsPanel, fabricPanel, memoryPanel, pathPanel, sensitivityPanel, summaryPanel, timePanel} from "./step_panels.js";
import {Timeline} from "./timeline.js";

function panel(title, ...content) {
  const shown = content.filter((part) => part !== null && part !== undefined);
  return shown.length === 0 ? null : element("section", {class: "panel"}, element("h2", {}, title), shown);
}

function streams(document) {
  if (document.tracks.length === 0) return null;
  const model = rowsOf(document);
  const note = document.merged_below_ps > 0 ? `Neighbours shorter than ${duration(document.merged_below_ps * kPicosecond)} together are drawn as one. ` : "";
  return [element("p", {class: "quiet"}, `${note}One GPU of each role, over the reported step; the lit line below a row is where the critical path runs through that GPU.`),
    legend(model.order.slice(0, kColours).map((name) => document.names[name])), new Timeline(model, document.window_ps).node];
}

export function stepResult(document) {
  const {summary} = document;
  return element("div", {class: "result"},
    element("h2", {}, summary.description), element("p", {class: "quiet"}, (summary.fabric ? `${summary.fabric}, ` : "") + `network model ${summary.network}`),
    element("div", {class: "two"}, panel("Summary", summaryPanel(document)), panel("Memory of the fullest GPU", memoryPanel(document))),
    panel("Where time went", timePanel(document)),
    panel("Streams", ...(streams(document) ?? [])),
    panel("Bounds", boundsPanel(document)),
    panel("Critical path", pathPanel(document)),
    panel("Fabric", fabricPanel(document)),
    document.heat ? panel("Link utilization over time", new HeatMap(document.heat).node) : null,
    panel("Sensitivity", sensitivityPanel(document)),
    element("details", {class: "panel"}, element("summary", {}, "Scenario"), element("pre", {}, document.scenario)));
}
