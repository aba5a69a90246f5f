/**
 * What ripgrep shall leave out, as an ignore file that it reads quickly: it compiles every line by itself, so lines that
 * follow each other become one where they mean the same together.
 */

/** Lines in the form of gitignore, the last one that fits decides. Braces are alternatives to ripgrep, not to Git. */
export function leftOutText(lines: readonly string[]): string {
  const merged: string[] = [];
  let names: string[] = [];
  let negated = false;
  const flush = (): void => {
    if (names.length > 0)
      merged.push(`${negated ? "!" : ""}**/${names.length > 1 ? `{${names.join(",")}}` : names[0]}`);
    names = [];
  };
  for (const line of lines) {
    if (line === "") continue;
    const [, not = "", name] = /^(!?)\*\*\/([^/{},\\\s]+)$/.exec(line) ?? [];
    if (name === undefined || (not === "!") !== negated) flush();
    negated = not === "!";
    if (name === undefined) merged.push(line);
    else names.push(name);
  }
  flush();
  return merged.map((line) => `${line}\n`).join("");
}
