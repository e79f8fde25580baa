// Making elements: element("p", {class: "quiet"}, "text", child). A property that is a function is an event's listener.

const kSvg = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svgElement(name, attributes = {}, ...children) {
  return fill(document.createElementNS(kSvg, name), attributes, children);
}

/** A table: heads are texts, rows lists of texts or nodes; the columns in `textual` hold words. */
export function table(heads, rows, textual = [0]) {
  const kind = (i) => (textual.includes(i) ? "text" : null);
  return element("div", {class: "scroll"}, element("table", {},
    element("thead", {}, element("tr", {}, heads.map((head, i) => element("th", {class: kind(i), scope: "col"}, head)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) => element("td", {class: kind(i)}, cell)))))));
}

/** A list of names and values. */
export function facts(pairs) {
  return element("dl", {class: "facts"}, pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

export function legend(names) {
  return element("div", {class: "legend"}, names.map((name, i) =>
    element("span", {}, element("span", {class: `swatch b${i % 8}`}), name)));
}
