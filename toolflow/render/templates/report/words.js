/** Words and numbers, as people read them. */

const round = (value) => String(Number(value.toPrecision(3)));

/** A name of the data as words: `call_started` as "call started". */
export const words = (name) => name.replaceAll("_", " ");

/** A number with its noun: "1 call", "1,200 calls". */
export const count = (number, noun) =>
  `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** A span of time: "40 ms", "2.5 s", "2 m", "1 h 5 m". */
export function duration(seconds) {
  if (seconds < 0.9995) {
    return `${round(seconds * 1000)} ms`;
  }
  if (seconds < 60) {
    return `${round(seconds)} s`;
  }
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 3600), "h"],
    [Math.floor(whole / 60) % 60, "m"],
    [whole % 60, "s"],
  ];
  return parts.filter(([number]) => number).map(([number, unit]) => `${number} ${unit}`).join(" ");
}

/** What a state is called: the word of an outcome, or that there is none. */
export const stateWord = (status) => (status === "" ? "no result" : words(status));
