/** The timeline: a row a call, as wide as there is room, and a line at the moment of the slider. */

import { draw, make, scrollInside, section } from "./dom.js";
import { say } from "./find.js";
import { PAPER, WAITING, glyph, lookOf } from "./glyph.js";
import { fragment } from "./route.js";
import { duration } from "./words.js";

const HEIGHT = 24;

/** The part of the page with the timeline. */
export class Timeline {
  constructor(turn, run, states) {
    this.turn = turn;
    this.run = run;
    this.rows = [];
    if (!(turn.end > 0)) {
      const note = make("p", { class: "plain" }, "No times are known.");
      this.node = section("timeline", "Timeline", note);
      return;
    }
    this.states = states;
    this.grid = make("div", { class: "rows" }, this.head());
    this.grid.append(this.under(), ...turn.calls.map((call, index) => this.row(call, index)));
    this.grid.append(this.cover());
    const label = "Timeline; the table of calls says the same";
    const scroll = { class: "scroll", tabindex: 0, role: "group", "aria-label": label };
    this.scroll = make("div", scroll, this.grid);
    this.node = section("timeline", "Timeline", this.scroll, this.legend());
  }

  percent(at) {
    return `${((at / this.turn.end) * 100).toFixed(3)}%`;
  }

  /** The axis: round points in time. */
  head() {
    const marks = ticks(this.turn.end).map((at) => {
      const isLast = at > this.turn.end * 0.9;
      const anchor = at === 0 ? "start" : isLast ? "end" : "middle";
      const word = at === 0 ? "0" : duration(at);
      return draw("text", { x: this.percent(at), y: 14, "text-anchor": anchor }, word);
    });
    const axis = draw("svg", { class: "axis", height: 20, "aria-hidden": "true" }, ...marks);
    return make("div", { class: "head" }, make("span"), axis, make("span"));
  }

  row(call, index) {
    const [waiting, running, late, settled] = call.bars;
    const { line } = lookOf(this.states, "settled", call.status);
    const bars = [
      bar(this, waiting, { class: "waiting", fill: WAITING }),
      bar(this, running, { class: "running", fill: line }),
      bar(this, late, { fill: PAPER, stroke: line, "stroke-dasharray": "3 2" }),
      running === null && settled !== null ? diamond(this, settled, line) : null,
    ];
    const svg = draw("svg", { class: "bars", height: HEIGHT, "aria-hidden": "true" }, ...bars);
    const link = make("a", { href: fragment(this.turn, index), class: "name" });
    say(link, call.label);
    const word = make("span", { class: "word" });
    this.rows[index] = { link, svg, word, shown: "" };
    return make("div", {}, link, svg, word);
  }

  /** Barriers and upright lines: one picture under all rows. */
  under() {
    const bands = this.turn.barriers.map(([, start, end]) => {
      const width = `${(((end - start) / this.turn.end) * 100).toFixed(3)}%`;
      const place = { x: this.percent(start), y: 0, width, height: "100%" };
      return draw("rect", { class: "barrier", ...place });
    });
    const lines = ticks(this.turn.end).map((at) => upright(this, at, "tick"));
    return draw("svg", { class: "under", "aria-hidden": "true" }, ...bands, ...lines);
  }

  /** The veil over what is still to come, and a line where it begins: one picture over all rows. */
  cover() {
    this.veil = draw("rect", { class: "veil", x: "100%", y: 0, width: "100%", height: "100%" });
    this.cursor = upright(this, 0, "cursor");
    return draw("svg", { class: "cover", "aria-hidden": "true" }, this.veil, this.cursor);
  }

  legend() {
    const some = (test) => this.turn.calls.some(({ bars }) => test(bars));
    const entries = [
      [some((bars) => isSeen(this, bars[0])), "Light bar: waiting."],
      [some((bars) => bars[1] !== null), "Solid bar: running."],
      [some((bars) => isSeen(this, bars[2])), "Dashed bar: reported, but not yet stopped."],
      [some(([, ran, , at]) => ran === null && at !== null), "Diamond: settled without running."],
      [this.turn.barriers.length > 0, "Shaded: a barrier; its call runs alone."],
    ];
    const text = entries.filter(([occurs]) => occurs).map(([, words]) => words).join(" ");
    return make("p", { class: "legend" }, text);
  }

  /** Show a moment; `current` is the call that it is about, or -1. */
  show(moment, current) {
    if (this.grid === undefined) {
      return;
    }
    const x = this.percent(this.run.time(moment));
    const isEnd = moment === this.run.length;
    this.veil.setAttribute("x", isEnd ? "100%" : x);
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.classList.toggle("end", isEnd);
    this.rows.forEach((row, index) => this.tell(row, index, moment, index === current));
  }

  /** Bring a call into view, if it is there. */
  follow(current) {
    if (this.grid !== undefined && current >= 0) {
      scrollInside(this.scroll, this.rows[current].link);
    }
  }

  tell(row, index, moment, isCurrent) {
    row.link.classList.toggle("current", isCurrent);
    const word = this.run.word(index, moment);
    if (row.shown !== word) {
      row.shown = word;
      const phase = this.run.phase(index, moment);
      const look = lookOf(this.states, phase, this.turn.calls[index].status);
      row.word.replaceChildren(glyph(look), word);
    }
  }
}

/** Whether a span is long enough to be drawn. */
const isSeen = (chart, span) => span !== null && span[1] - span[0] > chart.turn.end / 1000;

function bar(chart, span, look) {
  if (span === null || (look.class !== "running" && !isSeen(chart, span))) {
    return null;
  }
  const share = ((span[1] - span[0]) / chart.turn.end) * 100;
  const place = { x: chart.percent(span[0]), y: 5, width: `${Math.max(share, 0.3).toFixed(3)}%` };
  return draw("rect", { ...place, height: HEIGHT - 10, ...look });
}

function diamond(chart, at, line) {
  const inner = draw("path", { d: "M-5 12L0 7L5 12L0 17Z", fill: PAPER, stroke: line });
  const place = { x: chart.percent(at), overflow: "visible", height: HEIGHT, width: 1 };
  return draw("svg", place, inner);
}

const upright = (chart, at, kind) =>
  draw("line", { class: kind, x1: chart.percent(at), x2: chart.percent(at), y1: 0, y2: "100%" });

/** Round points in time from 0 to an end. */
function ticks(end) {
  const power = 10 ** Math.floor(Math.log10(end / 5));
  const step = [1, 2, 5, 10, 20].map((factor) => factor * power).find((one) => one * 5 >= end);
  const marks = [];
  for (let at = 0; at * step <= end; at += 1) {
    marks.push(at * step);
  }
  return marks;
}
