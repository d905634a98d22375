/** The table of calls: a row each, its details below it, chips that leave states out. */

import { button, make, section } from "./dom.js";
import { detailsOf } from "./details.js";
import { isLooking, say } from "./find.js";
import { glyph, lookOf } from "./glyph.js";
import { fragment, note } from "./route.js";
import { count, stateWord } from "./words.js";

const CALL_HEADS = ["Call", "Verdict", "Keys", "State", "Waited", "Ran"];
const COLUMNS = ["30%", null, "18%", 155, 84, 76];
const MOST_KEYS = 3;
const MORE_ROWS = 500;

/** The part of the page with the calls. */
export class Table {
  constructor(turn, run, states) {
    this.turn = turn;
    this.run = run;
    this.states = states;
    this.hidden = new Set();
    this.onlyHits = false;
    this.hits = new Set();
    this.rows = turn.calls.map((call, index) => this.row(call, index));
    const heads = CALL_HEADS.map((head) => make("th", { scope: "col" }, head));
    const bodies = this.rows.map(({ body }) => body);
    const top = make("thead", {}, make("tr", {}, ...heads));
    const columns = make("colgroup", {}, ...COLUMNS.map((width) => make("col", { width })));
    const table = make("table", { "aria-labelledby": "title-calls" }, columns, top, ...bodies);
    this.told = make("p", { class: "plain", role: "status" });
    this.more = button(`show ${MORE_ROWS} more`, () => this.showMore(), { class: "more" });
    const parts = [this.chips(), this.told, make("div", {}, table), this.more];
    this.node = section("calls", "Calls", ...parts);
    this.limit = MORE_ROWS;
    this.filter();
  }

  /** A browser needs seconds to lay out thousands of rows, so it gets them when they are wanted. */
  showMore() {
    this.limit += MORE_ROWS;
    this.filter();
  }

  /** A button for every state that occurs; pressed, calls of that state are shown. */
  chips() {
    const chips = Object.entries(this.turn.counts).map(([status, number]) => {
      const chip = button("", () => this.toggle(chip, status), { "aria-pressed": "true" });
      const look = lookOf(this.states, "settled", status);
      chip.append(glyph(look), `${stateWord(status)} `, make("b", {}, String(number)));
      return chip;
    });
    this.hitChip = button("only hits", () => this.toggleHits(), { "aria-pressed": "false" });
    this.hitChip.hidden = true;
    const all = button("open all", () => this.openAll(true));
    const none = button("close all", () => this.openAll(false));
    const group = { class: "chips", role: "group", "aria-label": "Show calls by how they ended" };
    return make("div", group, ...chips, this.hitChip, make("span", { class: "gap" }), all, none);
  }

  openAll(isOpen) {
    this.rows.forEach(({ body }, at) => body.hidden || this.open(at, isOpen));
  }

  toggle(chip, status) {
    const isShown = chip.getAttribute("aria-pressed") === "true";
    chip.setAttribute("aria-pressed", String(!isShown));
    this.hidden[isShown ? "add" : "delete"](status);
    this.filter();
  }

  toggleHits() {
    this.onlyHits = !this.onlyHits;
    this.hitChip.setAttribute("aria-pressed", String(this.onlyHits));
    this.filter();
  }

  /** Take in where what is looked for occurs: places of calls. */
  found(hits) {
    this.hits = new Set(hits.map(({ at }) => at));
    this.hitChip.hidden = !isLooking();
    const folded = new Set(hits.filter(({ isFolded }) => isFolded).map(({ at }) => at));
    this.rows.forEach((row, index) => {
      row.hint.hidden = !folded.has(index);
    });
    this.filter();
  }

  filter() {
    const isLimited = this.onlyHits && isLooking();
    let fitting = 0;
    this.rows.forEach(({ body }, index) => {
      const isOut = this.hidden.has(this.turn.calls[index].status);
      const isFitting = !isOut && !(isLimited && !this.hits.has(index));
      body.hidden = !isFitting || fitting >= this.limit;
      fitting += isFitting ? 1 : 0;
    });
    const shown = Math.min(fitting, this.limit);
    const all = this.rows.length;
    this.more.hidden = fitting <= this.limit;
    this.told.textContent = shown === all ? "" : `${shown} of ${count(all, "call")} shown`;
  }

  row(call, index) {
    const id = `details-${index + 1}`;
    const toggle = button("", () => this.press(index), {
      class: "toggle",
      "aria-expanded": "false",
      "aria-controls": id,
    });
    say(toggle, call.label);
    const hint = make("span", { class: "hint" }, "found in the details");
    hint.hidden = true;
    const name = say(make("span", { class: "id" }), call.name);
    const address = { href: fragment(this.turn, index), class: "place" };
    const place = make("a", { ...address, "aria-label": `Link to call ${index + 1}` }, call.key);
    const title = make("th", { scope: "row", class: "call" }, toggle, make("div", {}, place, name));
    title.append(hint);
    const state = make("td", { class: "state" }, make("span"), make("small"));
    const cells = [verdict(call), keys(call), state, span(call.waited), span(call.ran)];
    const head = make("tr", {}, title, ...cells);
    head.addEventListener("click", (event) => {
      if (event.target.closest("a, button") === null && getSelection().isCollapsed) {
        this.press(index);
      }
    });
    const inside = make("td", { colspan: CALL_HEADS.length });
    const details = make("tr", { id, class: "inside" }, inside);
    details.hidden = true;
    cells.forEach((cell, at) => cell.setAttribute("data-head", CALL_HEADS[at + 1]));
    const body = make("tbody", {}, head, details);
    return { body, toggle, state, details, inside, hint, shown: "" };
  }

  press(index) {
    const isOpen = this.rows[index].details.hidden;
    this.open(index, isOpen);
    note(fragment(this.turn, isOpen ? index : -1));
  }

  /** Open or close the details of a call. */
  open(index, isOpen) {
    const { toggle, details, inside } = this.rows[index];
    if (isOpen && inside.childElementCount === 0) {
      inside.append(detailsOf(this.turn, this.turn.calls[index]));
    }
    details.hidden = !isOpen;
    toggle.setAttribute("aria-expanded", String(isOpen));
  }

  /** Go to a call: its row is shown whatever is left out, and comes into view. */
  goTo(index, { isOpen = true, hasFocus = false } = {}) {
    const { body, toggle } = this.rows[index];
    body.hidden = false;
    if (isOpen) {
      this.open(index, true);
    }
    this.choose(index);
    body.scrollIntoView({ block: "nearest" });
    if (hasFocus) {
      toggle.focus({ preventScroll: true });
    }
  }

  /** Bring what was found in a call into view, in its own box too. */
  showMark(index) {
    const { body } = this.rows[index];
    const mark = body.querySelector(".inside:not([hidden]) mark") ?? body.querySelector("mark");
    mark?.scrollIntoView({ block: "center", inline: "nearest" });
  }

  choose(index) {
    this.rows.forEach(({ body }, at) => body.classList.toggle("chosen", at === index));
  }

  /** Show a moment; `current` is the call that it is about, or -1. */
  show(moment, current) {
    this.rows.forEach((row, index) => {
      row.body.classList.toggle("current", index === current);
      const word = this.run.word(index, moment);
      const waits = moment === this.run.length ? null : this.run.waitsFor(index, moment);
      const shown = waits === null ? word : `${word} ${waits.calls.join()} ${waits.text}`;
      if (row.shown !== shown) {
        row.shown = shown;
        this.tell(row, index, moment, word, waits);
      }
    });
  }

  tell(row, index, moment, word, waits) {
    const phase = this.run.phase(index, moment);
    const look = lookOf(this.states, phase, this.turn.calls[index].status);
    row.body.dataset.phase = phase;
    const [text, why] = row.state.querySelectorAll(":scope > span, :scope > small");
    say(text, word);
    row.state.querySelector("svg")?.remove();
    text.before(glyph(look));
    why.replaceChildren(...(waits === null ? [] : this.reason(waits)));
  }

  reason({ calls, text }) {
    const links = calls.slice(0, MOST_KEYS).flatMap((call) => [
      make("a", { href: fragment(this.turn, call) }, this.turn.calls[call].key),
      " ",
    ]);
    return links.length > 0 ? ["for ", ...links, `(${text})`] : [text];
  }
}

function verdict(call) {
  const word = say(make("span"), call.verdict);
  const reason = call.reason === "" ? "" : say(make("small"), call.reason);
  const isTold = call.rule === "" || /\brule \d/.test(call.reason);
  const rule = isTold ? "" : make("small", {}, call.rule);
  return make("td", { class: "verdict" }, word, reason, rule);
}

function keys(call) {
  const lines = call.keys.slice(0, MOST_KEYS).map(([how, key]) => {
    const text = say(make("code"), key.replace(/^file:/, ""));
    return make("div", { class: how }, make("small", {}, how), text);
  });
  const more = call.keys.length - MOST_KEYS;
  const rest = more > 0 ? make("small", {}, `and ${count(more, "more key")}`) : "";
  return make("td", { class: "keys" }, ...lines, rest);
}

const span = (text) => make("td", { class: "span" }, text ?? "");
