/** The search: where in all turns a text occurs, and marks where it is shown. */

import { make } from "./dom.js";
import { words } from "./words.js";

const MOST_MARKS = 500; // in one text
const places = new Map(); // what is shown at present: element -> its text
const marked = new Set(); // elements with marks
const known = new Map(); // turn -> what can be found in it
let pattern = null;

/** Show a text of the recording, with what is looked for marked; also when that changes. */
export function say(node, text) {
  places.set(node, text);
  marked.delete(node);
  node.textContent = text;
  mark(node, text);
  return node;
}

/** Forget what was shown before. */
export function forget() {
  places.clear();
  marked.clear();
}

/** Look for a text; an empty one looks for nothing. */
export function lookFor(text) {
  const plain = text.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  pattern = plain === "" ? null : new RegExp(plain, "giu");
  for (const node of marked) {
    node.textContent = places.get(node);
  }
  marked.clear();
  for (const [node, shown] of places) {
    mark(node, shown);
  }
}

/** Whether anything is looked for. */
export const isLooking = () => pattern !== null;

/** Where it occurs in a turn: kinds (`turn`, `call`, `event`, `message`) and places, in order. */
export function hitsIn(turn) {
  if (pattern === null) {
    return [];
  }
  return entriesOf(turn).flatMap(({ kind, at, open, folded }) => {
    const inOpen = open.some(holds);
    return inOpen || folded.some(holds) ? [{ kind, at, isFolded: !inOpen }] : [];
  });
}

function holds(text) {
  return text.search(pattern) >= 0;
}

function entriesOf(turn) {
  if (!known.has(turn)) {
    known.set(turn, [headEntry(turn), ...callEntries(turn), ...eventEntries(turn), ...rest(turn)]);
  }
  return known.get(turn);
}

const entry = (kind, at, open, folded = []) => ({ kind, at, open, folded });

const headEntry = (turn) =>
  entry("turn", 0, [turn.id, ...turn.facts.map(([, text]) => text), ...turn.notices]);

const callEntries = (turn) =>
  turn.calls.map((call, at) => {
    const keys = call.keys.map(([, key]) => key);
    const open = [call.label, call.name, call.tool, call.verdict, call.reason, ...keys];
    open.push(words(call.status));
    return entry("call", at, open, foldedTexts(call));
  });

const foldedTexts = (call) =>
  ["args", "sent", "raw", "problem", "result", "error", "note", "ask"]
    .map((name) => call[name])
    .filter((text) => text !== undefined);

const eventEntries = (turn) =>
  turn.moments.map(({ kind, call, text }, at) =>
    entry("event", at, [words(kind), call >= 0 ? turn.calls[call].name : "", text]),
  );

const rest = (turn) => turn.messages.map(({ text }, at) => entry("message", at, [], [text]));

/** Mark what is looked for; most texts do not hold it and are left alone. */
function mark(node, text) {
  if (pattern !== null && holds(text)) {
    node.replaceChildren(...partsOf(text));
    marked.add(node);
  }
}

/** A text cut where marks begin and end. */
function* partsOf(text) {
  let end = 0;
  let number = 0;
  for (const match of text.matchAll(pattern)) {
    yield text.slice(end, match.index);
    yield make("mark", {}, match[0]);
    end = match.index + match[0].length;
    number += 1;
    if (number === MOST_MARKS) {
      break;
    }
  }
  yield text.slice(end);
}
