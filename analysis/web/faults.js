// The checker's messages about a scenario, "scenario:3:5: cluster.nodes: expected ...", as places in its text.

/** [{line, column, text}], line 0 for what has no place. */
export function faultsOf(message) {
  return message.split("\n").filter((line) => line !== "").map((line) => {
    const [, at, column, text] = line.match(/^scenario:(\d+):(\d+): (.*)$/s) ?? [];
    return at === undefined ? {line: 0, column: 0, text: line} : {line: Number(at), column: Number(column), text};
  });
}

/** Where a line and column (both from 1) stand in a text. */
export function offsetOf(text, line, column) {
  let at = 0;
  for (let i = 1; i < line; ++i) {
    const next = text.indexOf("\n", at);
    if (next < 0) return text.length;
    at = next + 1;
  }
  return Math.min(text.length, at + column - 1);
}
