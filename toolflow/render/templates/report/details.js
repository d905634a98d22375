/** What the table has no room for: arguments, result, error, keys, terms and times of a call. */

import { make } from "./dom.js";
import { say } from "./find.js";

const TEXTS = [
  ["problem", "Why it cannot be read"],
  ["raw", "Arguments as received"],
  ["args", "Arguments"],
  ["sent", "Arguments as the model sent them"],
  ["error", "Error"],
  ["result", "Result"],
  ["note", "Note"],
];

/** The details of a call; texts are put in only now, so that a large turn opens at once. */
export function detailsOf(turn, call) {
  const blocks = TEXTS.filter(([name]) => name in call).map(([name, title]) =>
    block(title, call[name]),
  );
  if (call.status === "") {
    blocks.push(make("p", { class: "plain" }, "No result is recorded."));
  } else if (!("result" in call) && !("error" in call)) {
    blocks.push(make("p", { class: "plain" }, "It returned nothing."));
  }
  for (const image of call.images ?? []) {
    blocks.push(make("p", { class: "plain" }, `A picture that is not shown: ${image}.`));
  }
  return make("div", { class: "details" }, make("div", { class: "texts" }, ...blocks), facts(call));
}

function block(title, text) {
  const shown = say(make("pre", { tabindex: 0, role: "group", "aria-label": title }), text);
  return make("div", { class: "block" }, make("h4", {}, title), shown);
}

function facts(call) {
  const rows = [["call", call.name], ["tool", call.tool]];
  rows.push(...(call.ask !== undefined ? [["asks", call.ask]] : []));
  rows.push(...call.keys);
  if (call.keys.length === 0 && call.verdict !== "" && call.verdict !== "settled") {
    rows.push(["keys", call.declared ? "declared: touches nothing" : "none declared"]);
  }
  rows.push(...(call.terms.length > 0 ? [["terms", call.terms.join(", ")]] : []));
  rows.push(...call.times);
  rows.push(...(call.late ? [["ran on", `${call.late} after its outcome was reported`]] : []));
  const list = make("dl", { class: "facts" });
  for (const [name, text] of rows) {
    list.append(make("dt", {}, name), say(make("dd"), text));
  }
  return list;
}
