// Levels of detail: the spans of a track as rectangles over pixel columns, one a column at most, however many spans there are.

/** The index of the first span that ends after `time`; `ends` ascend. */
export function firstEndingAfter(ends, time) {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Rectangles {from, to, index, cover} in whole columns for the times `from`..`to`: a span that fills columns has them to
 * itself; what fills columns in part is summed for each column, under the span that has most of it, with the share covered.
 */
export function levels({starts, ends}, from, to, columns) {
  const scale = columns / (to - from);
  const out = [];
  let column = -1;
  let cover = 0;
  let most = 0;
  let index = -1;
  const flush = () => {
    if (column >= 0 && column < columns && cover > 0) out.push({from: column, to: column + 1, index, cover: Math.min(1, cover)});
    column = -1;
    cover = 0;
    most = 0;
  };
  const add = (at, share, i) => {
    if (share <= 0) return;
    if (at !== column) {
      flush();
      column = at;
    }
    cover += share;
    if (share > most) {
      most = share;
      index = i;
    }
  };
  for (let i = firstEndingAfter(ends, from); i < starts.length && starts[i] < to; ++i) {
    const left = Math.max(0, (starts[i] - from) * scale);
    const right = Math.min(columns, (ends[i] - from) * scale);
    const first = Math.ceil(left);
    const last = Math.floor(right);
    if (last > first) {
      add(first - 1, first - left, i);
      flush();
      out.push({from: first, to: last, index: i, cover: 1});
      add(last, right - last, i);
    } else if (Math.floor(left) === Math.floor(right) || right === last) {
      add(Math.floor(left), right - left, i);
    } else {
      add(first - 1, first - left, i);
      add(first, right - first, i);
    }
  }
  flush();
  return out;
}

/** The part of [low, high] that is shown after zooming by `factor` around `time`, inside the whole. */
export function zoomed([from, to], factor, time, [low, high]) {
  const width = Math.min(high - low, Math.max((high - low) * 1e-7, (to - from) * factor));
  const begin = time - (time - from) * (width / (to - from));
  return shifted([begin, begin + width], 0, [low, high]);
}

export function shifted([from, to], by, [low, high]) {
  const begin = Math.min(Math.max(low, from + by), high - (to - from));
  return [begin, begin + (to - from)];
}
