/**
 * Where in the recording the page is, as the fragment of its address: `#turn-2`, `#turn-2/c3`,
 * `#turn-2@17`. Links are made of places, never of what a recording says; names work too, for
 * whoever writes an address by hand.
 */

/** The fragment of the list of turns. */
export const ALL_TURNS = "#turns";

/** The fragment of a turn, of a call in it, or of a moment. */
export function fragment(turn, call = -1, moment = -1) {
  const inside = call >= 0 ? `/${turn.calls[call].key}` : "";
  return `#${turn.key}${inside}${moment >= 0 ? `@${moment}` : ""}`;
}

/** What a fragment names: places of a turn and a call, and a moment; -1 for what it does not. */
export function placeOf(text, turns) {
  const [path, at] = parted(text.replace(/^#/, ""), "@");
  const [turnName, callName] = parted(path, "/").map(decoded);
  const turn = found(turns, turnName, (one) => [one.key, one.id]);
  const call = turn < 0 ? -1 : found(turns[turn].calls, callName, (one) => [one.key, one.name]);
  const moment = turn >= 0 && /^\d{1,9}$/.test(at) ? Number(at) : -1;
  return { turn, call, moment };
}

/** Change the address without going anywhere. */
export function note(address) {
  history.replaceState(null, "", address);
}

function parted(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function found(entries, name, namesOf) {
  if (name === "") {
    return -1;
  }
  const at = entries.findIndex((entry) => namesOf(entry)[0] === name);
  return at >= 0 ? at : entries.findIndex((entry) => namesOf(entry)[1] === name);
}
