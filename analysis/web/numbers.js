// Numbers for people, as the tables on the terminal print them: four significant digits, SI prefixes.

const kPrefixes = [[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const kSmall = [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"], [1e-12, "ps"]];
const kSuperscripts = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

export function significant(value, digits = 4) {
  return String(Number(value.toPrecision(digits)));
}

export function superscript(integer) {
  return [...String(integer)].map((c) => (c === "-" ? "\u207b" : kSuperscripts[Number(c)])).join("");
}

/** "2.198·10²⁸" beyond what is short to write. */
export function scientific(value, digits = 4) {
  if (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6)) return significant(value, digits);
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const short = String(Number(mantissa));
  const power = "10" + superscript(Number(exponent));
  return short === "1" ? power : `${short}\u00b7${power}`;
}

/** "1.75 GB": a value with an SI prefix before its unit. */
export function prefixed(value, unit, digits = 4) {
  const [factor, prefix] = kPrefixes.find(([f]) => Math.abs(value) >= f) ?? [1, ""];
  return `${significant(value / factor, digits)} ${prefix}${unit}`.trim();
}

/** "12.35 s", "850 ns", "3.2 d". */
export function duration(seconds) {
  if (seconds === 0) return "0 s";
  if (Math.abs(seconds) >= 172800) return `${significant(seconds / 86400)} d`;
  const [factor, unit] = kSmall.find(([f]) => Math.abs(seconds) >= f) ?? kSmall[kSmall.length - 1];
  return `${significant(seconds / factor)} ${unit}`;
}

export function percent(fraction, digits = 1) {
  return `${(100 * fraction).toFixed(digits)} %`;
}

export function thousands(integer) {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, ",");
}
