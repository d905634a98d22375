/** What every call of a turn does at every moment of its run. */

import { stateWord } from "./words.js";

const NEVER = Infinity;

/**
 * The run of a turn. Moment 0 is before anything happened; moment k is after k of the turn's
 * entries. A call comes (`coming`), may be `waiting` or `asking`, is `running`, and is `settled`.
 */
export class Run {
  constructor(turn) {
    this.turn = turn;
    this.length = turn.moments.length;
    const fresh = () => turn.calls.map(() => NEVER);
    this.seen = { call_queued: fresh(), call_started: fresh(), call_settled: fresh() };
    Object.assign(this.seen, { call_stopped: fresh(), question_asked: fresh() });
    this.seen.question_answered = fresh();
    turn.moments.forEach(({ kind, call }, at) => {
      if (call >= 0 && kind in this.seen) {
        this.seen[kind][call] = Math.min(this.seen[kind][call], at + 1);
      }
    });
    turn.calls.forEach((call, index) => {
      if (call.status !== "" && this.seen.call_settled[index] === NEVER) {
        this.seen.call_settled[index] = 0; // settled in an earlier run of the turn
      }
    });
    this.gates = new Map(); // what leads to each
    this.nodeOf = new Map(
      turn.nodes.flatMap(([, , calls], at) => calls.map((call) => [call, at])),
    );
  }

  /** Seconds since the run began. */
  time(moment) {
    return moment === 0 ? 0 : this.turn.moments[moment - 1].at;
  }

  /** What a call does: a phase, or `settled`. */
  phase(index, moment) {
    const seen = (kind) => this.seen[kind][index] <= moment;
    if (seen("call_settled")) {
      return "settled";
    }
    if (seen("question_asked") && !seen("question_answered")) {
      return "asking";
    }
    if (seen("call_started")) {
      return "running";
    }
    const { queued } = this.turn.calls[index];
    const isDue = queued !== null && moment > 0 && queued <= this.time(moment);
    return seen("call_queued") || isDue || this.isFree(index, moment) ? "waiting" : "coming";
  }

  /** Whether the plan holds a call back no more, so that only a permit or a resource is missing. */
  isFree(index, moment) {
    const node = this.nodeOf.get(index);
    if (moment === 0 || moment === this.length || this.turn.from !== "events") {
      return false;
    }
    const isOpen = (call) => this.seen.call_settled[call] > moment;
    const isBehind = ([before]) => this.callsAt(before).some(isOpen);
    return node === this.firstOpen(moment).node && !this.turn.behind[index].some(isBehind);
  }

  /** Whether a body still runs although its outcome was reported. */
  isLate(index, moment) {
    const stopped = this.seen.call_stopped[index];
    return stopped !== NEVER && this.seen.call_settled[index] <= moment && moment < stopped;
  }

  /** The same in a word. */
  word(index, moment) {
    const phase = this.phase(index, moment);
    if (phase !== "settled") {
      return moment === this.length && phase === "coming" ? "no result" : WORDS[phase];
    }
    const word = stateWord(this.turn.calls[index].status);
    return this.isLate(index, moment) ? `${word}, still running` : word;
  }

  /** What a call that has not started waits for, as places of calls and a sentence. */
  waitsFor(index, moment) {
    const phase = this.phase(index, moment);
    if (phase === "asking") {
      return { calls: [], text: "for a person's answer" };
    }
    if (this.turn.from !== "events" || (phase !== "coming" && phase !== "waiting")) {
      return null;
    }
    const open = (call) => this.phase(call, moment) !== "settled";
    for (const [before, why] of this.turn.behind[index] ?? []) {
      const calls = this.callsAt(before).filter(open);
      if (calls.length > 0) {
        return { calls, text: why };
      }
    }
    const node = this.nodeOf.get(index);
    const first = this.firstOpen(moment);
    if (first.node < node) {
      return { calls: [], text: `for ${this.turn.nodes[first.node][0]} to settle` };
    }
    const text = "for a permit, a resource, or a key held elsewhere";
    return phase === "waiting" ? { calls: [], text } : null;
  }

  /** The first pool or barrier with calls that have not settled. */
  firstOpen(moment) {
    if (this.open?.moment !== moment) {
      const isOpen = (call) => this.seen.call_settled[call] > moment;
      const node = this.turn.nodes.findIndex(([, , calls]) => calls.some(isOpen));
      this.open = { moment, node: node < 0 ? NEVER : node };
    }
    return this.open;
  }

  /** The calls that stand for a vertex: itself, or all that lead to a gate. */
  callsAt(vertex) {
    const { calls, behind } = this.turn;
    if (vertex < calls.length) {
      return [vertex];
    }
    if (!this.gates.has(vertex)) {
      const reached = new Set([vertex]); // it grows while it is walked through
      for (const at of reached) {
        (at < calls.length ? [] : behind[at]).forEach(([before]) => reached.add(before));
      }
      this.gates.set(vertex, [...reached].filter((at) => at < calls.length));
    }
    return this.gates.get(vertex);
  }

  /** How many calls do what, in words. */
  summary(moment) {
    const found = new Map();
    this.turn.calls.forEach((_, index) => {
      const phase = this.phase(index, moment);
      found.set(phase, (found.get(phase) ?? 0) + 1);
    });
    const order = ["running", "asking", "waiting", "coming", "settled"];
    return order.filter((one) => found.has(one)).map((one) => `${found.get(one)} ${WORDS[one]}`);
  }
}

/** The words for what a call does. */
export const WORDS = {
  coming: "to come",
  waiting: "waiting",
  asking: "asks",
  running: "running",
  settled: "settled",
};
