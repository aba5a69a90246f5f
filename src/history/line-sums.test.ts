import { equal } from "node:assert/strict";
import { crc32 } from "node:zlib";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import * as lineSums from "./record.ts";

const areSumsRight = (bytes: Buffer): boolean => lineSums.areSumsRight(bytes, bytes.toString("utf8"));

const line = (body: string): string => `${crc32(body).toString(16).padStart(8, "0")} ${body}`;
const right = ["a", "", "{}", "ä € 𝄞", "x".repeat(5_000), "b"].map(line);

describe("areSumsRight", () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ["nothing", "", true],
    ["only newlines", "\n\n\n", true],
    ["one line", line("one"), true],
    ["an empty body", line(""), true],
    ["lines with newlines before them", right.map((one) => `\n${one}`).join(""), true],
    ["lines with newlines behind them, and empty ones", right.map((one) => `${one}\n\n`).join(""), true],
    ["a line that was torn in its body", `\n${line("whole")}\n${line("torn").slice(0, -1)}`, false],
    ["a line that was torn in its checksum", `\n${line("whole")}\n${line("torn").slice(0, 5)}`, false],
    ["a line that was torn behind its checksum", `\n${line("whole")}\n${line("torn").slice(0, 8)}`, false],
    ["a checksum in capitals", `\n${line("c").toUpperCase().replace("C", "c")}`, false],
    ["two bodies that were exchanged", `${line("a").slice(0, 9)}b\n${line("b").slice(0, 9)}a`, false],
  ];
  for (const [name, text, expected] of table) test(name, () => equal(areSumsRight(Buffer.from(text)), expected));

  test("every single byte that is another is noticed", () => {
    const bytes = Buffer.from(`\n${["first", "second line", "ü"].map(line).join("\n")}`);
    for (let at = 0; at < bytes.length; at += 1) {
      for (const flip of [1, 0x20, 0x80]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ flip;
        equal(areSumsRight(damaged), false, `byte ${at} by ${flip}`);
      }
    }
  });

  test("says what a look at each line says", () => {
    const bodies = fc.array(
      fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\n", " ")),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(bodies, fc.nat(), fc.nat(255), (all, place, flip) => {
        const bytes = Buffer.from(all.map((body) => `\n${line(body)}`).join(""));
        equal(areSumsRight(bytes), true);
        const at = place % Math.max(1, bytes.length);
        if (bytes.length === 0 || flip === 0) return;
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        equal(areSumsRight(bytes), linesAreRight(bytes));
      }),
    );
  });
});

function linesAreRight(bytes: Buffer): boolean {
  return bytes
    .toString("latin1")
    .split("\n")
    .every((text) => text === "" || mended(text) === text);
}

/** The same line with the checksum that it should have; of bytes, since they need not be text any more. */
function mended(text: string): string {
  const body = Buffer.from(text.slice(9), "latin1");
  return `${crc32(body).toString(16).padStart(8, "0")} ${text.slice(9)}`;
}
