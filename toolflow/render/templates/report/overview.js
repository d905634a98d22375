/** All turns of the recording: how each ended, how long it took, what went wrong. */

import { button, make, section } from "./dom.js";
import { say } from "./find.js";
import { glyph, lookOf } from "./glyph.js";
import { fragment } from "./route.js";
import { count, stateWord } from "./words.js";

const TURN_HEADS = ["Turn", "Run", "Calls", "Time", "What went wrong"];

/** The list of turns. */
export class Overview {
  constructor(data) {
    this.rows = data.turns.map((turn) => turnRow(turn, data.states));
    this.hitHead = make("th", { scope: "col" }, "Hits");
    this.hitHead.hidden = true;
    const heads = TURN_HEADS.map((head) => make("th", { scope: "col" }, head));
    const top = make("thead", {}, make("tr", {}, ...heads, this.hitHead));
    const body = make("tbody", {}, ...this.rows.map(({ row }) => row));
    const table = make("table", { "aria-labelledby": "title-overview" }, top, body);
    const parts = [left(data), this.chip(data), make("div", {}, table)];
    parts.push(...notices(data), policy(data));
    this.node = section("overview", `Turns (${data.turns.length.toLocaleString("en")})`, ...parts);
  }

  /** A button that leaves out the turns in which nothing went wrong. */
  chip(data) {
    const isBad = data.turns.map((turn) => turn.problems.some(([level]) => level === "bad"));
    const number = isBad.filter(Boolean).length;
    if (number === 0 || number === isBad.length) {
      return null;
    }
    const chip = button(`only what went wrong (${number})`, () => {
      const isOnly = chip.getAttribute("aria-pressed") === "false";
      chip.setAttribute("aria-pressed", String(isOnly));
      this.rows.forEach(({ row }, at) => {
        row.hidden = isOnly && !isBad[at];
      });
    }, { "aria-pressed": "false" });
    return make("div", { class: "chips" }, chip);
  }

  /** Show how many hits each turn has; `null` where nothing is looked for. */
  found(numbers) {
    this.hitHead.hidden = numbers === null;
    this.rows.forEach(({ row, hits }, at) => {
      hits.hidden = numbers === null;
      hits.textContent = numbers === null ? "" : String(numbers[at]);
      row.classList.toggle("without", numbers !== null && numbers[at] === 0);
    });
  }
}

function turnRow(turn, states) {
  const link = make("a", { href: fragment(turn) });
  say(link, turn.id === "" ? `turn ${turn.number}` : turn.id);
  const number = make("span", { class: "number" }, `${turn.number}`);
  const title = make("th", { scope: "row" }, number, link);
  const source = turn.facts.find(([name]) => name === "source");
  if (source !== undefined) {
    title.append(say(make("small"), source[1]));
  }
  const counts = Object.entries(turn.counts).map(([status, many]) => {
    const look = lookOf(states, "settled", status);
    return make("span", { class: "count" }, glyph(look), `${many} ${stateWord(status)}`);
  });
  const calls = make("td", { "data-head": "Calls" }, make("b", {}, String(turn.calls.length)));
  calls.append(...counts);
  const wrong = make("td", { class: "wrong", "data-head": "What went wrong" }, ...problems(turn));
  const run = make("td", { "data-head": "Run" }, turn.status);
  const time = make("td", { class: "span", "data-head": "Time" }, turn.time);
  const hits = make("td", { class: "span", "data-head": "Hits" });
  hits.hidden = true;
  return { row: make("tr", {}, title, run, calls, time, wrong, hits), hits };
}

/** What went wrong in a turn, as marks with words. */
export const problems = (turn) =>
  turn.problems.map(([level, text]) =>
    make("span", { class: level }, `${level === "bad" ? "✗" : "•"} ${text}`),
  );

function left(data) {
  if (data.left === 0) {
    return null;
  }
  const text = [
    `This page has room for ${count(data.turns.length, "turn")};`,
    `${count(data.left, "more turn")} of the recording are left out.`,
    "Choose turns with --turn.",
  ].join(" ");
  return make("p", { class: "notice" }, text);
}

function notices(data) {
  if (data.notices.length === 0) {
    return [];
  }
  const lines = data.notices.map((text) => say(make("li"), text));
  if (data.moreNotices > 0) {
    lines.push(make("li", {}, `and ${count(data.moreNotices, "more notice")}`));
  }
  return [make("h4", {}, "Notices"), make("ul", { class: "notices" }, ...lines)];
}

function policy(data) {
  if (data.policy === "") {
    return null;
  }
  const lines = data.policy.replace(/\n$/, "").split("\n");
  const list = make("ol", { class: "lines" }, ...lines.map((line) => say(make("li"), line)));
  return make("details", {}, make("summary", {}, "Policy"), list);
}
