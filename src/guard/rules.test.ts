import { deepEqual, equal, ok, throws } from "node:assert/strict";
import * as fc from "fast-check";
import ignore from "ignore";
import { describe, test } from "vitest";
import type { RuleText, Verdict } from "../contract/permission.ts";
import type { PathName } from "./group.ts";
import { compileRules, escapePattern } from "./rules.ts";

const root = "/work/app";
const home = "/home/me";

const inside = (relative: string): PathName => ({ absolute: `${root}/${relative}`, relative });
const outside = (absolute: string): PathName => ({ absolute, relative: undefined });
const named = (path: string): PathName => (path.startsWith("/") ? outside(path) : inside(path));
const write = (verdict: Verdict, text: string, source = "user settings"): RuleText => ({ verdict, text, source });
const compile = (...texts: readonly RuleText[]) => compileRules(texts, { home });

/** The text of the rule that matched, or "none". */
const decider = (rules: ReturnType<typeof compile>, permission: "read" | "edit", ...paths: readonly string[]) =>
  rules.decide(permission, paths.map(named)).rule?.text ?? "none";

describe("a pattern matches as it is anchored", () => {
  for (const [verdict, pattern, path, matches] of [
    // Relative, without a slash: at any depth, and with a folder all beneath it.
    ["deny", ".env", ".env", true],
    ["deny", ".env", "a/b/.env", true],
    ["deny", ".env", ".env.local", false],
    ["deny", "build", "a/build/x/y", true],
    ["allow", "*.md", "a/b.md", true],
    ["allow", "build", "a/build/x", true],
    // Relative, with a slash: allow at the root, deny and ask at any depth.
    ["allow", "src/**", "src/a/b.ts", true],
    ["allow", "src/**", "vendor/src/a.ts", false],
    ["deny", "src/**", "vendor/src/a.ts", true],
    ["ask", "src/**", "vendor/src/a.ts", true],
    ["deny", "secrets-*/config.json", "x/secrets-a/config.json", true],
    ["deny", "**/.env*", "sub/module/.env.local", true],
    // A secret is one outside the roots too; an allow rule does not reach there.
    ["deny", ".env", "/elsewhere/.env", true],
    ["allow", ".env", "/elsewhere/.env", false],
    ["allow", "**", "/elsewhere/x", false],
    ["allow", "**", "a/b", true],
    // The workspace root.
    ["deny", "/build", "build/x", true],
    ["deny", "/build", "a/build/x", false],
    ["deny", "/build", "/build/x", false],
    ["allow", "/src/*.ts", "src/a.ts", true],
    ["allow", "/src/*.ts", "src/a/b.ts", false],
    // The file system's root.
    ["allow", "//tmp/x/**", "/tmp/x/y", true],
    ["allow", "//tmp/x/**", "/tmp/xy", false],
    ["deny", "//work/app/a", "a/b", true],
    ["deny", "//etc", "etc/x", false],
    // Home.
    ["deny", "~/.ssh/**", "/home/me/.ssh/id", true],
    ["deny", "~/.ssh/**", "/home/you/.ssh/id", false],
    ["deny", "~", "/home/me/x", true],
    ["deny", "~/", "/home/me", true],
    ["deny", "a~/b", "a~/b", true],
    // Folders.
    ["deny", "secrets/", "a/secrets/x", true],
    ["deny", "secrets/", "a/secrets", true],
    ["allow", "secrets/", "secrets", false],
    ["allow", "secrets/", "secrets/x", true],
    // Letter case and Unicode form: any for what narrows, exact for what widens.
    ["deny", ".env", "A/.ENV", true],
    ["ask", ".GIT/hooks/**", ".git/Hooks/x", true],
    ["allow", "src/**", "SRC/a", false],
    ["deny", "caf\u00e9", "cafe\u0301", true],
    ["deny", "cafe\u0301/x", "caf\u00e9/x", true],
    ["deny", "\u00c9*", "e\u0301a", true],
    ["allow", "caf\u00e9", "cafe\u0301", false],
    ["deny", "\uff0eenv", ".env", false],
    // Characters that mean nothing in gitignore are themselves.
    ["allow", "a$b+(c).ts", "a$b+(c).ts", true],
    ["deny", "a(b)", "a(b)", true],
    ["deny", "#x#", "a/#x#", true],
    ["deny", "\\!x", "!x", true],
    ["deny", "app/[slug]/**", "app/[slug]/page.tsx", true],
    ["deny", "app/[[...slug]]/page.tsx", "app/[[...slug]]/page.tsx", true],
    ["deny", "[/./ab]x", "sub/.x", true],
    ["allow", "/[/../ab]x", ".x", true],
    ["allow", "/[a//b]x", "bx", true],
    ["deny", "[ab].ts", "b.ts", true],
    ["deny", "x[0-9]y", "X5Y", true],
    ["deny", "[open", "[open", true],
    ["allow", "app/[slug]/**", "app/[slug]/page.tsx", false],
    ["allow", "app/\\[slug]/**", "app/[slug]/page.tsx", true],
    ["deny", "a?c", "abc", true],
    ["deny", "*", "x", true],
    ["deny", "src/**/x", "src/x", true],
    // A line end in a name does not hide it.
    ["deny", "secrets/**", "secrets/a\nb", true],
    ["deny", ".env", "a\r\nb/.env", true],
    ["deny", "**", "a\u2028b/c\n", true],
    // Names that objects have of themselves.
    ["deny", "__proto__", "a/__proto__/x", true],
    ["allow", "x", "toString", false],
  ] as const) {
    test(`${verdict} ${JSON.stringify(pattern)} ${matches ? "matches" : "leaves"} ${JSON.stringify(path)}`, () => {
      const rules = compile(write(verdict, `Read(${pattern})`));
      equal(decider(rules, "read", path), matches ? `Read(${pattern})` : "none");
      deepEqual(rules.faults, []);
    });
  }

  test("on Windows drive letters and backslashes make no difference", () => {
    const name = outside("C:\\Users\\me\\x.txt");
    for (const pattern of ["//c/Users/**", "//C:/Users/**", "C:\\Users\\**", "c:/Users/me/x.txt", "~/x.txt"]) {
      const rules = compileRules([write("allow", `Read(${pattern})`)], { home: "c:\\Users\\me" });
      equal(rules.decide("read", [name]).rule?.text, `Read(${pattern})`);
    }
  });

  test("a backslash is part of a name elsewhere", () => {
    equal(decider(compile(write("deny", "Read(//a/b)")), "read", "/a\\b"), "none");
  });

  test("a root itself is matched by nothing but a bare tool and absolute patterns", () => {
    const rootName = { absolute: root, relative: "" };
    equal(compile(write("deny", "Read(**)")).decide("read", [rootName]).rule, undefined);
    equal(compile(write("deny", "Read")).decide("read", [rootName]).verdict, "deny");
    equal(compile(write("deny", "Read(//work/**)")).decide("read", [rootName]).verdict, "deny");
    equal(compile(write("deny", "Read")).decide("read", [outside("/")]).verdict, "deny");
  });

  test("an escaped path matches just itself", () => {
    for (const path of ["a[b]*?.ts", "!a", "#a", "a\\b", "a b ", "x /y", "$&+(){a,b}", "a]b", "**"]) {
      const rules = compile(write("allow", `Edit(/${escapePattern(path)})`));
      equal(rules.decide("edit", [inside(path)]).verdict, "allow", path);
      equal(rules.decide("edit", [inside(`${path}x`)]).rule, undefined);
    }
    const rules = compile(write("allow", `Edit(/${escapePattern("a[b]*")})`));
    equal(decider(rules, "edit", "ab"), "none");
    equal(decider(rules, "edit", "a[b]c"), "none");
  });
});

describe("of several rules", () => {
  const sources = ["default", "user settings", "project settings", "command line", "session"];

  test("deny beats ask beats allow, whatever their order and source", () => {
    const texts = [write("allow", "Read(a)"), write("ask", "Read(a)"), write("deny", "Read(a)")] as const;
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ] as const) {
      for (const source of sources) {
        const mixed = order.map((at) => ({ ...texts[at], source: at === 1 ? source : "user settings" }));
        equal(compile(...mixed).decide("read", [inside("a")]).verdict, "deny");
        const milder = mixed.filter(({ verdict }) => verdict !== "deny");
        equal(compile(...milder).decide("read", [inside("a")]).verdict, "ask");
      }
    }
  });

  test("without a rule reading is allowed and editing is asked for", () => {
    for (const rules of [compile(), compile(write("deny", "Read(b)"))]) {
      deepEqual(rules.decide("read", [inside("a")]), { verdict: "allow", rule: undefined });
      deepEqual(rules.decide("edit", [inside("a")]), { verdict: "ask", rule: undefined });
    }
  });

  test("the rule that decided is named with its source", () => {
    const rule = write("deny", "Read(.env)", "project settings");
    const rules = compile(write("deny", "Read(x)"), write("deny", "Read(y)", "project settings"), rule);
    deepEqual(rules.decide("read", [inside("sub/.env/q")]), { verdict: "deny", rule });
  });

  test("a bare tool covers everything", () => {
    const rules = compile(write("ask", "Read"), write("deny", "Edit"));
    equal(rules.decide("read", [outside("/x")]).verdict, "ask");
    equal(rules.decide("edit", [inside("x")]).verdict, "deny");
  });

  test("every tool's rule counts, in any letter case", () => {
    for (const [tool, permission] of [
      ["Read", "read"],
      ["Glob", "read"],
      ["grep", "read"],
      ["LS", "read"],
      ["Edit", "edit"],
      ["WRITE", "edit"],
      ["MultiEdit", "edit"],
      ["notebookEdit", "edit"],
      ["Patch", "edit"],
      ["List", "read"],
      ["NotebookRead", "read"],
      ["notebook_edit", "edit"],
      ["apply_patch", "edit"],
      ["ApplyPatch", "edit"],
      ["Rewind", "edit"],
    ] as const) {
      const rules = compile(write("allow", ` ${tool}(a) `));
      equal(rules.decide(permission, [inside("a")]).rule?.text, ` ${tool}(a) `);
      equal(rules.decide(permission === "read" ? "edit" : "read", [inside("a")]).rule, undefined);
    }
  });

  test("what may not be read may not be edited; what is asked about on read is not", () => {
    equal(decider(compile(write("deny", "Read(a)"), write("allow", "Edit(a)")), "edit", "a"), "Read(a)");
    equal(decider(compile(write("ask", "Read(a)"), write("allow", "Edit(a)")), "edit", "a"), "Edit(a)");
    equal(decider(compile(write("deny", "Edit(a)")), "read", "a"), "none");
    equal(decider(compile(write("allow", "Edit(a)")), "read", "a"), "none");
  });

  test("2,000 rules are told apart", () => {
    const texts = Array.from({ length: 2_000 }, (_, at) =>
      write(at % 2 === 0 ? "deny" : "allow", `Read(${at % 4 < 2 ? "" : "/"}dir${at}/*.x${at})`, sources[at % 5]),
    );
    const rules = compile(...texts);
    for (const at of [0, 1, 2, 3, 998, 999, 1_998, 1_999]) {
      deepEqual(rules.decide("read", [inside(`dir${at}/a.x${at}`)]).rule, texts[at]);
    }
    equal(decider(rules, "read", "dir1/a.x2"), "none");
  });

  test("answers stay right after very many paths", () => {
    const rules = compile(write("deny", "Read(*.key)"));
    for (let at = 0; at < 25_000; at += 1) {
      equal(
        rules.decide("read", [inside(`a${at}.key${at % 2 === 0 ? "" : ".ts"}`)]).verdict,
        at % 2 ? "allow" : "deny",
      );
    }
  });
});

describe("letter case beyond ASCII, for disks that do not tell it apart", () => {
  for (const [pattern, path] of [
    [".s\u017fh/**", ".ssh/key"],
    [".ssh/**", ".\u017fsh/key"],
    ["key.txt", "\u212aey.txt"],
    ["\u212aey.txt", "KEY.TXT"],
    ["stra\u00dfe.txt", "STRASSE.txt"],
    ["strasse.txt", "stra\u1e9ee.txt"],
    ["config.json", "con\ufb01g.json"],
    ["stra?e.txt", "stra\u00dfe.txt"],
    ["stra[\u00df]e.txt", "stra\u1e9ee.txt"],
    ["\u03c3*", "\u03a3\u03a3.txt"],
    ["**/\\\u017fecret", "deep/secret"],
  ] as const) {
    test(`${pattern} and ${path}: denied and asked about, never allowed`, () => {
      for (const verdict of ["deny", "ask"] as const) {
        equal(compile(write(verdict, `Read(${pattern})`)).decide("read", [inside(path)]).verdict, verdict);
      }
      // A question with a rule that widens: what is not the very name stays what it was.
      equal(
        compile(write("allow", `Edit(${pattern})`)).decide("edit", [inside(path)]).verdict,
        pattern.includes("?") ? "allow" : "ask",
      );
    });
  }

  test("an exception takes out only what it names", () => {
    const rules = compile(write("deny", "Read(keys/*)"), write("deny", "Read(!keys/strasse)"));
    equal(rules.decide("read", [inside("keys/strasse")]).verdict, "allow");
    equal(rules.decide("read", [inside("keys/stra\u00dfe")]).verdict, "deny");
  });
});

describe("a path with two names", () => {
  const rules = compile(write("deny", "Read(secret)"), write("ask", "Read(odd)"), write("allow", "Read(src/**)"));

  test("is denied or asked about if either matches", () => {
    equal(decider(rules, "read", "src/link", "secret"), "Read(secret)");
    equal(decider(rules, "read", "secret", "src/a"), "Read(secret)");
    equal(decider(rules, "read", "odd", "src/a"), "Read(odd)");
    equal(decider(rules, "read", "odd", "secret"), "Read(secret)");
  });

  test("is allowed only if both match", () => {
    equal(decider(rules, "read", "src/link", "src/a"), "Read(src/**)");
    equal(decider(rules, "read", "src/link", "lib/a"), "none");
    equal(decider(rules, "read", "link", "src/a"), "none");
    equal(decider(rules, "read"), "none");
  });

  test("must be normalised", () => {
    for (const path of ["src/../.env", "./a", "a/..", "a//b", "/a/../b"]) {
      throws(() => rules.decide("read", [named(path)]), /not normalised/);
    }
  });
});

describe("an exception", () => {
  test("is taken out of earlier rules of its source and verdict", () => {
    const rules = compile(write("deny", "Read(.env.*)"), write("deny", "Read(!.env.example)"));
    equal(decider(rules, "read", "a/.env.local"), "Read(.env.*)");
    equal(decider(rules, "read", "a/.env.example"), "none");
    equal(decider(rules, "read", "a/.ENV.example"), "Read(.env.*)");
  });

  test("does not reach into another source", () => {
    const rules = compile(
      write("deny", "Read(.env.*)"),
      write("deny", "Read(x)", "project settings"),
      write("deny", "Read(!.env.*)", "project settings"),
    );
    equal(decider(rules, "read", ".env.example"), "Read(.env.*)");
  });

  test("without anything to be taken out of is a fault", () => {
    const rules = compile(write("deny", "Read(.env)"), write("deny", "Read(!.env)", "project settings"));
    equal(rules.faults.length, 1);
    equal(decider(rules, "read", ".env"), "Read(.env)");
  });
});

describe("a rule that cannot work is reported and the others stay in force", () => {
  for (const [text, why] of [
    ["toString", /tool is unknown/],
    ["__proto__", /tool is unknown/],
    ["constructor(x)", /tool is unknown/],
    ["", /form/],
    ["Read(x", /form/],
    ["Read x", /form/],
    ["(x)", /form/],
    ["Read()", /empty/],
    ["Read( )", /empty/],
    ["Read(!)", /empty/],
    ["Read(/)", /nothing/],
    ["Read(//)", /nothing/],
    ["Read(../x)", /never match/],
    ["Read(/./src/**)", /never match/],
    ["Read(.)", /never match/],
    ["Read(a//b)", /never match/],
    ["Read(~/../x)", /never match/],
    ["Read(a\\)", /never match/],
    ["Read(a\0b)", /never match/],
    [`Read(${"x".repeat(5_000)})`, /longer than/],
    ["Raed(x)", /did you mean Read$/],
    ["Edti", /did you mean Edit$/],
    ["MultiEditt(x)", /did you mean MultiEdit$/],
    ["Greb(x)", /did you mean Grep$/],
    ["external_directory(/data)", /named from the file system's root/],
  ] as const) {
    test(JSON.stringify(text.slice(0, 40)), () => {
      for (const verdict of ["deny", "allow"] as const) {
        const rules = compile(write("deny", "Read(.env)"), write(verdict, text, "session"), write("deny", "Read(z)"));
        deepEqual(
          rules.faults.map((fault) => ({ ...fault, why: why.test(fault.why) })),
          // What was to narrow access must not be lost unseen.
          [{ verdict, text, source: "session", why: true, ...(verdict === "deny" ? { stops: true } : {}) }],
        );
        equal(decider(rules, "read", ".env"), "Read(.env)");
        equal(decider(rules, "read", "z"), "Read(z)");
      }
    });
  }

  test("a rule for a tool of the host's own is reported and stops nothing", () => {
    for (const text of ["Bash(rm *)", "WebFetch(domain:x.org)", "mcp__other__*", "Task"]) {
      const [fault] = compile(write("deny", text)).faults;
      deepEqual([fault?.why, fault?.stops], ["it speaks of no tool of Filehand", undefined], text);
    }
  });

  test("braces of a deny or ask rule are choices and letters, those of an allow rule are letters", () => {
    const rules = compile(write("deny", "Read(*.{pem,key})"));
    deepEqual(rules.faults, []);
    for (const [path, verdict] of [
      ["a.pem", "deny"],
      ["sub/b.KEY", "deny"],
      ["c.{pem,key}", "deny"],
      ["d.txt", "allow"],
    ] as const) {
      equal(rules.decide("read", [inside(path)]).verdict, verdict, path);
    }
    const allowing = compile(write("allow", "Edit(*.{pem,key})"));
    equal(allowing.faults.length, 1);
    equal(allowing.decide("edit", [inside("a.pem")]).verdict, "ask");
    equal(compile(write("deny", `Read(${"{a,b}".repeat(7)})`)).faults[0]?.stops, true);
  });

  for (const [verdict, text, path, expected] of [
    ["deny", "Read(./secrets/**)", "secrets/a.txt", "deny"],
    ["deny", "Read(./secrets/**)", "sub/secrets/a.txt", "deny"],
    ["deny", "Read(././/secrets)", "secrets/a.txt", "deny"],
    ["ask", "Read(./.env)", ".env", "ask"],
    ["allow", "Edit(./src/**)", "src/a.ts", "allow"],
    ["allow", "Edit(./src/**)", "sub/src/a.ts", "ask"],
  ] as const) {
    test(`${verdict} ${text} means what it means without "./": ${expected} for ${path}`, () => {
      const rules = compile(write(verdict, text));
      deepEqual(rules.faults, []);
      equal(rules.decide(text.startsWith("Read") ? "read" : "edit", [inside(path)]).verdict, expected);
    });
  }

  test("what is taken out with ./ is taken out", () => {
    const rules = compile(write("deny", "Read(./secrets/**)"), write("deny", "Read(!./secrets/ok.txt)"));
    equal(rules.decide("read", [inside("secrets/ok.txt")]).verdict, "allow");
    equal(rules.decide("read", [inside("secrets/no.txt")]).verdict, "deny");
  });

  test("an open bracket in an allow rule", () => {
    equal(compile(write("allow", "Read([a)")).faults.length, 1);
    equal(compile(write("allow", "Read([]a]b)")).faults.length, 0);
    equal(compile(write("allow", "Read([[]x)")).faults.length, 0);
    equal(compile(write("allow", "Read(\\[a)")).faults.length, 0);
  });

  test("a home rule where home is not known", () => {
    equal(compileRules([write("deny", "Read(~/x)")], { home: undefined }).faults.length, 1);
  });
});

test("many ** in a rule: it denies, and neither allows nor takes anything out", () => {
  const pattern = "a/**/b/**/c/**/d/**/e";
  const path = "a/1/b/c/2/3/d/e";
  deepEqual(compile(write("deny", `Read(${pattern})`)).faults, []);
  equal(decider(compile(write("deny", `Read(${pattern})`)), "read", path), `Read(${pattern})`);
  const allow = compile(write("allow", `Read(/${pattern.replace("a/", "a/**/x/**/")})`));
  deepEqual(allow.faults.length, 1);
  equal(compile(write("deny", "Read(e)"), write("deny", `Read(!a/**/${pattern})`)).faults.length, 1);
});

test("a path of 2,000 folders is compared as any other", () => {
  const deep = (name: string): string => `${"a/".repeat(2_000)}${name}`;
  const text = "Read(a/**/a/**/b)";
  for (const verdict of ["deny", "allow"] as const) {
    equal(decider(compile(write(verdict, text)), "read", deep("b")), text);
    equal(decider(compile(write(verdict, text)), "read", deep("bc")), "none");
    equal(decider(compile(write(verdict, text)), "read", "a/x/a/y/z/b"), text);
  }
});

test("rules too intricate to be compared in time deny and never allow", () => {
  const name = "a".repeat(250);
  const path = Array(15).fill(name).join("/");
  const rules = (verdict: Verdict) =>
    compile(...Array.from({ length: 2_000 }, (_, at) => write(verdict, `Read(**/*[a]*[a]*[a]*[${at}b]x)`)));
  ok(rules("deny").decide("read", [inside(path)]).rule);
  equal(rules("allow").decide("read", [inside(path)]).rule, undefined);
});

test("the same rule many times is compared once", () => {
  const one = write("deny", "Read(*/**/*/**/*x)");
  const rules = compile(...Array.from({ length: 5_000 }, () => one), write("deny", "Read(last)"));
  equal(decider(rules, "read", `${"a/".repeat(500)}x`), one.text);
  equal(decider(rules, "read", `${"a/".repeat(500)}y`), "none");
});

describe("very many rules", () => {
  const many = (count: number, pattern: (at: number) => string): readonly RuleText[] =>
    Array.from({ length: count }, (_, at) => write("deny", `Read(${pattern(at)})`));

  test("are made ready in small steps, and then decide as without them", () => {
    const texts = [...many(5_000, (at) => `name-${at}`), ...many(1_000, (at) => `[ab]${at}`)];
    const [ready, other] = [compile(...texts), compile(...texts)];
    ok([...ready.prepare()].length > 1_000);
    equal([...ready.prepare()].length, 0);
    for (const path of ["x/name-4999", "b7", "c7", "name-5000"]) {
      equal(decider(ready, "read", path), decider(other, "read", path));
    }
    equal(decider(ready, "read", "b7"), "Read([ab]7)");
  });

  test("that are too long together are refused, and stop a server: none of them may be left out silently", () => {
    const { faults } = compile(...many(300, (at) => `${"[a-z]".repeat(200)}${at}`));
    ok(faults.length > 200);
    ok(faults.every(({ stops, why }) => stops === true && why.startsWith("the rules up to it have more than 500000")));
    deepEqual(compile(...many(10_000, (at) => `packages/p${at}/private/**`)).faults, []);
    deepEqual(compile(...many(1_500, (at) => `app/[id]/x-${at}`)).faults, []);
    const [fault] = compile(write("deny", `Read(${"/".repeat(20_000)}x)`)).faults;
    equal(fault?.why, "it is longer than 4096 characters");
  });
});

describe("an escaped slash parts names as in git", () => {
  // Each row as `git check-ignore --no-index` answers (git 2.39).
  for (const [pattern, matching, others] of [
    ["/**\\/a", ["x/a", "x/y/a"], ["a"]],
    ["/x/**\\/a", ["x/y/a"], ["a", "x/a"]],
    ["/x\\/**\\/a", ["x/y/a"], ["a", "x/a"]],
    ["/x\\/**/a", ["x/a", "x/y/a"], ["a"]],
    ["/x\\/**", ["x/a", "x/y/a"], ["a"]],
    ["/*\\/a", ["x/a"], ["a", "x/y/a"]],
  ] as const) {
    test(`allow ${pattern}`, () => {
      const rules = compile(write("allow", `Read(${pattern})`));
      for (const path of matching) equal(decider(rules, "read", path), `Read(${pattern})`);
      for (const path of others) equal(decider(rules, "read", path), "none");
    });
  }

  test("a deny rule means the plain slash by it", () => {
    const rules = compile(write("deny", "Read(/**\\/a)"));
    for (const path of ["a", "x/a", "x/y/a"]) equal(decider(rules, "read", path), "Read(/**\\/a)");
  });
});

test("rules say what gitignore says, for any pattern and path", () => {
  const text = (units: readonly string[]) =>
    fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: 8 }).map((chosen) => chosen.join(""));
  const pattern = text(["a", "B", "b", ".", "*", "**", "?", "/", "[a-b]", "[!a]", "[", "]", "\\", "-", "\u00e9"]);
  const path = text(["a", "b", "B", ".x", "-", "/a", "/b", "[", "]", "\\", "\u00e9"]);
  fc.assert(
    fc.property(pattern, path, (pattern, path) => {
      const relative = path.replace(/^\/+/, "");
      fc.pre(!pattern.startsWith("/"));
      // The `ignore` package takes `**` beside an escaped slash for `*`, git does not: see the table of escaped slashes.
      fc.pre(!/\*\*\\\/|\\\/\*\*/.test(pattern));
      const rules = compile(write("allow", `Read(/${pattern})`));
      const expected = ignore({ ignorecase: false })
        .add({ pattern: `/${pattern}` })
        .test(relative).ignored;
      // A rule reported as one that never matches must be one.
      equal(rules.decide("read", [inside(relative)]).rule !== undefined, expected);
    }),
    { numRuns: 5_000 },
  );
});

describe("folders outside", () => {
  for (const [verdict, text, folder, expected] of [
    ["allow", "external_directory(//srv/data/**)", "/srv/data", "allow"],
    ["allow", "external_directory(//srv/data)", "/srv/data", "allow"],
    ["allow", "external_directory(//srv/data/)", "/srv/data/deep/er", "allow"],
    ["allow", "external_directory(//srv/data/**)", "/srv", "ask"],
    ["allow", "external_directory(//srv/data/**)", "/srv/data-other", "ask"],
    ["allow", "external_directory(~/notes)", "/home/me/notes", "allow"],
    ["allow", "external_directory", "/srv/data", "ask"],
    ["deny", "external_directory", "/srv/data", "deny"],
    ["deny", "external_directory(secret)", "/srv/Secret/x", "deny"],
    ["ask", "ExternalDirectory(//srv)", "/srv/data", "ask"],
    ["allow", "Read(//srv/data/**)", "/srv/data", "ask"],
    ["allow", "Edit", "/srv/data", "ask"],
  ] as const) {
    test(`${verdict} ${text} says ${expected} of ${folder}`, () => {
      equal(compile(write(verdict, text)).decide("external_directory", [outside(`${folder}/`)]).verdict, expected);
    });
  }

  test("a bare allow means the workspace and nothing outside it", () => {
    const rules = compile(write("allow", "Edit"));
    equal(rules.decide("edit", [inside("a")]).verdict, "allow");
    equal(rules.decide("edit", [outside("/srv/data/a")]).verdict, "ask");
  });
});

describe("for any rules and any path", () => {
  const segment = fc.constantFrom("a", "b", "src", "Lib", "x.ts", "y.key", ".env", "caf\u00e9", "deep");
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));
  const pattern = fc
    .tuple(
      fc.constantFrom("", "/", "//work/app/", "**/"),
      fc.array(fc.oneof(segment, fc.constantFrom("*", "**", "*.ts", "s?c", "[ab]", "x*")), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.constantFrom("", "", "/", "/**"),
    )
    .map(([anchor, names, end]) => anchor + names.join("/") + end);
  const source = fc.constantFrom("default", "user settings", "project settings", "command line", "session");
  const tool = fc.constantFrom("Read", "Edit", "Write", "Grep");
  const rule = fc
    .record({ verdict: fc.constantFrom<Verdict>("allow", "ask", "deny"), tool, pattern, source })
    .map(({ verdict, tool, pattern, source }) => write(verdict, `${tool}(${pattern})`, source));
  const permission = fc.constantFrom<"read" | "edit">("read", "edit");
  const many = fc.array(rule, { maxLength: 90 });

  test("a deny that matches alone denies in any company, whatever order and source", () => {
    fc.assert(
      fc.property(many, rule, path, permission, fc.nat(), (others, one, path, permission, at) => {
        const deny = { ...one, verdict: "deny" } as const;
        fc.pre(compile(deny).decide(permission, [inside(path)]).verdict === "deny");
        const place = at % (others.length + 1);
        const mixed = [...others.slice(0, place), deny, ...others.slice(place)];
        equal(compile(...mixed).decide(permission, [inside(path)]).verdict, "deny");
      }),
      { numRuns: 400 },
    );
  });

  test("order and source do not change the verdict, as long as nothing is taken out again", () => {
    fc.assert(
      fc.property(
        many,
        path,
        permission,
        source,
        fc.infiniteStream(fc.nat()),
        (rules, path, permission, source, dice) => {
          const expected = compile(...rules).decide(permission, [inside(path)]).verdict;
          const shuffled = rules
            .map((one) => ({ one, key: dice.next().value ?? 0 }))
            .toSorted((left, right) => left.key - right.key)
            .map(({ one }) => ({ ...one, source }));
          equal(compile(...shuffled).decide(permission, [inside(path)]).verdict, expected);
        },
      ),
      { numRuns: 400 },
    );
  });

  test("very many rules say what each of them says, so none is overlooked by the index", () => {
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 60, maxLength: 200 }),
        fc.array(path, { minLength: 1, maxLength: 8 }),
        permission,
        (rules, paths, permission) => {
          const together = compile(...rules);
          for (const path of paths) {
            const alone = rules.map((one) => compile(one).decide(permission, [inside(path)]));
            const expected = (["deny", "ask", "allow"] as const).find((verdict) =>
              alone.some((decision) => decision.rule !== undefined && decision.verdict === verdict),
            );
            equal(
              together.decide(permission, [inside(path)]).verdict,
              expected ?? (permission === "read" ? "allow" : "ask"),
              path,
            );
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("a second name never widens: what is allowed with two names is allowed with each", () => {
    fc.assert(
      fc.property(many, path, path, permission, (rules, one, other, permission) => {
        const compiled = compile(...rules);
        const strength = { allow: 0, ask: 1, deny: 2 } as const;
        const both = strength[compiled.decide(permission, [inside(one), inside(other)]).verdict];
        for (const name of [one, other]) {
          ok(both >= strength[compiled.decide(permission, [inside(name)]).verdict]);
        }
      }),
      { numRuns: 400 },
    );
  });

  test("exceptions among many rules are those of one gitignore file", () => {
    const line = fc.tuple(
      fc.boolean(),
      fc.array(fc.oneof(segment, fc.constantFrom("*", "*.ts")), { minLength: 1, maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 80 }), path, (lines, path) => {
        const patterns = ["/zzz", ...lines.map(([negated, names]) => `${negated ? "!" : ""}/${names.join("/")}`)];
        const rules = compile(...patterns.map((one) => write("allow", `Read(${one})`)));
        const expected = ignore({ ignorecase: false }).add(patterns).test(path).ignored;
        equal(rules.decide("read", [inside(path)]).rule !== undefined, expected);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("what takes paths out of a deny rule", () => {
  for (const [deny, path, denied] of [
    [["secret*", "!secret.txt"], "secret.txt", false],
    [["secret*", "!secret.txt"], "SECRET.TXT", true],
    [["secret*", "!secret.txt"], "a/Secret.txt", true],
    [["secret*", "!secret.txt"], "a/secret.txt", false],
    [["secret*", "!SECRET.TXT"], "SECRET.TXT", false],
    [["docs", "!docs"], "Docs/docs/x", true],
    [["docs", "!docs"], "docs/Docs/x", true],
    [["docs", "!docs"], "docs/docs/x", false],
    [["keys*", "!keys"], "keys/KEYS", true],
    [["keys*", "!keys"], "keys/a/keys", false],
    [["docs/*", "!docs/*.md"], "docs/a.md", false],
    [["docs/*", "!docs/*.md"], "docs/a.MD", true],
    [["caf\u00e9*", "!caf\u00e9.txt"], "caf\u00e9.txt", false],
    [["caf\u00e9*", "!caf\u00e9.txt"], "CAF\u00c9.txt", true],
  ] as const) {
    test(`${deny.join(" ")} ${denied ? "denies" : "leaves"} ${path}: it is taken to the letter`, () => {
      const rules = compile(...deny.map((pattern) => write("deny", `Read(${pattern})`)));
      equal(rules.decide("read", [named(path)]).verdict === "deny", denied);
    });
  }

  test("whatever was asked about before in a folder of other letters", () => {
    const rules = compile(write("deny", "Read(docs)"), write("deny", "Read(!docs)"));
    const denied = (path: string): boolean => rules.decide("read", [named(path)]).verdict === "deny";
    for (const name of ["a", "b"]) {
      deepEqual([denied(`docs/${name}`), denied(`Docs/${name}`), denied(`docs/Docs/${name}`)], [false, true, true]);
    }
  });
});
