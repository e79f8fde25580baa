// A step document (schema "traingraph/step/1") as the drawings take it: flat lists of numbers become typed arrays.

const kFields = 5;

export const kPicosecond = 1e-12;
export const kColours = 8;  // --c0 ... of the style sheet
export const kLabelWidth = 190;  // pixels beside a drawing

/** {starts, ends, names, microbatches, layers} from gap, duration, name, microbatch, layer. */
export function spansOf(flat) {
  const count = flat.length / kFields;
  const spans = {starts: new Float64Array(count), ends: new Float64Array(count), names: new Int32Array(count), microbatches: new Int32Array(count), layers: new Int32Array(count)};
  let at = 0;
  for (let i = 0; i < count; ++i) {
    const [gap, duration, name, microbatch, layer] = flat.slice(kFields * i, kFields * (i + 1));
    spans.starts[i] = at + gap;
    spans.ends[i] = spans.starts[i] + duration;
    spans.names[i] = name;
    spans.microbatches[i] = microbatch;
    spans.layers[i] = layer;
    at = spans.ends[i];
  }
  return spans;
}

/** The critical path in the same form, with a rank for each element. */
export function pathOf({elements}) {
  const count = elements.length / kFields;
  const path = {starts: new Float64Array(count), ends: new Float64Array(count), ranks: new Int32Array(count), names: new Int32Array(count), microbatches: new Int32Array(count)};
  for (let i = 0; i < count; ++i) {
    path.starts[i] = elements[kFields * i];
    path.ends[i] = path.starts[i] + elements[kFields * i + 1];
    path.ranks[i] = elements[kFields * i + 2];
    path.names[i] = elements[kFields * i + 3];
    path.microbatches[i] = elements[kFields * i + 4];
  }
  return path;
}

/** Names by the time they take on all tracks, longest first: their place gives them a colour. */
export function namesByTime(tracks, names) {
  const total = new Float64Array(names.length);
  for (const {spans} of tracks) spans.starts.forEach((start, i) => { total[spans.names[i]] += spans.ends[i] - start; });
  return names.map((_, i) => i).sort((a, b) => total[b] - total[a] || a - b);
}

/** Rows for the chart of streams: the critical path first, then every track that takes time. */
export function rowsOf(document) {
  const tracks = document.tracks.map((track) => ({...track, spans: spansOf(track.spans)}))
    .filter(({spans}) => spans.starts.some((start, i) => spans.ends[i] > start));
  const order = namesByTime(tracks, document.names);
  const colour = new Int32Array(order.length);
  order.forEach((name, place) => { colour[name] = place; });
  const rows = tracks.map(({rank, stage, stream, spans}) => ({
    label: `stage ${stage}, GPU ${rank}, ${stream === 0 ? "compute" : `stream ${stream}`}`, rank, spans, text: (i) => document.names[spans.names[i]], colour: (i) => colour[spans.names[i]],
  }));
  if (!document.critical_path.elements) return {rows, order, path: null};
  const path = pathOf(document.critical_path);
  const place = new Map(document.names.map((name, i) => [name, colour[i]]));
  const label = (i) => document.critical_path.names[path.names[i]];
  rows.unshift({label: "critical path", rank: null, spans: path, text: (i) => `${label(i)}, GPU ${path.ranks[i]}`, colour: (i) => place.get(label(i)) ?? 7});
  return {rows, order, path};
}
