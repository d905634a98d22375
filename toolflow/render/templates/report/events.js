/** The list of events, and the messages that were committed. */

import { make, scrollInside, section } from "./dom.js";
import { say } from "./find.js";
import { fragment } from "./route.js";
import { count, duration, words } from "./words.js";

const SOURCES = {
  events: "",
  times: "No events are recorded; these are made of the times of the calls.",
};

/** The part of the page with the events. */
export class Events {
  constructor(turn, jump) {
    this.rows = turn.moments.map((moment, at) => eventRow(turn, moment, at, jump));
    const told = SOURCES[turn.from] ?? "Neither events nor times are recorded.";
    const list = make("ol", { class: "scroll", tabindex: 0, "aria-labelledby": "title-events" });
    list.append(...this.rows);
    this.list = list;
    const note = told === "" ? "" : make("p", { class: "plain" }, told);
    this.node = section("events", "Events", note, this.rows.length > 0 ? list : "");
  }

  /** Show a moment. */
  show(moment) {
    this.rows.forEach((row, at) => {
      row.classList.toggle("past", at < moment);
      row.classList.toggle("current", at === moment - 1);
      if (at === moment - 1) {
        row.setAttribute("aria-current", "step");
      } else {
        row.removeAttribute("aria-current");
      }
    });
  }

  /** Bring the event of a moment into view. */
  follow(moment) {
    if (moment > 0) {
      scrollInside(this.list, this.rows[moment - 1]);
    }
  }

  /** Go to an event. */
  goTo(at) {
    scrollInside(this.list, this.rows[at]);
    this.list.scrollIntoView({ block: "nearest" });
  }

  rowAt(at) {
    return this.rows[at];
  }
}

function eventRow(turn, { at, kind, call, text }, place, jump) {
  const go = make("button", { type: "button", class: "at", onclick: () => jump(place + 1) });
  go.textContent = at === 0 ? "0" : duration(at);
  go.setAttribute("aria-label", `To moment ${place + 1}, ${go.textContent}`);
  const row = make("li", {}, go, say(make("span", { class: "kind" }), words(kind)));
  if (call >= 0) {
    row.append(say(make("a", { href: fragment(turn, call) }), turn.calls[call].name));
  }
  if (text !== "") {
    row.append(say(make("code"), text));
  }
  return row;
}

/** The part of the page with the messages; each is unfolded by a press. */
export class Messages {
  constructor(turn) {
    this.folds = turn.messages.map(({ role, text }, at) => {
      const title = make("summary", {}, `${at + 1}. ${role || "message"} `);
      title.append(make("small", {}, count(text.length, "character")));
      const fold = make("details", {}, title);
      fold.addEventListener("toggle", () => unfold(fold, text, title.textContent));
      return fold;
    });
    const none = make("p", { class: "plain" }, "Nothing was committed, or it was not recorded.");
    const parts = this.folds.length > 0 ? this.folds : [none];
    this.node = section("messages", "Committed messages", ...parts);
  }

  /** Go to a message. */
  goTo(at) {
    this.folds[at].open = true;
    this.folds[at].scrollIntoView({ block: "nearest" });
  }
}

function unfold(fold, text, label) {
  if (fold.open && fold.childElementCount === 1) {
    fold.append(say(make("pre", { tabindex: 0, role: "group", "aria-label": label }), text));
  }
}
