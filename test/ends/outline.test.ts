/** `filehand outline`, as the built program runs. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLine, type Folder, type Ran, run, temporaryFolder } from "./run.ts";

let folder: Folder;

beforeAll(() => {
  folder = temporaryFolder();
  writeFileSync(join(folder.path, "a.ts"), "export class A {\n  b(): void {}\n}\nexport const c = 1;\n");
  writeFileSync(join(folder.path, "filehand.jsonc"), '{ "longCode": "outline" }');
  writeFileSync(join(folder.path, "long.js"), `function a() {}\n${"// comment\n".repeat(30_000)}function b() {}\n`);
});
afterAll(() => folder.remove());

const filehand = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  run(process.execPath, [commandLine, ...args], { cwd: folder.path, env: { HOME: folder.path, ...env } });

describe("filehand outline", () => {
  test("shows what a file declares, and where", async () => {
    const { code, stdout, stderr } = await filehand(["outline", "a.ts"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      '[Outline of "a.ts": 3 declarations, typescript, 4 lines]\n1-3 class A\n  2 method b\n4 variable c\n',
    );
  });

  test("--depth leaves out what is inside, and says so", async () => {
    const { stdout } = await filehand(["outline", "a.ts", "--depth", "1"]);
    expect(stdout).toContain("1-3 class A (1 more inside)\n4 variable c\n\n[Only the first level is shown]\n");
    const wrong = await filehand(["outline", "a.ts", "--depth", "0"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("--depth must be from 1 to 20") });
  });

  test("--json is the whole reply", async () => {
    const { stdout } = await filehand(["outline", "a.ts", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      isError: false,
      structured: { type: "outline", file: { language: "typescript", totalDeclarations: 3 } },
    });
  });

  test("has colours on a terminal", async () => {
    const { stdout } = await filehand(["outline", "a.ts"], { FORCE_COLOR: "1" });
    expect(stdout).toContain("\u001b[2m1-3\u001b[22m \u001b[36mclass\u001b[39m A");
  });

  test("says what is the case where there is none", async () => {
    writeFileSync(join(folder.path, "a.txt"), "# Title\n");
    const { code, stdout, stderr } = await filehand(["outline", "a.txt"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain('Cannot outline "a.txt": files of this name have no outline');
  });

  test("the setting longCode makes a long file an outline for models, and a range is still a range", async () => {
    const whole = await filehand(["call", "Read", '{"file_path":"long.js"}']);
    expect(whole.stdout).toContain("1 function a\n30002 function b\n");
    const part = await filehand(["call", "Read", '{"file_path":"long.js","offset":30002}']);
    expect(part.stdout).toContain("30002\tfunction b() {}");
  });
});
