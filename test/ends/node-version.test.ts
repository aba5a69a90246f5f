/** A Node that is too old gets a sentence that says so, at every entry, before any code that it could not parse or run. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { commandLine, project, run, temporaryFolder } from "./run.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Loaded first; it makes this Node claim to be another one. */
const claim = (version: string): string => {
  const file = join(folder.path, `claim-${version}.cjs`);
  const versions = `{ ...process.versions, node: "${version}" }`;
  writeFileSync(file, `Object.defineProperty(process, "versions", { value: ${versions} });\n`);
  return file;
};
const sentence = (version: string): string =>
  `Filehand needs Node 20.19 or newer, and this is Node ${version}: install the current one from ` +
  "https://nodejs.org/en/download, or with a version manager (nvm install 24, fnm install 24, volta install node@24)";

interface PackageFile {
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, string | Record<"import" | "require", { readonly default: string }>>>;
}
const { engines, exports } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as PackageFile;
const entries = Object.values(exports).flatMap((one) =>
  typeof one === "string" ? [] : [one.import.default, one.require.default],
);

test("the version of the check is the one of package.json", () => {
  expect(engines.node).toBe(">=20.19.0");
});

for (const version of ["18.20.8", "20.9.0", "20.18.3"]) {
  test(`the command line on Node ${version}: one line, exit code 1`, async () => {
    const ran = await run(process.execPath, ["--require", claim(version), commandLine, "read", "x"], { cwd: project });
    expect(ran).toEqual({ code: 1, stdout: "", stderr: `${sentence(version)}\n` });
  });
}

for (const version of ["20.19.0", "22.1.0", "26.0.0"]) {
  test(`the command line runs on Node ${version}`, async () => {
    const ran = await run(process.execPath, ["--require", claim(version), commandLine, "--version"], { cwd: project });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
  });
}

describe("every entry of the library", () => {
  test("both kinds of import are checked", () => expect(entries.length).toBeGreaterThan(20));

  for (const entry of entries) {
    test(entry, async () => {
      const path = JSON.stringify(join(project, entry));
      const load = entry.endsWith(".cjs") ? `new Promise(() => require(${path}))` : `import(${path})`;
      const script = `${load}.catch(({ code, message }) => console.log(JSON.stringify([code, message])))`;
      const { stdout } = await run(process.execPath, ["--require", claim("18.20.8"), "--eval", script], {
        cwd: project,
      });
      expect(JSON.parse(stdout)).toEqual(["FILEHAND_NODE_TOO_OLD", sentence("18.20.8")]);
    });
  }
});

test("the files that are loaded before the check are ES5", () => {
  for (const file of ["filehand.cjs", "node-version.cjs"]) {
    const code = readFileSync(join(project, "dist", file), "utf8").replaceAll(/\/\/.*|"[^"]*"/g, "");
    expect(code).not.toMatch(/`|=>|\?\?|\?\.|\b(?:const|let|class|async|import|export)\b|\.\.\./);
  }
});
