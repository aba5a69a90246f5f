/** `filehand stats`: what the calls of the command line came to, by day. */

import type { Command } from "../command.ts";
import { openSession } from "../open-session.ts";
import { printJson } from "../print.ts";

export const stats: Command = {
  name: "stats",
  summary: "Show how many calls were made and how many tokens they gave and saved",
  parameters: [],
  options: {},
  details: "Tokens are estimates. Saved are those of repeated reads that were answered with a stub.",
  examples: ["filehand stats", "filehand stats --json"],
  async run(given, host) {
    const { figures } = await openSession(given, host, "people");
    const days = new Map<string, { calls: number; failures: number; tokensGiven: number; tokensSaved: number }>();
    for (const one of figures()) {
      const day = String(one.time).slice(0, 10);
      const sum = days.get(day) ?? { calls: 0, failures: 0, tokensGiven: 0, tokensSaved: 0 };
      for (const key of ["calls", "failures", "tokensGiven", "tokensSaved"] as const) sum[key] += one[key];
      days.set(day, sum);
    }
    const rows = [...days].map(([day, sum]) => ({ day, ...sum }));
    if (given.flag("json")) {
      printJson(rows, host);
      return 0;
    }
    if (rows.length === 0) {
      host.stdout.write("No calls were made yet\n");
      return 0;
    }
    const cells = [
      ["day", "calls", "failed", "tokens given", "tokens saved"],
      ...rows.map((row) => [row.day, row.calls, row.failures, row.tokensGiven, row.tokensSaved].map(shown)),
    ];
    const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
    for (const row of cells) {
      const line = row.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      );
      host.stdout.write(`${line.join("  ")}\n`);
    }
    return 0;
  },
};

const shown = (value: string | number): string =>
  typeof value === "string" ? value : Math.round(value).toLocaleString("en-US");
