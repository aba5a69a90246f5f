/**
 * What a model is told of a tool promises just the guard that is configured. A line of a description that begins with a
 * mark stands only where the option is so: `[read first]`, `[stale refused]`, `[stale matched]`.
 */

export interface Guarding {
  readonly readFirst: boolean;
  readonly staleness: "refuse" | "content-match";
}

export function described(text: string, { readFirst, staleness }: Guarding): string {
  const holds: Readonly<Record<string, boolean>> = {
    "read first": readFirst,
    "stale refused": readFirst && staleness === "refuse",
    "stale matched": readFirst && staleness === "content-match",
  };
  return text
    .split("\n")
    .flatMap((line) => {
      const [, mark, rest] = /^\[([a-z ]+)\] (.*)$/.exec(line) ?? [];
      if (mark === undefined || rest === undefined) return [line];
      return holds[mark] === true ? [rest] : [];
    })
    .join("\n");
}
