// Scales: values to pixels and back, and where an axis has its ticks.

export function linearScale([low, high], [from, to]) {
  const slope = (to - from) / (high - low);
  return {at: (value) => from + (value - low) * slope, back: (pixel) => low + (pixel - from) / slope, log: false, range: [low, high]};
}

/** REQUIRES: 0 < low < high. Values that are not positive have no place: NaN. */
export function logScale([low, high], [from, to]) {
  const inner = linearScale([Math.log10(low), Math.log10(high)], [from, to]);
  return {at: (value) => (value > 0 ? inner.at(Math.log10(value)) : NaN), back: (pixel) => 10 ** inner.back(pixel), log: true, range: [low, high]};
}

/** 1, 2 or 5 times a power of ten, about `count` of them over the range. */
export function linearTicks([low, high], count) {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * (1 - 1e-9));
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(i * step + 0);  // never -0
  return ticks;
}

/** Whole decades, every so many of them that there are at most about `count`. */
export function logTicks([low, high], count) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, count)));
  const ticks = [];
  for (let e = first; e <= last; e += every) ticks.push(10 ** e);
  return ticks;
}

/** The index of the value nearest to `wanted` in an ascending list, or -1 of an empty one. */
export function nearestIndex(values, wanted) {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && wanted - values[low - 1] <= values[low] - wanted) --low;
  return values.length === 0 ? -1 : low;
}
