/** The picture of a plan, in which the calls show what they do at the moment of the slider. */

import { button, byId, draw, make, scrollInside, section } from "./dom.js";

const LEAST_SCALE = 0.7; // smaller letters cannot be read
const SLIM = 0.4; // of the page

/** The part of the page with the plan: as a picture if there is one, and as text. */
export class PlanView {
  constructor(turn, run, choose) {
    this.turn = turn;
    this.run = run;
    this.boxes = [];
    this.scroll = turn.picture >= 0 ? this.picture(choose) : null;
    const lines = [];
    if (turn.undrawn !== "") {
      lines.push(make("p", { class: "plain" }, turn.undrawn));
    }
    if (turn.from !== "events" && turn.text !== "") {
      const text = "No run of this plan is recorded: it is what a policy makes of the turn.";
      lines.push(make("p", { class: "plain" }, text));
    }
    this.node = section("plan", "Plan", this.fit ?? null, ...lines, this.scroll, this.asText());
  }

  asText() {
    if (this.turn.text === "") {
      return null;
    }
    const text = make("pre", { tabindex: 0, role: "group", "aria-label": "Plan as text" });
    text.textContent = this.turn.text;
    const title = make("summary", {}, "As text");
    return make("details", { open: this.turn.picture < 0 }, title, text);
  }

  picture(choose) {
    const content = byId(`picture-${this.turn.picture}`).content;
    const svg = document.importNode(content, true).querySelector("svg");
    this.turn.calls.forEach((call, index) => {
      const group = svg.querySelector(`g.call-${index + 1}`);
      if (group !== null) {
        group.addEventListener("click", () => choose(index));
        this.boxes[index] = boxOf(group, call);
      }
    });
    const label = "Picture of the plan; the table of calls says the same";
    const scroll = { class: "picture scroll", tabindex: 0, role: "group", "aria-label": label };
    this.svg = svg;
    this.fit = button("fit", () => this.press(), { "aria-pressed": "false", class: "fit" });
    return make("div", scroll, svg);
  }

  press() {
    this.setFit(this.fit.getAttribute("aria-pressed") === "false");
  }

  /** Whether the whole width of the picture is shown, however small it becomes. */
  setFit(isFit) {
    this.fit.setAttribute("aria-pressed", String(isFit));
    this.svg.classList.toggle("fitted", isFit);
  }

  /** Whether the picture leaves room for the timeline beside it. */
  isSlim(room) {
    const { width } = this.svg?.getBoundingClientRect() ?? { width: 0 };
    return width > 0 && width < room * SLIM;
  }

  /** Fit the picture into the room there is, as long as it can be read then. */
  settle() {
    const { width } = this.svg?.getBoundingClientRect() ?? {};
    if (width > 0) {
      this.setFit(this.scroll.clientWidth / width > LEAST_SCALE);
      this.fit.hidden = width <= this.scroll.clientWidth;
    }
  }

  /** Show a moment; `current` is the call that it is about, or -1. */
  show(moment, current) {
    this.boxes.forEach((box, index) => {
      const phase = this.run.phase(index, moment);
      const isEnd = phase === "settled" || moment === this.run.length;
      box.group.classList.remove("coming", "waiting", "asking", "running");
      if (!isEnd || phase === "running") {
        box.group.classList.add(phase);
      }
      box.group.classList.toggle("late", this.run.isLate(index, moment));
      box.group.classList.toggle("current", index === current);
      if (box.word !== null) {
        box.word.textContent = isEnd ? box.last : this.run.word(index, moment);
      }
    });
  }

  /** Bring a call into view, if it is there. */
  follow(current) {
    const box = this.boxes[current];
    if (this.scroll !== null && box !== undefined) {
      scrollInside(this.scroll, box.group);
    }
  }
}

/** A call's group, with a frame for what it does and the line of text that tells its state. */
function boxOf(group, call) {
  const outline = group.querySelector("polygon, path");
  const frame = frameOf(outline);
  const texts = group.querySelectorAll("text");
  outline.before(draw("rect", { class: "ring", ...grown(frame, 4) }));
  outline.before(draw("rect", { class: "now", ...frame }));
  const hasWord = call.status !== "" && call.verdict !== "settled" && texts.length > 1;
  const word = hasWord ? texts[texts.length - 1] : null;
  return { group, word, last: word?.textContent };
}

/** The rectangle around an outline, which is drawn in absolute coordinates. */
function frameOf(outline) {
  const text = outline.getAttribute("points") ?? outline.getAttribute("d") ?? "";
  const numbers = (text.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
  const [xs, ys] = [0, 1].map((odd) => numbers.filter((_, at) => at % 2 === odd));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

const grown = ({ x, y, width, height }, by) => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});
