import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { parseSettings } from "./parse.ts";
import { settingsSchema } from "./schema.ts";
import { loadSettings, settingsFiles } from "./settings.ts";

const nothing = { rules: [], restricted: { add: [], remove: [] }, roots: [], trustedRoots: [] };

describe("files together", () => {
  const folder = mkdtempSync(join(tmpdir(), "filehand-settings-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const home = join(folder, "home");
  const configFile = (file: string, text: string | Uint8Array): string => {
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const load = (env: Record<string, string>, ...roots: readonly string[]) =>
    loadSettings({ roots, env, platform: process.platform, home });

  test("without files there are no settings and no faults", async () => {
    deepEqual(await load({ XDG_CONFIG_HOME: join(folder, "none") }, join(folder, "none")), {
      settings: nothing,
      faults: [],
    });
  });

  test.skipIf(process.platform === "win32")("project goes before user, lists are joined", async () => {
    const userFile = configFile(
      join(home, ".config/filehand/filehand.jsonc"),
      `\ufeff{ // comments and final commas are fine
        "dialect": "claude", "model": "m", "secrets": "allow", "roots": ["/other", "~/notes", "beside"], "stateDir": "~/state",
        "permissions": { "deny": ["Read(a)"], "allow": ["Read(b)"], },
        "restricted": { "add": [".bin"] },
      }`,
    );
    const [one, two] = [join(folder, "one"), join(folder, "two")];
    configFile(
      join(one, "filehand.jsonc"),
      '{"longCode": "outline", "permissions": {"ask": ["Edit"]}, "restricted": {"remove": [".bin"]}}',
    );
    const oneMore = configFile(
      join(two, "filehand.jsonc"),
      '{"longCode": "first page",\n"pageTokensMax": 5,\n"secrets": "allow",\n"roots": ["/"]}',
    );
    const { settings, faults } = await load({}, one, two, one);
    deepEqual(settings, {
      dialect: "claude",
      longCode: "outline",
      model: "m",
      pageTokensMax: 5,
      secrets: "allow",
      stateDir: join(home, "state"),
      trustedRoots: [],
      rules: [
        { verdict: "deny", text: "Read(a)", source: "user settings" },
        { verdict: "allow", text: "Read(b)", source: "user settings" },
        { verdict: "ask", text: "Edit", source: "project settings" },
      ],
      restricted: { add: [".bin"], remove: [".bin"] },
      roots: ["/other", join(home, "notes"), join(userFile, "../beside")],
    });
    deepEqual(
      faults.map(({ file, line }) => [file, line]),
      [
        [oneMore, 3],
        [oneMore, 4],
      ],
    );
  });

  test("a file that cannot be read is reported, and the other files take effect", async () => {
    const [bytes, sub, good] = ["bytes", "sub", "good"].map((name) => join(folder, name, "filehand.jsonc"));
    ok(bytes && sub && good);
    configFile(bytes, Uint8Array.of(0xff));
    mkdirSync(sub, { recursive: true });
    configFile(good, '{"pageTokensMax": 7}');
    const roots = [bytes, sub, good].map((file) => join(file, ".."));
    const { settings, faults } = await load({ XDG_CONFIG_HOME: join(folder, "none") }, ...roots);
    deepEqual(settings, { ...nothing, pageTokensMax: 7 });
    deepEqual(
      faults.map(({ file, line }) => [file, line]),
      [
        [bytes, 1],
        [sub, 1],
      ],
    );
    match(faults[0]?.message ?? "", /UTF-8/);
    match(faults[1]?.message ?? "", /regular file/);
    ok(faults.every(({ stops }) => stops === true)); // what they deny is not known
  });

  test("a file of more than 32 KiB, or nested too deeply, is refused, and nothing starts as if it denied nothing", async () => {
    const [large, deep, full] = ["large", "deep", "full"].map((name) => join(folder, name, "filehand.jsonc"));
    ok(large && deep && full);
    const denying = '{"permissions": {"deny": ["Read(a)"]}}';
    configFile(large, denying.padEnd(32_769));
    configFile(deep, "[".repeat(30_000));
    configFile(full, denying.padEnd(32_768));
    const loaded = (file: string) => load({ XDG_CONFIG_HOME: join(folder, "none") }, join(file, ".."));
    deepEqual((await loaded(large)).faults, [
      { file: large, line: 1, message: `Cannot read "${large}": it has 32769 bytes, the most is 32768`, stops: true },
    ]);
    deepEqual((await loaded(deep)).faults, [
      { file: deep, line: 1, message: "Cannot use this file: it is nested too deeply", stops: true },
    ]);
    const { settings, faults } = await loaded(full);
    deepEqual([settings.rules.length, faults], [1, []]);
  });
});

describe("where files are looked for", () => {
  const files = (platform: NodeJS.Platform, env: Record<string, string>, home: string | undefined, root: string) =>
    settingsFiles({ roots: [root], env, platform, home }).map(({ path, source }) => `${source}: ${path}`);

  for (const [name, found, expected] of [
    ["at home", files("linux", {}, "/h", "/w"), ["user settings: /h/.config/filehand/filehand.jsonc"]],
    [
      "where the environment says",
      files("darwin", { XDG_CONFIG_HOME: "/x" }, "/h", "/w"),
      ["user settings: /x/filehand/filehand.jsonc"],
    ],
    [
      "not where a relative or empty variable points",
      files("linux", { XDG_CONFIG_HOME: "x" }, "/h", "/w"),
      ["user settings: /h/.config/filehand/filehand.jsonc"],
    ],
    ["nowhere without a home", files("linux", {}, undefined, "/w"), []],
  ] as const) {
    test(name, () => deepEqual(found, [...expected, "project settings: /w/filehand.jsonc"]));
  }

  test("on Windows", () => {
    deepEqual(files("win32", { APPDATA: "C:\\A" }, "C:\\h", "C:\\w"), [
      "user settings: C:\\A\\filehand\\filehand.jsonc",
      "project settings: C:\\w\\filehand.jsonc",
    ]);
    equal(files("win32", {}, "C:\\h", "C:\\w")[0], "user settings: C:\\h\\AppData\\Roaming\\filehand\\filehand.jsonc");
  });

  test("a root that is the configuration folder is the user's", () => {
    deepEqual(files("linux", {}, "/h", "/h/.config/filehand"), ["user settings: /h/.config/filehand/filehand.jsonc"]);
  });
});

describe("one file", () => {
  for (const [name, text, values, line, message] of [
    [
      "an unknown key names the nearest",
      '{\n"dialct": "claude", "pageTokensMax": 7}',
      { pageTokensMax: 7 },
      2,
      /"dialct".*"dialect"/,
    ],
    ["a wrong letter case too", '{"pagetokensmax": 5}', {}, 1, /"pageTokensMax"/],
    ["a key like no other lists the known", '{"zzzzzzzzzzz": 5}', {}, 1, /known are \$schema, dialect/],
    [
      "an inner key has its whole name",
      '{"permissions": {"alow": []}}',
      { permissions: {} },
      1,
      /"permissions\.alow".*"allow"/,
    ],
    ["__proto__ is an unknown key", '{"__proto__": {"model": "x"}}', {}, 1, /"__proto__"/],
    ["a wrong type", '{\n\n"pageTokensMax": "yes"}', {}, 3, /"pageTokensMax": expected/],
    ["a number out of range", '{"pageTokensMax": 0}', {}, 1, /whole number of at least 1/],
    ["a number with a fraction", '{"pageTokensMax": 1.5}', {}, 1, /whole number/],
    ["a choice that is none", '{"longCode": "x"}', {}, 1, /one of "first page", "outline"/],
    ["an empty text", '{"$schema": 5}', {}, 1, /not empty/],
    ["null", '{"dedup": null}', {}, 1, /"dedup": expected/],
    ["a text for a list", '{"permissions": {"deny": "Read(a)"}}', { permissions: {} }, 1, /a list of texts/],
    ["a list for an object", '{"permissions": []}', {}, 1, /an object with the keys allow, ask, deny/],
    [
      "one wrong rule leaves the others",
      '{"permissions": {"deny": ["Read(a)",\n 3, "Read(b)"]}}',
      { permissions: { deny: ["Read(a)", "Read(b)"] } },
      2,
      /"permissions\.deny\[1\]"/,
    ],
    ["a key given twice", '{"pageTokensMax": 7,\n"pageTokensMax": 8}', { pageTokensMax: 7 }, 2, /twice/],
    ["a file that is no object", "[1]", {}, 1, /this file: expected an object/],
    ["a user's key in a project", '{\n"roots": ["/"], "dedup": true}', { dedup: true }, 2, /"roots" here: .*user/],
    ["a project does not choose the model", '{"model": "claude-mythos"}', {}, 1, /"model" here: .*user/],
    ["nor the dialect", '{"dialect": "opencode"}', {}, 1, /"dialect" here: .*user/],
    ["nor how long a search takes", '{"searchMsMax": 1000}', {}, 1, /"searchMsMax" here: .*user/],
    [
      "a project may say how line ends are written, not how careful changes are",
      '{"writeEol": "keep",\n"readFirst": false}',
      { writeEol: "keep" },
      2,
      /"readFirst" here: .*user/,
    ],
    ["staleness is the user's", '{"staleness": "content-match"}', {}, 1, /"staleness" here: .*user/],
    ["the limit of edits is the user's", '{"editBytesMax": 5}', {}, 1, /"editBytesMax" here: .*user/],
    ["what becomes of hard links is the user's", '{"hardLinks": "keep"}', {}, 1, /"hardLinks" here: .*user/],
    ["how much past is kept is the user's", '{"history": false}', {}, 1, /"history" here: .*user/],
    ["nesting without end", "[".repeat(500_000), {}, 1, /nested too deeply/],
    [
      "after a syntax error only what makes things stricter counts",
      '{"model": "m",\n"permissions": {"deny": ["Read(a)" "Read(b)"], "allow": ["Read"]}}',
      { permissions: { ask: [], deny: ["Read(a)", "Read(b)"] } },
      2,
      /not valid JSON with comments \(comma expected\)/,
    ],
    [
      "an unfinished file",
      '{"permissions": {"ask": ["Edit',
      { permissions: { ask: ["Edit"], deny: [] } },
      1,
      /not valid/,
    ],
  ] as const) {
    test(name, () => {
      const parsed = parseSettings(text, "project settings");
      deepEqual(parsed.values, values);
      equal(parsed.faults.length, 1);
      equal(parsed.faults[0]?.line, line);
      match(parsed.faults[0]?.message ?? "", message);
    });
  }

  for (const [text, history, message] of [
    ["false", false, undefined],
    [
      '{"snapshotsMax": 5, "bytesMax": 1000000, "ageMsMax": 60000}',
      { snapshotsMax: 5, bytesMax: 1_000_000, ageMsMax: 60_000 },
      undefined,
    ],
    ["true", undefined, /"history": expected false or an object with the keys snapshotsMax, bytesMax, ageMsMax/],
    ['"no"', undefined, /"history": expected false or an object/],
    ['{"snapshotsMax": 0}', {}, /"history\.snapshotsMax": expected a whole number of at least 1/],
    ['{"snapshots": 5}', {}, /"history\.snapshots": there is no such key, the nearest is "snapshotsMax"/],
  ] as const) {
    test(`history: ${text}`, () => {
      const { values, faults } = parseSettings(`{"history": ${text}}`, "user settings");
      deepEqual(values.history, history);
      equal(faults.length, message === undefined ? 0 : 1);
      if (message !== undefined) match(faults[0]?.message ?? "", message);
    });
  }

  for (const text of ["", " // nothing\n", "{}", '{"$schema": "x"}']) {
    test(`${JSON.stringify(text)} is fine`, () => deepEqual(parseSettings(text, "user settings").faults, []));
  }

  test("a hostile key neither floods the report nor acts on a terminal", () => {
    const keys = Array.from({ length: 1_000 }, (_, at) => `"\\u001b[2J\u202e${"x".repeat(200)}${at}": 1`);
    const { faults } = parseSettings(`{${keys.join(",")}}`, "user settings");
    equal(faults.length, 50);
    ok(faults.every(({ message }) => message.length < 700 && !/[\p{C}]/u.test(message)));
  });
});

test("the schema describes every key in plain words and always the same", () => {
  const schema = settingsSchema();
  equal(JSON.stringify(schema), JSON.stringify(settingsSchema()));
  equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  for (const [key, value] of Object.entries(schema.properties ?? {})) ok(value.description, key);
});

describe("a faulty value that was meant to restrict", () => {
  for (const [text, of, values] of [
    ['{"mode": "readonly"}', "user settings", { mode: "read-only" }],
    ['{"mode": 7}', "user settings", { mode: "read-only" }],
    ['{"mode": "accept-edits"}', "user settings", { mode: "accept-edits" }],
    ['{"locked": ["mode", "rulez"]}', "user settings", { locked: ["mode", "rules"] }],
    ['{"locked": "mode"}', "user settings", { locked: ["mode", "rules"] }],
    ['{"locked": ["mode"]}', "user settings", { locked: ["mode"] }],
    ['{"mode": "accept-edits"}', "project settings", {}],
    ['{"mode": "default"}', "project settings", {}],
    ['{"mode": "plan"}', "project settings", { mode: "plan" }],
    ['{"locked": ["mode"]}', "project settings", {}],
  ] as const) {
    test(`${text} in ${of} means ${JSON.stringify(values)}`, () => deepEqual(parseSettings(text, of).values, values));
  }
});
