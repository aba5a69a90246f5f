/** The documentation: links lead somewhere, commands print what the pages say, samples compile and run. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, type ParseError } from "jsonc-parser";
import { describe, expect, onTestFinished, test } from "vitest";
import { parts, unlisted } from "../../docs/.vitepress/navigation.js";
import { tableIn } from "../../scripts/bench-plots.ts";
import { variables } from "../../scripts/reference-pages.ts";
import { playMessagesApi } from "../support/anthropic-api.ts";
import { blocksIn, brokenLinks, pages, promised, stepsIn, textOf } from "./pages.ts";
import { commandLine, environment, project, run, temporaryFolder } from "./run.ts";

test("pages are found", () => expect(pages.length).toBeGreaterThan(60));

test("links lead somewhere", () => {
  expect(pages.flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`))).toEqual([]);
});

describe("the site's navigation", () => {
  const listed = parts.flatMap(({ groups }) => groups.flatMap(({ entries }) => entries.map(({ page }) => page)));
  const names = pages.flatMap((page) => (/^docs\/(.*)\.md$/.exec(page) ?? []).slice(1));

  test("has every page", () => {
    expect(names.filter((name) => !unlisted.test(name) && !listed.includes(name))).toEqual([]);
  });

  test("has no page that does not exist, and none twice", () => {
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
    expect(new Set(listed).size).toBe(listed.length);
  });
});

/** A folder in which `filehand` is a command and a package, as after an installation. */
function place() {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const path = (...names: string[]): string => join(folder.path, ...names);
  for (const name of ["home", "state", "bin", "work/node_modules"]) mkdirSync(path(name), { recursive: true });
  writeFileSync(path("bin/filehand"), `#!/bin/sh\nexec "${process.execPath}" "${commandLine}" "$@"\n`, { mode: 0o755 });
  symlinkSync(project, path("work/node_modules/filehand"));
  for (const name of ["@anthropic-ai", "@types"]) {
    symlinkSync(join(project, "node_modules", name), path("work/node_modules", name));
  }
  const env = {
    HOME: path("home"),
    XDG_STATE_HOME: path("state"),
    PATH: `${path("bin")}:${process.env["PATH"] ?? ""}`,
  };
  return { work: path("work"), env };
}

describe("what the pages say that commands print", () => {
  const told = pages.filter((page) => blocksIn(page).some(({ language }) => language === "console"));

  test("some pages say it", () => expect(told.length).toBeGreaterThan(3));

  for (const page of told) {
    test(page, { timeout: 120_000 }, async () => {
      const { work, env } = place();
      const steps = blocksIn(page).flatMap(({ language, text }) => (language === "console" ? stepsIn(text) : []));
      // One shell for the page: a command may change the folder.
      const script = steps.map(({ command }, at) => `printf '\\036${at}\\n'\n${command}`).join("\n");
      const { stdout } = await run("bash", ["-c", `exec 2>&1\n${script}`], { cwd: work, env });
      const printed = stdout.split(/\x1e\d+\n/).slice(1);
      expect(printed.length).toBe(steps.length);
      for (const [at, step] of steps.entries()) expect(printed[at], step.command).toMatch(promised(step));
    });
  }
});

describe("commands in blocks of shell are understood", () => {
  for (const page of pages.filter((one) => !one.startsWith("docs/decisions"))) {
    const lines = blocksIn(page)
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => text.split("\n"))
      .filter((line) => line.startsWith("filehand ") && !/ssh:|docker:|kubectl:/.test(line));
    if (lines.length === 0) continue;
    test(page, { timeout: 240_000 }, async () => {
      for (const line of new Set(lines)) {
        const { work, env } = place();
        writeFileSync(join(work, "calls.jsonl"), "");
        // Servers would run until they are ended.
        const once = line.replace(/^filehand (serve|inspect)\b/, "filehand $1 --help");
        const { code, stdout, stderr } = await run("bash", ["-c", once], { cwd: work, env });
        expect(code, `${line}\n${stdout}${stderr}`).not.toBe(2); // 1: the files of the block are not there
      }
    });
  }
});

describe("samples", () => {
  const programs = pages.flatMap((page) =>
    blocksIn(page)
      .filter(({ language, text }) => /^(?:js|ts)$/.test(language) && /from "filehand|require\("filehand/.test(text))
      .map(({ mark, language, text }, at) => ({ page, mark, language, text, at })),
  );

  test("are found", () => expect(programs.length).toBeGreaterThan(2));

  const compilers = {
    node16: { module: "node16" },
    nodenext: { module: "nodenext" },
    bundler: { module: "esnext", moduleResolution: "bundler" },
  };
  for (const [name, options] of Object.entries(compilers)) {
    test(`compile under ${name}`, { timeout: 120_000 }, async () => {
      const { work, env } = place();
      const files = programs.map(({ page, at, language, text }) => {
        const isCommonJs = text.includes("require(");
        const file = `${page.replaceAll(/[/.]/g, "-")}-${at}.${isCommonJs ? "c" : "m"}${language}`;
        writeFileSync(join(work, file), text);
        return file;
      });
      const compilerOptions = {
        ...options,
        target: "es2023",
        lib: ["es2023", "esnext.disposable"],
        types: ["node"],
        strict: true,
        allowJs: true,
        checkJs: true,
        noEmit: true,
      };
      writeFileSync(join(work, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
      const ran = await run(join(project, "node_modules/.bin/tsc"), ["-p", "."], { cwd: work, env });
      expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
    });
  }

  test("of JSON can be parsed", () => {
    const broken = pages.flatMap((page) =>
      blocksIn(page)
        .filter(({ language }) => language === "json" || language === "jsonc")
        .flatMap(({ language, text }) => {
          const errors: ParseError[] = [];
          parse(text, errors, { disallowComments: language === "json", allowTrailingComma: false });
          // One object a line.
          const isLines = text
            .trim()
            .split("\n")
            .every((line) => line.startsWith("{") && line.endsWith("}"));
          return errors.length > 0 && !isLines ? [`${page}: ${text.slice(0, 60)}`] : [];
        }),
    );
    expect(broken).toEqual([]);
  });
});

test("the agent in 60 lines reads, asks, edits, and takes it all back", { timeout: 60_000 }, async () => {
  const [block] = blocksIn("docs/tutorials/agent-in-60-lines.md").filter(({ mark }) => mark === "file: agent.mjs");
  expect(block?.text.split("\n").length).toBeLessThanOrEqual(61);
  for (const [answers, left] of [
    ["yn", "port = 8080\n"],
    ["yyy", "port = 80\n"], // going back is a change, and asks like one
    ["n", "port = 80\n"],
  ] as const) {
    const api = await playMessagesApi([
      ["Read", { file_path: "server.js" }],
      ["Edit", { file_path: "server.js", old_string: "port = 80", new_string: "port = 8080" }],
    ]);
    onTestFinished(api.close);
    const { work, env } = place();
    writeFileSync(join(work, "server.js"), "port = 80\n");
    writeFileSync(join(work, "agent.mjs"), block?.text ?? "");
    const child = spawn(process.execPath, ["agent.mjs", "Change the port to 8080"], {
      cwd: work,
      env: environment({ ...env, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: "none" }),
      stdio: ["pipe", "pipe", "inherit"],
    });
    let printed = "";
    let asked = 0;
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      for (; asked < printed.split("(y/n) ").length - 1; asked += 1) child.stdin.write(`${answers[asked] ?? "n"}\n`);
    });
    const [code] = await once(child, "close");
    expect(code, printed).toBe(0);
    expect(asked, printed).toBe(answers.length);
    expect(printed).toContain("+port = 8080");
    expect(printed).toContain("done");
    expect(readFileSync(join(work, "server.js"), "utf8"), answers).toBe(left);
    expect(api.requests.length).toBe(3);
  }
});

test("the comparison is the one that the bench printed", () => {
  const rows = textOf("docs/explanation/comparison.md")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );
  const end = rows.findIndex(([first], at) => at > 1 && first === "");
  const [head = [], , ...shown] = rows.slice(0, end);
  const printed = tableIn(join(project, "docs/bench/bytes.txt"), "bytes:");
  expect(shown).toEqual(printed.map((row) => [row["method"], ...head.slice(1).map((name) => row[name])]));
});

test("every option of a command that a page names exists", () => {
  const known = new Set(textOf("docs/command-line.md").match(/--[a-z][a-z-]+/g));
  const unknown = pages
    .filter((page) => !page.startsWith("docs/decisions") && page !== "CHANGELOG.md")
    .flatMap((page) =>
      [...textOf(page).matchAll(/`filehand ([^`\n]+)`/g)].flatMap(([, command = ""]) =>
        // What follows `--` belongs to another program.
        (command.split(" -- ")[0]?.match(/(?<= )--[a-z][a-z-]+/g) ?? [])
          .filter((option) => !known.has(option))
          .map((option) => `${page}: filehand ${command}: ${option}`),
      ),
    );
  expect(unknown).toEqual([]);
});

test("every environment variable that the code reads is explained", () => {
  const files = readdirSync(join(project, "src"), { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const names = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(project, "src", file), "utf8");
    for (const [, name] of text.matchAll(/\benv(?:\?)?(?:\.|\[")([A-Z][A-Z0-9_]{3,})/g)) names.add(name ?? "");
    for (const [, list] of text.matchAll(/\{ ([A-Z][A-Z0-9_, ]+) \} = (?:host|process)\.env/g)) {
      for (const name of (list ?? "").split(", ")) names.add(name);
    }
  }
  expect([...names].filter((name) => !(name in variables)).toSorted()).toEqual([]);
  expect(names.size).toBeGreaterThan(10);
});

test("what the pages say of files in the repository is there", () => {
  const missing = pages
    .filter((page) => !page.startsWith("docs/decisions") && page !== "CHANGELOG.md")
    .flatMap((page) =>
      [...textOf(page).matchAll(/`((?:src|scripts|bench|examples|docs)\/[\w./-]+\.(?:ts|js|mjs|md|txt|json))`/g)]
        .map(([, file]) => file ?? "")
        .filter((file) => !existsSync(join(project, file)))
        .map((file) => `${page}: ${file}`),
    );
  expect(missing).toEqual([]);
});
