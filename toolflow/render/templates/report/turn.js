/** One turn: its plan, timeline, calls, events and messages, and the slider that moves them all. */

import { make } from "./dom.js";
import { Events, Messages } from "./events.js";
import { say } from "./find.js";
import { problems } from "./overview.js";
import { PlanView } from "./plan.js";
import { ALL_TURNS, fragment, note } from "./route.js";
import { Slider } from "./slider.js";
import { Run } from "./state.js";
import { Table } from "./table.js";
import { Timeline } from "./timeline.js";
import { count } from "./words.js";

/** The page of a turn. */
export class TurnView {
  constructor(data, place) {
    const turn = data.turns[place];
    this.turn = turn;
    this.run = new Run(turn);
    this.table = new Table(turn, this.run, data.states);
    this.plan = new PlanView(turn, this.run, (call) => this.goToCall(call));
    this.timeline = new Timeline(turn, this.run, data.states);
    this.slider = new Slider(turn, this.run, () => this.show(), (moment) => this.rest(moment));
    this.events = new Events(turn, (moment) => this.slider.user(moment));
    this.messages = new Messages(turn);
    this.pictures = make("div", { class: "pair" }, this.plan.node, this.timeline.node);
    const lower = make("div", { class: "pair lower" }, this.events.node, this.messages.node);
    this.node = make(
      "article",
      { "aria-labelledby": "title-turn" },
      ways(data.turns, place),
      ...heading(turn),
      this.run.length > 0 ? this.slider.node : "",
      this.pictures,
      this.table.node,
      lower,
    );
  }

  /** Begin at a moment; before, the page must hold the view. */
  begin(moment) {
    this.pictures.classList.toggle("beside", this.plan.isSlim(this.pictures.clientWidth));
    this.plan.settle();
    this.slider.go(moment < 0 ? this.run.length : moment);
  }

  /** End what goes on by itself. */
  end() {
    this.slider.stop();
  }

  /** Show the moment of the slider everywhere. */
  show() {
    const { moment, current } = this.slider;
    this.plan.show(moment, current);
    this.timeline.show(moment, current);
    this.table.show(moment, current);
    this.events.show(moment);
    this.plan.follow(current); // only now: what is written, and then read, is laid out each time
    this.timeline.follow(current);
    this.events.follow(moment);
  }

  rest(moment) {
    note(fragment(this.turn, -1, moment === this.run.length ? -1 : moment));
  }

  /** Go to a call, from a picture or by its address. */
  goToCall(call) {
    this.table.goTo(call, { hasFocus: true });
    note(fragment(this.turn, call));
  }

  /** Go to where something was found. */
  goToHit({ kind, at, isFolded }) {
    this.node.querySelector(".hit")?.classList.remove("hit");
    if (kind === "call") {
      this.table.goTo(at, { isOpen: isFolded });
      this.table.showMark(at);
    } else if (kind === "event") {
      this.events.goTo(at);
      this.events.rowAt(at).classList.add("hit");
    } else if (kind === "message") {
      this.messages.goTo(at);
    } else {
      this.node.scrollIntoView({ block: "start" });
    }
  }
}

function ways(turns, place) {
  const links = [make("a", { href: ALL_TURNS }, "All turns")];
  for (const [step, word] of [[-1, "Previous turn"], [1, "Next turn"]]) {
    const other = turns[place + step];
    if (other !== undefined) {
      links.push(make("a", { href: fragment(other) }, word));
    }
  }
  return make("nav", { "aria-label": "Turns" }, ...links);
}

function heading(turn) {
  const title = make("h2", { id: "title-turn", tabindex: -1 });
  title.append(say(make("span"), turn.id === "" ? `turn ${turn.number}` : turn.id));
  const words = [count(turn.calls.length, "call"), turn.status, turn.time].filter(Boolean);
  title.append(make("small", {}, words.join(" · ")));
  const list = make("dl", { class: "line" });
  for (const [name, text] of turn.facts) {
    list.append(make("div", {}, make("dt", {}, name), say(make("dd"), text)));
  }
  const parts = [title, make("p", { class: "wrong" }, ...problems(turn)), list];
  parts.push(...turn.notices.map((text) => say(make("p", { class: "notice" }), text)));
  if (turn.cut) {
    const cut = "Long texts of this turn are shortened in the middle; they say so.";
    parts.push(make("p", { class: "notice" }, cut));
  }
  return parts;
}
