import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { createEngine, type Engine, type EngineOptions } from "../../test/support/engine.ts";
import { refused, shows, textOf, wholeOf } from "../../test/support/reading.ts";
import { onWindows, workspace } from "../../test/support/workspace.ts";
import type { Answer, Question } from "../contract/ask.ts";
import { Problem, type ProblemOf } from "../contract/problem.ts";
import { createDisk } from "../disk/disk.ts";
import { namedLinks } from "./policy.ts";
import type { RuleText, Verdict } from "../contract/permission.ts";

const { path: at } = workspace({
  ws: {
    "a.txt": "inside a\n",
    ".env": "TOKEN=secret-content\n",
    ".env.example": "TOKEN=example\n",
    "to-env": { link: ".env" },
    "to-a": { link: "a.txt" },
    src: { "x.ts": "inside x\n" },
    denied: { "key.txt": "secret-content\n", loop: { link: "loop" }, out: { link: "../../out" }, sub: { y: "" } },
    "to-denied": { link: "denied" },
    "to-sub": { link: "denied/sub" },
  },
  second: { ".env": "TOKEN=other-content\n", "a.txt": "second a\n" },
  out: { x: "outside" },
});

const rule = (verdict: Verdict, text: string, source = "user settings"): RuleText => ({ verdict, text, source });
const engine = (options: Partial<EngineOptions> = {}): Engine => createEngine({ roots: [at("ws")], ...options });

/** An asker that gives these answers in turn, and what it was asked. */
function answering(...answers: readonly Answer[]) {
  const asked: Question[] = [];
  const asker = async (question: Question): Promise<Answer> => {
    const answer = answers[asked.length];
    asked.push(question);
    if (answer === undefined) throw new Error("asked once more than expected");
    return answer;
  };
  return { asked, asker };
}

describe.skipIf(onWindows)("what a rule says", () => {
  for (const [name, rules, asked, verdict] of [
    ["nothing: reading is free", [], "a.txt", "free"],
    ["deny", [rule("deny", "Read(a.txt)")], "a.txt", "denied"],
    ["deny of everything", [rule("deny", "Read")], "a.txt", "denied"],
    ["deny of another file", [rule("deny", "Read(b.txt)")], "a.txt", "free"],
    ["ask with nobody there", [rule("ask", "Read(a.txt)")], "a.txt", "denied"],
    ["allow over nothing", [rule("allow", "Read(a.txt)")], "a.txt", "free"],
    ["deny beats allow", [rule("allow", "Read(a.txt)"), rule("deny", "Read(a.txt)")], "a.txt", "denied"],
    ["deny beats allow in the other order", [rule("deny", "Read"), rule("allow", "Read(a.txt)")], "a.txt", "denied"],
    ["ask beats allow", [rule("allow", "Read"), rule("ask", "Read(a.txt)")], "a.txt", "denied"],
    ["deny of Edit leaves reading free", [rule("deny", "Edit(a.txt)")], "a.txt", "free"],
    ["a link to a denied file", [rule("deny", "Read(a.txt)")], "to-a", "denied"],
    ["a denied link", [rule("deny", "Read(to-a)")], "to-a", "denied"],
    [
      "an allowed link to a file that asks",
      [rule("ask", "Read(a.txt)"), rule("allow", "Read(to-a)")],
      "to-a",
      "denied",
    ],
    ["a folder denies what is in it", [rule("deny", "Read(src)")], "src/x.ts", "denied"],
    ["an absolute pattern", [rule("deny", `Read(/${at("ws/a.txt")})`)], "a.txt", "denied"],
    ["a rule is no way out", [rule("allow", "Read(//**)")], "../out/x", "denied"],
  ] as const) {
    test(name, async () => {
      const reply = await engine({ rules }).read(asked);
      if (verdict === "free") shows(reply, "inside");
      else refused(reply, "ACCESS_DENIED", ["inside a\\n", "inside x"]);
    });
  }

  test("a refusal names the rule and its source", async () => {
    const reply = await engine({ rules: [rule("deny", "Read(a.txt)", "project settings")] }).read("a.txt");
    ok(textOf(reply).includes("Read(a.txt)") && textOf(reply).includes("project settings"), textOf(reply));
  });

  test("malformed rules are reported and change nothing", async () => {
    const { guard, read } = engine({ rules: [rule("deny", "Sing(a.txt)"), rule("deny", "Read(../a.txt)")] });
    equal(guard.ruleFaults.length, 2);
    shows(await read("a.txt"), "inside a");
  });
});

describe.skipIf(onWindows)("secrets", () => {
  test("ask by default, also by way of a link, and are refused when nobody is there", async () => {
    for (const asked of [".env", "to-env", "src/../.env"]) {
      refused(await engine().read(asked), "ACCESS_DENIED", ["secret-content"]);
    }
    shows(await engine().read(".env.example"), "TOKEN=example");
  });

  test("the refusal names the rule that would allow it, and that rule does", async () => {
    const said = textOf(await engine().read(".env"));
    ok(said.includes("Read(/.env)"), said);
    shows(await engine({ rules: [rule("allow", "Read(/.env)")] }).read(".env"), "secret-content");
  });

  test("are free when the operator says so", async () =>
    shows(await engine({ secrets: "allow" }).read(".env"), "secret-content"));

  for (const [source, lifted] of [
    ["user settings", true],
    ["command line", true],
    ["options", true],
    ["project settings", false],
  ] as const) {
    for (const text of ["Read(.env)", "Read", "Read(**)", `Read(/${at("ws/.env")})`]) {
      test(`${text} in ${source} ${lifted ? "lifts" : "does not lift"} the question`, async () => {
        const reply = await engine({ rules: [rule("allow", text, source)] }).read(".env");
        if (lifted) shows(reply, "secret-content");
        else refused(reply, "ACCESS_DENIED", ["secret-content"]);
      });
    }
  }

  test("a project's allow beside the user's own does not take it away", async () => {
    const rules = [rule("allow", "Read(.env)", "project settings"), rule("allow", "Read(.env)", "user settings")];
    for (const order of [rules, rules.toReversed()]) {
      const reply = await engine({ rules: order }).read(".env");
      if (!reply.isError) shows(reply, "secret-content");
      else refused(reply, "ACCESS_DENIED", ["secret-content"]); // the safe side, if it must be one
    }
  });

  test('with "yes" every question is answered, and no deny is lifted', async () => {
    shows(await engine({ asker: "yes" }).read(".env"), "secret-content");
    shows(await engine({ asker: "yes", rules: [rule("ask", "Read(a.txt)")] }).read("a.txt"), "inside a");
    const denying = engine({ asker: "yes", rules: [rule("deny", "Read(.env)")] });
    refused(await denying.read(".env"), "ACCESS_DENIED", ["secret-content"]);
    refused(await denying.read("../out/x"), "ACCESS_DENIED", ["outside\\n"]);
  });
});

describe.skipIf(onWindows)("asking", () => {
  test("the question names the real path, the rule and what would answer it for good", async () => {
    const { asked, asker } = answering({ reply: "once" });
    shows(await engine({ asker }).read("to-env"), "secret-content");
    deepEqual(asked, [
      {
        permission: "read",
        patterns: [at("ws/.env")],
        always: ["Read(/.env)"],
        keep: ["session"],
        metadata: { path: at("ws/to-env"), rule: "Read(.env)" },
      },
    ]);
  });

  test("once is for one call", async () => {
    const { asked, asker } = answering({ reply: "once" }, { reply: "once" });
    const { read } = engine({ asker });
    await read(".env");
    await read(".env");
    equal(asked.length, 2);
  });

  test("always is kept for the session, for that file, and not for another session", async () => {
    const { asked, asker } = answering({ reply: "always" }, { reply: "reject" }, { reply: "reject" });
    const { read } = engine({ asker, rules: [rule("ask", "Read(a.txt)")] });
    shows(await read(".env"), "secret-content");
    shows(await read(".env"), "secret-content");
    shows(await read("src/../.env"), "secret-content");
    equal(asked.length, 1);
    refused(await read("a.txt"), "ACCESS_DENIED", ["inside a"]);
    refused(await engine({ asker }).read(".env"), "ACCESS_DENIED", ["secret-content"]);
    equal(asked.length, 3);
  });

  test("always is kept by whatever link the file is asked for", async () => {
    const { asked, asker } = answering({ reply: "always" });
    const { read } = engine({ asker });
    shows(await read("to-env"), "secret-content");
    shows(await read("to-env"), "secret-content");
    shows(await read(".env"), "secret-content");
    equal(asked.length, 1);
  });

  test("always for a file of one root is nothing for its namesake in another", async () => {
    const { asked, asker } = answering({ reply: "always" }, { reply: "reject" });
    const { read } = engine({ asker, roots: [at("ws"), at("second")] });
    shows(await read(".env"), "secret-content");
    shows(await read(".env"), "secret-content");
    equal(asked.length, 1);
    refused(await read(at("second/.env")), "ACCESS_DENIED", ["other-content"]);
    equal(asked.length, 2);
  });

  test("a wider rule may be kept instead", async () => {
    const { asked, asker } = answering({ reply: "always", rule: "Read(**)" });
    const { read } = engine({ asker, rules: [rule("ask", "Read(a.txt)")] });
    await read("a.txt");
    shows(await read(".env"), "secret-content");
    equal(asked.length, 1);
  });

  test("what is kept lifts no deny", async () => {
    const { asker } = answering({ reply: "always", rule: "Read" });
    const { read } = engine({ asker, rules: [rule("deny", "Read(a.txt)")] });
    await read(".env");
    refused(await read("a.txt"), "ACCESS_DENIED", ["inside a"]);
  });

  test("reject comes with the person's words, and is asked again", async () => {
    const { asked, asker } = answering({ reply: "reject", feedback: "use the example file" }, { reply: "reject" });
    const { read } = engine({ asker });
    const reply = await read(".env");
    refused(reply, "ACCESS_DENIED", ["secret-content"]);
    ok(textOf(reply).includes("use the example file"), textOf(reply));
    refused(await read(".env"), "ACCESS_DENIED", ["secret-content"]);
    equal(asked.length, 2);
  });

  test("a host that fails to ask is a bug of the host and shows nothing", async () => {
    const { read } = engine({ asker: () => Promise.reject(new Error("no terminal")) });
    await rejects(read(".env"), /no terminal/);
  });

  test("nothing is asked about what is denied, missing or outside", async () => {
    const { asked, asker } = answering();
    const { read } = engine({ asker, rules: [rule("deny", "Read(.env)"), rule("ask", "Read(a.txt)")] });
    for (const path of [".env", "nothing/.env", "../out/.env", "sub/id_rsa"]) await read(path);
    deepEqual(asked, []);
  });

  test("always holds for a file of any name, and for no other", async () => {
    const name = fc
      .string({
        unit: fc.constantFrom(...Array.from("ab *?[]!#\\{}()$^.,~-+|'\"\u00e9\u0301\u4e2d")),
        minLength: 1,
        maxLength: 6,
      })
      .filter((text) => text !== "." && text !== ".." && !text.endsWith(".a")); // archives are refused by their name
    const { path: here } = workspace({});
    await fc.assert(
      fc.asyncProperty(name, name, async (first, second) => {
        fc.pre(first !== second);
        fs.writeFileSync(here(first), "inside\n");
        fs.writeFileSync(here(second), "inside\n");
        const { asked, asker } = answering({ reply: "always" }, { reply: "reject" });
        const { read } = createEngine({ roots: [here()], rules: [rule("ask", "Read")], asker });
        for (const path of [first, first]) shows(await read(`./${path}`), "inside");
        equal(asked.length, 1, `asked twice about ${JSON.stringify(first)}: ${asked[0]?.always[0]}`);
        refused(await read(`./${second}`), "ACCESS_DENIED");
        for (const path of [first, second]) fs.rmSync(here(path));
      }),
      { numRuns: 300 },
    );
  });

  // escapePattern leaves a final newline or carriage return bare, and `ignore` strips it: "a\r" becomes "/a".
  test("always for a name that ends in a line end does not free its namesake without", async () => {
    const { path: here } = workspace({ "a\r": "inside\n", a: "inside\n" });
    const { asker } = answering({ reply: "always" }, { reply: "reject" });
    const { read } = createEngine({ roots: [here()], rules: [rule("ask", "Read")], asker });
    shows(await read("a\r"), "inside");
    refused(await read("a"), "ACCESS_DENIED");
  });
});

describe.skipIf(onWindows)("a denied file that is missing is like one that exists", () => {
  const rules = [rule("deny", "Read(/denied/**)")];
  const said = async (asked: string): Promise<string> =>
    wholeOf(await engine({ rules }).read(asked)).replaceAll(JSON.stringify(asked).slice(1, -1), "<asked>");

  for (const [existing, others] of [
    [
      "denied/key.txt",
      ["denied/no.txt", "denied/loop", "denied/out", "denied/out/x", "denied/sub/no", "denied/loop/x"],
    ],
    ["to-denied/key.txt", ["to-denied/no.txt", "to-denied/loop", "to-denied/out/x", "to-denied/no/deeper"]],
    ["to-sub/../key.txt", ["to-sub/../no.txt", "to-sub/../loop", "to-sub/../out/x", "to-sub/../key.txt/x"]],
    ["denied/sub", ["denied/bus", "denied/no/../x"]],
  ] as const) {
    for (const other of others) {
      test(`"${other}" and "${existing}"`, async () => {
        const expected = await said(existing);
        ok(expected.includes("ACCESS_DENIED"), expected);
        equal(await said(other), expected);
      });
    }
  }

  test("while a missing file that is not denied is told to be missing", async () => {
    refused(await engine({ rules }).read("no.txt"), "NOT_FOUND");
    refused(await engine({ rules }).read("src/no.txt"), "NOT_FOUND");
  });

  test("and neither is suggested", async () => {
    for (const asked of ["denied-key.txt", "denid/key.txt", "key.txt", "src/key.txt"]) {
      refused(await engine({ rules }).read(asked), "NOT_FOUND", ["denied/key.txt"]);
    }
  });

  test("a path outside stays outside, whatever rules say", async () => {
    const all = engine({ rules: [rule("deny", "Read")] });
    const data = await problemOf(() => Promise.resolve(all.guard.resolve("../out/x")));
    equal(data, undefined);
    equal(all.guard.resolve("../out/x").seen, "outside");
  });
});

async function problemOf(run: () => Promise<unknown>): Promise<ProblemOf<"ACCESS_DENIED"> | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    ok(error instanceof Problem && error.data.code === "ACCESS_DENIED");
    return error.data;
  }
}

describe.skipIf(onWindows)("a target", () => {
  for (const [asked, absolute, relative, real, is] of [
    ["a.txt", "ws/a.txt", "a.txt", "a.txt", "file"],
    ["./src/../a.txt", "ws/a.txt", "a.txt", "a.txt", "file"],
    ["to-a", "ws/to-a", "to-a", "a.txt", "file"],
    ["to-sub/y", "ws/to-sub/y", "to-sub/y", "denied/sub/y", "file"],
    // Bent by a link: its letters would name something else.
    ["to-sub/../key.txt", "ws/denied/key.txt", "denied/key.txt", "denied/key.txt", "file"],
    ["src", "ws/src", "src", "src", "folder"],
    [".", "ws", "", "", "folder"],
  ] as const) {
    test(`of "${asked}" is ${real || "the root"}, shown as ${relative || "the root"}`, () => {
      const resolved = engine().guard.resolve(asked);
      ok(resolved.seen === "node");
      resolved.node.handle.close();
      deepEqual(resolved.target, {
        asked,
        absolute: at(absolute),
        relative,
        real: real === "" ? at("ws") : at("ws", real),
        realRelative: real,
        root: at("ws"),
        is,
      });
    });
  }

  test("relative paths start at the base, be it given relative itself", async () => {
    for (const base of [at("ws/src"), `${at("ws/src")}/`, path.relative(process.cwd(), at("ws/src"))]) {
      shows(await engine({ base }).read("x.ts"), "inside x");
      shows(await engine({ base }).read("../a.txt"), "inside a");
      refused(await engine({ base }).read("../../out/x"), "ACCESS_DENIED", ["outside\\n"]);
    }
  });
});

describe.skipIf(onWindows)("a search", () => {
  const view = (rules: readonly RuleText[], options: Partial<EngineOptions> = {}) =>
    engine({ rules, ...options }).guard.search(at("ws"));

  for (const [relative, is, hidden, shown] of [
    ["a.txt", "file", false, true],
    [".env", "file", false, false],
    [".env.example", "file", false, true],
    ["denied", "folder", true, false],
    ["denied/key.txt", "file", true, false],
    ["deep/denied/key.txt", "file", false, true],
    ["src", "folder", false, true],
    ["asked/x", "file", false, false],
    ["src/x.SECRET", "file", true, false],
  ] as const) {
    test(`${hidden ? "hides" : "names"} ${relative} and ${shown ? "shows" : "does not show"} its content`, () => {
      const { hides, shows: isShown } = view([
        rule("deny", "Read(/denied)"),
        rule("deny", "Grep(*.secret)"),
        rule("ask", "Read(asked/**)"),
        rule("allow", "Edit"),
      ]);
      equal(hides(relative, is), hidden);
      if (is === "file") equal(isShown(relative), shown);
    });
  }

  test("says what permit says, for all paths and rules here", async () => {
    const rules = [rule("deny", "Read(/denied/**)"), rule("deny", "Read(/to-a)"), rule("ask", "Read(x.ts)")];
    const one = engine({ rules });
    const { hides, shows: isShown } = one.guard.search(at("ws"));
    for (const relative of ["a.txt", ".env", ".env.example", "src/x.ts", "denied/key.txt"]) {
      equal(!(await one.read(relative)).isError, isShown(relative), relative);
      equal(one.guard.denied("read", [at("ws", relative)], "file") !== undefined, hides(relative, "file"), relative);
    }
  });

  test("hides what a denied link leads to, and what is our own", () => {
    const { hides } = view([rule("deny", "Read(/to-denied)")]);
    equal(hides("denied/key.txt", "file"), true);
    equal(hides("src/x.ts", "file"), false);
  });

  test("asks the disk nothing for a path", () => {
    const one = engine({ rules: [rule("deny", "Read(/to-a)"), rule("deny", "Read(*.secret)")] });
    const { hides, shows: isShown } = one.guard.search(at("gone"));
    for (let at = 0; at < 1_000; at += 1) {
      equal(hides(`no/such/folder/${at}.ts`, "file"), false);
      equal(isShown(`no/such/folder/${at}.secret`), false);
    }
  });
});

describe.skipIf(onWindows)("very many rules that name a path", () => {
  test("still deny what a link among them leads to, also one that is made later", async () => {
    const { path: here } = workspace({
      "real.txt": "inside\n",
      later: { "real.txt": "inside\n" },
      first: { link: "real.txt" },
    });
    const many = Array.from({ length: 2_000 }, (_, at) => rule("deny", `Read(/names/n${at}.txt)`));
    const rules = [...many, rule("deny", "Read(/first)"), rule("deny", "Read(/second)")];
    let nowMs = 0;
    const disk = createDisk([here()]);
    const links = namedLinks(rules, disk, undefined, () => nowMs);
    equal(links.deny("read", here("real.txt"))?.text, "Read(/first)");
    equal(links.deny("read", here("later/real.txt")), undefined);
    fs.symlinkSync("later", here("second"));
    nowMs += 60_000;
    equal(links.deny("read", here("later/real.txt"))?.text, "Read(/second)");
    equal(links.now().deny("read", here("later/real.txt"))?.text, "Read(/second)");
    fs.unlinkSync(here("second"));
    equal(links.deny("read", here("later/real.txt")), undefined);
    refused(await createEngine({ roots: [here()], rules }).read("real.txt"), "ACCESS_DENIED", ["inside\\n"]);
  });
});
