// The state of a view as the fragment of the address, "#limits?gpus=h100,a100&flop_rate=2": what equals its default is left
// out, so that a link is short and says what is special about it.

function text(value) {
  return Array.isArray(value) ? value.join(",") : String(value);
}

export function encode(view, state, defaults) {
  const parts = Object.keys(defaults)
    .filter((key) => text(state[key]) !== text(defaults[key]))
    .map((key) => `${key}=${encodeURIComponent(text(state[key]))}`);
  return `#${view}${parts.length > 0 ? "?" + parts.join("&") : ""}`;
}

/** {view, values}: the values as texts, of the keys that stand there. */
export function decode(fragment) {
  const [view, query = ""] = fragment.replace(/^#/, "").split(/\?(.*)/s);
  const values = {};
  for (const part of query.split("&").filter((p) => p.includes("="))) {
    const at = part.indexOf("=");
    try {
      values[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
    } catch {
      // A broken escape: as if it were not there.
    }
  }
  return {view, values};
}

/** `defaults` with the texts in `values`, each as its default's type; what cannot be read keeps its default. */
export function restore(values, defaults) {
  const state = structuredClone(defaults);
  for (const [key, otherwise] of Object.entries(defaults)) {
    const value = values[key];
    if (value === undefined) continue;
    if (Array.isArray(otherwise)) state[key] = value.split(",").filter((word) => word !== "");
    else if (typeof otherwise !== "number") state[key] = value;
    else if (value.trim() !== "" && Number.isFinite(Number(value))) state[key] = Number(value);
  }
  return state;
}
