/** Small signs for states, of the shapes and lines that pictures of plans have. */

import { draw } from "./dom.js";

const OCTAGON = "5,1 11,1 15,5 15,11 11,15 5,15 1,11 1,5";
const INNER = "6,4 10,4 12,6 12,10 10,12 6,12 4,10 4,6";
const DASHES = { dashed: "3 2", dotted: "1.5 1.5" };
const FAINT = "#66727f";
export const PAPER = "#ffffff";
export const WAITING = "#cfd8e0";
const PHASES = {
  coming: { shape: "box", style: "dashed", line: FAINT, fill: PAPER, width: 1, lines: 1 },
  waiting: { shape: "box", style: "", line: FAINT, fill: WAITING, width: 1, lines: 1 },
  asking: { shape: "note", style: "", line: "#0072b2", fill: "#eef6fb", width: 1.5, lines: 1 },
  running: { shape: "box", style: "dotted", line: "#0072b2", fill: "#eef6fb", width: 2, lines: 1 },
};
const PLAIN = { shape: "box", style: "", line: FAINT, fill: PAPER, width: 1, lines: 1 };

/** How a phase or a state looks; `states` are those of the page's data. */
export const lookOf = (states, phase, status) =>
  phase === "settled" ? (states[status] ?? PLAIN) : PHASES[phase];

/** The sign of a look. Words stand beside it, so that it says nothing to a screen reader. */
export function glyph(look) {
  const line = {
    fill: look.fill,
    stroke: look.line,
    "stroke-width": Math.min(look.width, 2),
    "stroke-dasharray": DASHES[look.style] ?? null,
  };
  const shapes = [shape(look.shape, line, false)];
  if (look.lines === 2) {
    shapes.push(shape(look.shape, { ...line, fill: "none" }, true));
  }
  const size = { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" };
  return draw("svg", { class: "glyph", ...size }, ...shapes);
}

function shape(kind, line, isInner) {
  if (kind === "octagon") {
    return draw("polygon", { points: isInner ? INNER : OCTAGON, ...line });
  }
  if (kind === "note") {
    return draw("path", { d: "M1.5 1.5h9l4 4v9h-13zM10.5 1.5v4h4", ...line });
  }
  const inset = isInner ? 4.5 : 1.5;
  const side = 16 - 2 * inset;
  return draw("rect", { x: inset, y: inset, width: side, height: side, ...line });
}
