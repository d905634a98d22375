/** The page: its head with the search, the list of turns or one turn, and the address. */

import { button, byId, make } from "./dom.js";
import { forget, hitsIn, isLooking, lookFor } from "./find.js";
import { Overview } from "./overview.js";
import { ALL_TURNS, fragment, note, placeOf } from "./route.js";
import { TurnView } from "./turn.js";
import { count } from "./words.js";

const PAUSE = 150; // milliseconds without a key before a search

class Page {
  constructor(data) {
    this.data = data;
    this.view = null;
    this.place = -2; // of the turn that is shown; -1: all turns
    this.hits = []; // for every turn
    this.flat = []; // pairs of turn and hit
    this.at = -1;
    byId("head").append(...this.head());
    addEventListener("hashchange", () => this.arrive());
    addEventListener("click", (event) => this.press(event));
    this.arrive();
  }

  head() {
    const list = make("dl", { class: "line" });
    for (const [name, text] of this.data.facts) {
      list.append(make("div", {}, make("dt", {}, name), make("dd", {}, text)));
    }
    this.field = make("input", {
      type: "search",
      "aria-label": "Search in calls, results, events and messages",
      placeholder: "Search calls, results, events …",
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => this.soon(),
      onkeydown: (event) => this.key(event),
    });
    this.told = make("output", { "aria-live": "polite" });
    const back = button("Previous", () => this.step(-1));
    const next = button("Next", () => this.step(1));
    this.steps = [back, next];
    this.steps.forEach((one) => one.setAttribute("disabled", ""));
    const search = make("div", { role: "search" }, this.field, back, next, this.told);
    return [make("div", {}, make("h1", {}, this.data.title), list), search];
  }

  /** A link to where the address is already changes nothing in it, but should lead there. */
  press(event) {
    const address = event.target.closest("a")?.getAttribute("href");
    if (address === "#main") {
      event.preventDefault(); // the address keeps its place
      byId("main").focus();
    } else if (address !== undefined && address === location.hash) {
      this.arrive();
    }
  }

  /** Go where the address says; by itself a page with one turn shows that turn. */
  arrive() {
    const { turns } = this.data;
    const { turn, call, moment } = placeOf(location.hash, turns);
    const isOnly = turns.length === 1 && location.hash !== ALL_TURNS;
    const place = turn < 0 && isOnly ? 0 : turn;
    if (place !== this.place) {
      this.open(place, moment);
    } else if (this.view !== null && moment >= 0) {
      this.view.slider.user(moment);
    }
    if (call >= 0) {
      this.view.table.goTo(call, { hasFocus: true });
    }
  }

  /** Show a turn, or all of them (-1). */
  open(place, moment = -1) {
    const isFirst = this.place === -2;
    this.view?.end();
    forget();
    this.place = place;
    this.view = place < 0 ? null : new TurnView(this.data, place);
    this.overview = place < 0 ? new Overview(this.data) : null;
    const shown = this.view ?? this.overview;
    byId("main").replaceChildren(shown.node);
    const { title } = this.data;
    document.title = this.view === null ? title : `${this.turnTitle()} · ${title}`;
    this.view?.begin(moment);
    this.tellView();
    if (!isFirst) {
      scrollTo(0, 0);
      shown.node.querySelector("h2, h3").setAttribute("tabindex", "-1");
      shown.node.querySelector("h2, h3").focus({ preventScroll: true });
    }
  }

  turnTitle() {
    const { id, number } = this.view.turn;
    return id === "" ? `turn ${number}` : id;
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), PAUSE);
  }

  key(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      this.search();
      this.step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      this.field.value = "";
      this.search();
    }
  }

  search() {
    clearTimeout(this.timer);
    if (this.field.value.trim() === this.sought) {
      return;
    }
    this.sought = this.field.value.trim();
    lookFor(this.sought);
    this.hits = this.data.turns.map((turn) => hitsIn(turn));
    this.flat = this.hits.flatMap((hits, turn) => hits.map((hit) => [turn, hit]));
    this.at = -1;
    this.steps.forEach((one) => one.toggleAttribute("disabled", this.flat.length === 0));
    this.tell();
    this.tellView();
  }

  tell() {
    if (!isLooking()) {
      this.told.textContent = "";
      return;
    }
    const turns = this.hits.filter((hits) => hits.length > 0).length;
    const where = `in ${count(turns, "turn")}`;
    const all = `${count(this.flat.length, "hit")}`;
    this.told.textContent =
      this.at < 0 ? `${all} ${where}` : `${this.at + 1} of ${all} ${where}`;
  }

  /** Tell the view what was found. */
  tellView() {
    this.overview?.found(isLooking() ? this.hits.map((hits) => hits.length) : null);
    const here = this.hits[this.place] ?? [];
    this.view?.table.found(here.filter(({ kind }) => kind === "call"));
  }

  /** Go to the next hit, or the one before. */
  step(by) {
    if (this.flat.length === 0) {
      return;
    }
    const start = this.at < 0 && by > 0 ? this.first() : this.at + by;
    this.at = (start + this.flat.length) % this.flat.length;
    const [turn, hit] = this.flat[this.at];
    if (turn !== this.place) {
      const focused = document.activeElement;
      this.open(turn);
      focused.focus?.({ preventScroll: true });
      note(fragment(this.data.turns[turn]));
    }
    this.view.goToHit(hit);
    this.tell();
  }

  /** The first hit of the turn that is shown, or of all. */
  first() {
    const at = this.flat.findIndex(([turn]) => turn === this.place);
    return Math.max(at, 0);
  }
}

const data = JSON.parse(byId("data").textContent);
data.turns.forEach((turn, at) => Object.assign(turn, data.places[at]));
new Page(data);
