/**
 * What a terminal would have left standing of a program's output: colours and other escapes gone, progress bars in
 * their last state. Linear, whatever the output holds.
 */

/** Anything that is not plain text: controls but tab and newline, and the one-character form of ESC [. */
const controls = /[\0-\x08\x0b-\x1f\x7f\x9b]/;

/** ESC [ K and its like: the line is wiped, at least from here on. */
const wipes = /(?:\x1b\[|\x9b)[0-2]?K/g;
/** CSI sequences, then OSC and other strings up to their end on the same line, then what is shorter. */
const escapes = /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|\x1b/g;

/** Stands for a wipe while a line is put together; a NUL has no other meaning there. */
const wiped = "\0";

export function terminalText(raw: string): string {
  if (!controls.test(raw)) return raw;
  const text = raw.replaceAll(wiped, "").replace(wipes, wiped).replace(escapes, "");
  return text
    .split("\n")
    .map(settleLine)
    .join("\n")
    .replace(/[\0-\x08\x0b-\x1f\x7f]+/g, "");
}

/**
 * The last state of a line that was written over and over. Each pass after a carriage return covers the earlier ones
 * up to its own length, so the passes are looked at from the last: every one adds only what sticks out.
 */
function settleLine(line: string): string {
  if (!line.includes("\r") && !line.includes("\b")) return line;
  const passes = line.split("\r");
  let shown = "";
  for (let index = passes.length - 1; index >= 0; index -= 1) {
    const pass = passes[index] ?? "";
    const plain = rubOut(pass).replaceAll(wiped, "");
    if (plain.length > shown.length) shown += plain.slice(shown.length);
    if (pass.includes(wiped)) break;
  }
  return shown;
}

/** A backspace takes back the character before it. */
function rubOut(pass: string): string {
  if (!pass.includes("\b")) return pass;
  const kept: string[] = [];
  for (const character of pass) {
    if (character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}
