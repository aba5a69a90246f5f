/**
 * A27 A62 A68 A69 A71: what a rule hides is hidden behind every door. Every tool of every dialect, the library's own
 * functions and the command line are tried on denied files of every kind, on a denied folder and on secrets.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import * as fs from "node:fs";
import { describe, test } from "vitest";
import { createFilehand, type FilehandOptions, type Reply, type Session } from "../../src/index.ts";
import { commandLine, run } from "../ends/run.ts";
import { type Door, enter, everyDoor } from "../support/doors.ts";
import { everyDialect, wholeOf } from "../support/reading.ts";
import { snapshot } from "../support/snapshot.ts";
import { onWindows, type Tree, workspace } from "../support/workspace.ts";

const words = "hidden-content-9c14";
const cell = { cell_type: "code", execution_count: null, id: "c1", metadata: {}, outputs: [], source: [words] };
const book = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });
const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.from(words)]);

/** Each with a content that would be read as its kind. The names are found by no accident. */
const denied: Readonly<Record<string, string | Buffer>> = {
  "zq-denied.txt": `content ${words}\n`,
  "zq-denied.ipynb": book,
  "zq-denied.png": png,
  "zq-denied.pdf": `%PDF-1.7\n${words}\n%%EOF\n`,
  "zq-denied.docx": `PK\u0003\u0004${words}`,
  "zq-vault/zq-inner.txt": `content ${words}\n`,
  "deep/er/zq-denied.txt": `content ${words}\n`,
};
const secrets: Readonly<Record<string, string>> = {
  ".env": `KEY=${words}\n`,
  "deep/.ENV.local": `KEY=${words}\n`,
  "zq-server.pem": `${words}\n`,
  ".kube/config": `token: ${words}\n`,
};
const rules = { deny: ["Read(zq-denied.*)", "Read(/zq-vault/**)", "Read(/zq-vault)"] };

const tree = (hidden: boolean): Tree => ({
  ws: { "open.txt": "content\n", "spare.txt": "content\n", deep: { er: {} }, ...(hidden ? { "zq-vault": {} } : {}) },
  state: {},
});

/** A server for all of these files, were it there: what is hidden is refused before anybody is asked. */
const textServer = {
  text: { command: ["filehand-test-no-such-program"], extensions: { ".txt": "text", ".pem": "text", ".env": "text" } },
} as const;

/** Every tool that can be switched on. */
const allTools = {
  historyTools: true,
  languageTools: "rename",
  lineEdits: true,
  editFiles: true,
  patchTool: true,
  fileTools: ["delete", "move", "copy", "make-folder"],
} as const;

interface Scene {
  readonly root: string;
  readonly open: (dialect: Session["dialect"], options?: Partial<FilehandOptions>) => Session;
  /** A reply without what differs between two such trees. */
  readonly plain: (reply: Reply) => string;
}

/** With the hidden files, which an earlier session changed when nothing was denied; or without any. */
async function scene(files: "there" | "missing"): Promise<Scene> {
  const { path: at } = workspace(tree(files === "there"));
  const tools = { ...allTools, languageServers: { servers: textServer } } as const;
  const options = { roots: [at("ws")], stateDir: at("state"), ...tools, readFirst: false, dedup: false };
  if (files === "there") {
    fs.mkdirSync(at("ws/.kube"));
    for (const [name, content] of Object.entries({ ...denied, ...secrets })) fs.writeFileSync(at("ws", name), content);
    const before = createFilehand({ ...options, ask: "yes" }).session({ dialect: "opencode", id: "one" });
    await before.checkpoint("turn");
    for (const [name, content] of Object.entries({ ...denied, ...secrets })) {
      if (typeof content !== "string" || !/\.(?:txt|env|pem)$/u.test(name)) continue;
      const reply = await before.call("write", { filePath: name, content: `${content}more ${words}\n` });
      equal(reply.isError, false, wholeOf(reply));
    }
  }
  return {
    root: at("ws"),
    open: (dialect, more = {}) =>
      createFilehand({ ...options, permissions: rules, ...more }).session({ dialect, id: "one" }),
    plain: (reply) =>
      wholeOf(reply)
        .replaceAll(at(), "")
        .replaceAll(/"time_ms":[\d.]+|Took \d+ms/gu, ""),
  };
}

/** What the model wrote itself may stand in its answer. */
function showsIt(door: Door, whole: string): boolean {
  const told = JSON.stringify(door.input).includes(words) ? whole.replaceAll(words, "") : whole;
  return told.includes(words) || /more hidden|KEY=|token:/u.test(told);
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

for (const dialect of onWindows ? [] : everyDialect) {
  describe(`${dialect}: what is hidden`, () => {
    // The engine is one; the others are tried on one of each sort.
    const every = [...Object.keys(denied), "zq-vault", ...Object.keys(secrets)];
    for (const path of dialect === "claude" ? every : ["zq-denied.txt", "zq-vault", "zq-vault/zq-inner.txt", ".env"]) {
      const isSecret = path in secrets;
      test(`A69 ${path}: no tool shows ${isSecret ? "its content or changes it" : "or changes it, or betrays that it is there"}`, async () => {
        const [there, missing] = [await scene("there"), await scene("missing")];
        const [session, other] = [there.open(dialect), missing.open(dialect)];
        const before = snapshot(there.root);
        const readOnly = new Set(session.definitions().flatMap((one) => (one.readOnly ? [one.name] : [])));
        const hidden = { path, content: words, spare: "spare.txt", turn: "turn" };
        const doors = everyDoor(session.definitions(), hidden);
        ok(doors.length > 40, String(doors.length));
        const faults: string[] = [];
        for (const door of doors) {
          for (const dryRun of readOnly.has(door.tool) ? [false] : [true, false]) {
            const reply = await enter(session, door, dryRun);
            const whole = wholeOf(reply);
            const fault = (what: string): void => void faults.push(`${door.name} ${what}: ${whole}`);
            if (showsIt(door, whole)) fault("shows it");
            // That there is a secret is none: lists and suggestions name it, searches leave it out.
            const isPast = /^(?:history|rewind)$/iu.test(door.tool);
            if (door.how === "near" || (isSecret && isPast)) {
              // The rule may be told, and what the call itself named.
              const told = whole.replaceAll(/Read\([^)]*\)/gu, "");
              const isAsked = JSON.stringify(door.input).includes(nameOf(path));
              if (!isSecret && !isAsked && told.includes(nameOf(path))) fault("names it");
              continue;
            }
            const codes = isSecret ? ["ACCESS_DENIED", "EXISTS"] : ["ACCESS_DENIED"];
            if (!codes.includes(reply.error?.code ?? "")) fault("is open");
            // Whether it is there, and what it is, is not told: the same words for a path that names nothing.
            if (isSecret || "turn" in door.input) continue;
            const elsewhere = missing.plain(await enter(other, door, dryRun));
            if (there.plain(reply) !== elsewhere) fault(`differs from what is said of nothing, ${elsewhere}`);
          }
        }
        deepEqual(faults, []);
        deepEqual(snapshot(there.root), before);
      });
    }
  });
}

describe.skipIf(onWindows)("A69 hidden names cannot be guessed letter by letter", () => {
  for (const dialect of everyDialect) {
    test(`${dialect}: a pattern that fits a hidden name and one that fits none are answered alike`, async () => {
      const { open, plain } = await scene("there");
      const session = open(dialect);
      const tool = session.definitions().find(({ name }) => /^glob$/iu.test(name));
      ok(tool !== undefined);
      const answer = async (pattern: string): Promise<string> =>
        plain(await session.call(tool.name, { pattern }))
          .replaceAll(pattern, "")
          .replaceAll(/"durationMs":\d+/gu, "");
      for (const [fits, none] of [
        ["zq-denied.txt", "xx-denied.txt"],
        ["zq-d*", "zq-x*"],
        ["z?-denied.p*", "x?-denied.p*"],
        ["*.docx", "*.xlsx"],
        ["**/zq-denied.t*", "**/zq-denied.q*"],
        ["zq-vault", "zq-wault"],
        ["zq-v*/**", "zq-w*/**"],
        ["{zq-vault,deep}/*", "{zq-wault,deep}/*"],
      ] as const) {
        equal(await answer(fits), await answer(none), fits);
      }
    });
  }
});

describe.skipIf(onWindows)("what is hidden, from the library", () => {
  test("A69 cost, observe, markRead, forget and readState tell nothing", async () => {
    const { root, open } = await scene("there");
    const session = open("claude");
    const messages: string[] = [];
    for (const path of [...Object.keys(denied), ...Object.keys(secrets)]) {
      const cost = await session.cost(path).catch((error: unknown) => error);
      ok(cost instanceof Error && "code" in cost && cost.code === "ACCESS_DENIED", `${path}: ${String(cost)}`);
      messages.push(String(cost));
    }
    await session.checkpoint("looks");
    const first = await session.observe();
    for (const name of Object.keys(denied)) fs.appendFileSync(`${root}/${name}`, "behind our back");
    const second = await session.observe();
    ok(!JSON.stringify([first, second]).includes("zq-"), JSON.stringify(second));
    equal(second.observed, 0);
    const rewound = await session.rewind("looks", { force: true }).catch((error: unknown) => String(error));
    ok(!JSON.stringify(rewound).includes(words));
    ok(!JSON.stringify([session.readState(), messages]).includes(words));
    for (const name of Object.keys(denied)) ok(fs.readFileSync(`${root}/${name}`, "latin1").endsWith("back"), name);
  });

  test("A71 a restore from the past, by a turn, by undo and by redo, brings back nothing that is hidden now", async () => {
    const { root, open } = await scene("there");
    const before = snapshot(root);
    const session = open("claude");
    for (const going of [
      () => session.rewind("turn", { force: true }),
      () => session.rewind("turn", { force: true, files: ["zq-denied.txt"] }),
      () => session.undo({ force: true }),
      () => session.redo({ force: true }),
    ]) {
      const outcome = await going().catch((error: unknown) => String(error));
      ok(!JSON.stringify(outcome).includes(words), JSON.stringify(outcome));
    }
    deepEqual(snapshot(root), before);
  });

  test("A71 hidden files are neither moved nor copied nor replaced", async () => {
    const { root, open } = await scene("there");
    const before = snapshot(root);
    for (const path of [...Object.keys(denied), ...Object.keys(secrets)]) {
      for (const lines of [
        [`*** Update File: ${path}`, "*** Move to: open-name.txt"],
        ["*** Update File: open.txt", `*** Move to: ${path}`],
        ["*** Update File: open.txt", `*** Move to: ${path}/open.txt`],
      ]) {
        const patchText = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
        const reply = await open("opencode", { mode: "accept-edits" }).call("patch", { patchText });
        ok(reply.isError && !wholeOf(reply).includes(words), `${lines.join(" ")}: ${wholeOf(reply)}`);
      }
    }
    deepEqual(snapshot(root), before);
  });

  test("A62 the same in a folder that is a repository of its own, and through links", async () => {
    const { path: at } = workspace({
      ws: {
        a: "content\n",
        sub: { ".git": "gitdir: ../x\n", ".env.local": `KEY=${words}\n`, deep: { ".env": `KEY=${words}\n` } },
        "to-sub": { link: "sub" },
        "to-env": { link: "sub/.env.local" },
      },
    });
    const session = createFilehand({
      roots: [at("ws")],
      ask: "yes",
      permissions: { deny: ["Read(**/.env*)"] },
    }).session({ dialect: "claude" });
    for (const path of ["sub/.env.local", "sub/deep/.env", "to-sub/.env.local", "to-sub/deep/.env", "to-env"]) {
      for (const door of everyDoor(session.definitions(), { path, content: words, spare: "a", turn: "t" })) {
        // A symlink is deleted or moved itself, and the file that it leads to stays.
        if (path === "to-env" && /^(?:Delete|Move)$/u.test(door.tool)) continue;
        const reply = await enter(session, door);
        const whole = wholeOf(reply);
        ok(!showsIt(door, whole), `${door.name}: ${whole}`);
        if (door.how === "named") equal(reply.error?.code, "ACCESS_DENIED", `${door.name}: ${whole}`);
      }
    }
  });
});

describe.skipIf(onWindows)("what is hidden, on the command line", () => {
  test("A69 history, diff, show, read, grep, glob and ls show nothing of it; explain says why", {
    timeout: 180_000,
  }, async () => {
    const { path: at } = workspace({
      ws: { "open.txt": "content\n", "zq-denied.txt": `content ${words}\n` },
      home: {},
    });
    const env = { HOME: at("home"), XDG_STATE_HOME: at("state"), XDG_CONFIG_HOME: at("config") };
    const filehand = (...args: readonly string[]) =>
      run(process.execPath, [commandLine, ...args], { cwd: at("ws"), env });
    const wrote = await filehand("write", "zq-denied.txt", "--content", `new ${words}`, "--yes");
    equal(wrote.code, 0, wrote.stderr);
    const deny = ["--deny", "Read(zq-denied.txt)"];
    const before = snapshot(at("ws"));
    const tried: readonly (readonly [readonly string[], "named" | "nameless"])[] = [
      // The person at the terminal may be told what they changed themselves; not what stands in it.
      [["history"], "named"],
      [["history", "--json"], "named"],
      [["diff", "-1"], "named"],
      [["diff", "-1", "--json"], "named"],
      [["diff", "-1", "--file", "zq-denied.txt"], "named"],
      [["show", "-1:zq-denied.txt"], "named"],
      [["show", "-1:zq-denied.txt", "--after"], "named"],
      [["undo", "--yes"], "named"],
      [["read", "zq-denied.txt"], "named"],
      [["read", "zq-denied.txt", "--tokens"], "named"],
      [["grep", ".", "zq-denied.txt"], "named"],
      [["edit", "zq-denied.txt", "--old", "new", "--new", "x", "--yes"], "named"],
      [["write", "zq-denied.txt", "--content", "x", "--yes"], "named"],
      [["ls"], "nameless"],
      [["ls", "--json"], "nameless"],
      [["glob", "**"], "nameless"],
      [["grep", "content|new"], "nameless"],
      [["read", "zq-denied.tx"], "nameless"],
    ];
    for (const [args, how] of tried) {
      const ran = await filehand(...args, ...deny);
      const all = ran.stdout + ran.stderr;
      ok(!all.includes(words), `${args.join(" ")}: ${all}`);
      if (how === "nameless") ok(!all.includes("zq-denied.txt"), `${args.join(" ")}: ${all}`);
    }
    const explained = await filehand("permissions", "explain", "Read", "zq-denied.txt", ...deny);
    ok(explained.stdout.includes("Read(zq-denied.txt)") && !explained.stdout.includes(words), explained.stdout);
    deepEqual(snapshot(at("ws")), before);
  });
});

test("every tool of every dialect is tried, also one that is added later", () => {
  const { path: at } = workspace({ ws: {}, state: {} });
  for (const dialect of everyDialect) {
    const definitions = createFilehand({ roots: [at("ws")], stateDir: at("state"), ...allTools })
      .session({ dialect })
      .definitions();
    const doors = everyDoor(definitions, { path: "a", content: "b", spare: "c", turn: "d" });
    deepEqual(
      [...new Set(doors.map(({ tool }) => tool))],
      definitions.map(({ name }) => name),
    );
  }
});
