/** The slider through a run: a range, buttons, and a line that says what happens at its place. */

import { draw, make } from "./dom.js";
import { duration, words } from "./words.js";

const STEP = { least: 80, most: 800, whole: 12_000 }; // milliseconds
const SIGNS = {
  first: "M4 3v10M13 3L6 8l7 5z",
  back: "M11 3L4 8l7 5z",
  play: "M4 2l9 6-9 6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
};

/** The bar with the slider. `moved` is called with every new moment. */
export class Slider {
  constructor(turn, run, moved, rested) {
    this.turn = turn;
    this.run = run;
    this.moved = moved;
    this.rested = rested;
    this.moment = run.length;
    this.timer = null;
    this.range = make("input", {
      type: "range",
      min: 0,
      max: run.length,
      step: 1,
      value: run.length,
      "aria-label": "Moment of the run",
      oninput: () => this.user(Number(this.range.value)),
      onfocus: () => this.quiet(),
      onblur: () => this.quiet(),
    });
    this.play = key("play", "Play", () => this.toggle());
    this.buttons = [
      key("first", "To the start", () => this.user(0)),
      key("back", "Step back", () => this.user(this.moment - 1)),
      this.play,
      key("forward", "Step forward", () => this.user(this.moment + 1)),
      key("last", "To the end", () => this.user(run.length)),
    ];
    this.told = make("output", { "aria-live": "polite", "aria-atomic": "true" });
    const name = { role: "group", "aria-label": "Slider through the run" };
    const keys = make("div", { class: "keys" }, ...this.buttons);
    this.node = make("div", { class: "slider", ...name }, keys, this.range, this.told);
  }

  /** A step of the user's: it ends playing, and the address may take it in. */
  user(moment) {
    this.stop();
    this.go(moment);
    this.rested(this.moment);
  }

  /** Go to a moment. */
  go(moment) {
    this.moment = Math.max(0, Math.min(moment, this.run.length));
    this.range.value = String(this.moment);
    const text = this.text();
    this.range.setAttribute("aria-valuetext", text);
    const [what, ...rest] = text.split(" · ");
    this.told.replaceChildren(make("b", {}, what), ` · ${rest.join(" · ")}`);
    this.moved(this.moment);
  }

  /** What happens at the moment, in words. */
  text() {
    const { moment, run } = this;
    const parts = [`${moment} of ${run.length}`];
    if (moment === 0) {
      parts.push("before the run");
    } else {
      const { at, kind, call } = this.turn.moments[moment - 1];
      const name = call >= 0 ? ` ${this.turn.calls[call].name}` : "";
      parts.push(at === 0 ? "0 ms" : duration(at), words(kind) + name);
    }
    return [...parts, run.summary(moment).join(", ")].join(" · ");
  }

  /** The call that the moment is about, or -1. */
  get current() {
    return this.moment === 0 || this.moment === this.run.length
      ? -1
      : this.turn.moments[this.moment - 1].call;
  }

  /** A range tells its value by itself, and while it plays there is too much to tell. */
  quiet() {
    const isQuiet = document.activeElement === this.range || this.timer !== null;
    this.told.setAttribute("aria-live", isQuiet ? "off" : "polite");
  }

  toggle() {
    if (this.timer !== null) {
      this.stop();
      this.rested(this.moment);
      return;
    }
    if (this.moment === this.run.length) {
      this.go(0);
    }
    const even = STEP.whole / Math.max(this.run.length, 1);
    const step = Math.max(STEP.least, Math.min(even, STEP.most));
    this.timer = setInterval(() => this.tick(), step);
    this.sign("pause", "Pause");
  }

  tick() {
    if (this.moment < this.run.length) {
      this.go(this.moment + 1);
    }
    if (this.moment === this.run.length) {
      this.stop();
      this.rested(this.moment);
    }
  }

  /** End playing. */
  stop() {
    if (this.timer !== null) {
      clearInterval(this.timer);
      this.timer = null;
      this.sign("play", "Play");
    }
  }

  sign(name, label) {
    this.play.replaceChildren(sign(name));
    this.play.setAttribute("aria-label", label);
    this.play.title = label;
    this.quiet();
  }
}

const sign = (name) =>
  draw("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    draw("path", { d: SIGNS[name], class: "sign" }));

const key = (name, label, press) =>
  make("button", { type: "button", "aria-label": label, title: label, onclick: press }, sign(name));
