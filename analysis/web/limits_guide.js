// A guided example: the largest run that the GTX 580 of 2012 could have done. Each step sets the view and says what to look
// at; numbers are put in from the answer that is on the screen.

import {percent, scientific} from "./numbers.js";
import {degreeOf, limitText} from "./limits_text.js";

const kThreeMonths = 91.25;

export const kGuide = [
  {
    title: "The question",
    set: {gpus: ["gtx580"], duration_days: kThreeMonths, from: 1e20, to: 1e30, picked: ""},
    text: () => "In 2012 AlexNet was trained on two GTX 580, with 3 GB of memory and no NVLink. How large a run could have been done in three months on as many of them as one likes, " +
      "without wasting most of their arithmetic? The curve shows how much of the sustained rate the best layout uses at each training compute.",
  },
  {
    title: "Where scaling stops being free",
    set: {picked: "limit"},
    text: (answer) => `Up to ${limitText(answer.linear_scaling_limit.first)} FLOP the best layout keeps at least 80 % of the rate: twice the GPUs, twice the compute. ` +
      "That is about what a model of 2024 took. Data movement was no obstacle then; the bill was.",
  },
  {
    title: "What that run looks like",
    set: {picked: "limit"},
    text: (answer, row) => (row?.feasible
      ? `It needs ${scientific(row.gpus)} GPUs: ${scientific(degreeOf(row, ["dp"]))} data-parallel copies of ${scientific(degreeOf(row, ["pp"]))} pipeline stages, each split ` +
        `${scientific(degreeOf(row, ["tf", "tm"]))} ways by tensor parallelism, and runs at ${percent(row.utilization)} of the sustained rate. The panel below the plots has its layout.`
      : "Pick a point on the curve to see its layout."),
  },
  {
    title: "The same on H100",
    set: {gpus: ["h100", "gtx580"], from: 1e22, to: 1e32, picked: ""},
    text: (answer) => `An H100 of ten years later moves that point to ${limitText(answer.linear_scaling_limit.first)} FLOP; the latency wall, where no number of GPUs finishes in time, stands at ` +
      `${limitText(answer.latency_wall)}. Now drag the network's latency and bandwidth: which of the two moves the wall?`,
  },
];
