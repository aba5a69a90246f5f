/** The commands of a shell line, by their words; nothing is run or expanded. Linear in the length of the line. */

/** One command of a line, with the files that its output is redirected to. */
export interface SimpleCommand {
  readonly words: readonly string[];
  readonly targets: readonly string[];
  /** Its input is the output of the command before it. */
  readonly isPiped: boolean;
  /** Its output is not redirected; that of errors may be. */
  readonly prints: boolean;
}

/** Quotes are taken off, comments and the bodies of heredocs are left out. What a substitution runs counts as a command, too. */
export function simpleCommands(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let targets: string[] = [];
  let word: string | undefined;
  let isPiped = false;
  let isTarget = false;
  let prints = true;
  const heredocs: string[] = [];
  const endWord = (): void => {
    if (word === undefined) return;
    if (isTarget) targets.push(word);
    else words.push(word);
    isTarget = false;
    word = undefined;
  };
  const endCommand = (next: "piped" | "alone"): void => {
    endWord();
    if (words.length > 0 || targets.length > 0) commands.push({ words, targets, isPiped, prints });
    [words, targets, isPiped, isTarget, prints] = [[], [], next === "piped", false, true];
  };
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? "";
    const next = text[at + 1];
    if (sign === "\\") {
      if (next !== "\n") word = (word ?? "") + (next ?? "");
      at += 1;
    } else if (sign === "'" || sign === '"') {
      const end = closing(text, at, sign);
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (sign === "#" && word === undefined) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end - 1;
    } else if (sign === "<" && next === "<" && text[at + 2] !== "<") {
      const [mark = "", name = ""] = /^<<-?\s{0,9}["']?([A-Za-z_]\w{0,99})["']?/.exec(text.slice(at, at + 120)) ?? [];
      if (name !== "") heredocs.push(name);
      endWord();
      at += Math.max(mark.length, 2) - 1;
    } else if (sign === "\n" && heredocs.length > 0) {
      endCommand("alone");
      for (const name of heredocs.splice(0)) at = endOfHeredoc(text, at, name);
      at -= 1;
    } else if (sign === ">") {
      // The number of a descriptor before it is no word.
      if (word !== "2") prints = false;
      if (word !== undefined && /^[12&]$/.test(word)) word = undefined;
      endWord();
      if (next === ">" || next === "|") at += 1;
      isTarget = true;
    } else if (sign === "|" || sign === ";" || sign === "&" || sign === "\n" || sign === "(" || sign === ")") {
      if (sign === "&" && isTarget && word === undefined) {
        word = "&";
        continue;
      }
      if ((sign === "|" || sign === "&") && next === sign) {
        endCommand("alone");
        at += 1;
      } else endCommand(sign === "|" ? "piped" : "alone");
    } else if (sign === " " || sign === "\t" || sign === "\r") endWord();
    else word = (word ?? "") + sign;
  }
  endCommand("alone");
  return commands;
}

/** Where a quotation ends; at the end of the text if it does not. */
function closing(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === "\\") at += 1;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

/** The position after the line that ends a heredoc. */
function endOfHeredoc(text: string, from: number, name: string): number {
  for (let start = from + 1; start <= text.length; ) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end === -1 ? text.length : end);
    if (line.trim() === name) return end === -1 ? text.length : end;
    if (end === -1) break;
    start = end + 1;
  }
  return text.length;
}
