import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlobs } from "./grep-globs.ts";

const compiled = (text: string, folder = "/ws") => {
  const globs = compileGlobs(text, folder);
  if ("fault" in globs) throw new Error(globs.fault);
  return globs;
};

for (const [glob, path, fits] of [
  ["*.ts", "a.ts", true],
  ["*.ts", "src/deep/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["*.{ts,tsx}", "src/a.tsx", true],
  ["*.{ts,{js,mjs}}", "a.mjs", true],
  ["*.ts, *.md", "b.md", true],
  ["*.ts *.md", "b.md", true],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/deep/a.ts", false],
  ["src/*.ts", "lib/src/a.ts", false],
  ["**/src/*.ts", "lib/src/a.ts", true],
  ["src/**/*.ts", "src/a.ts", true],
  ["src/**/*.ts", "src/x/y/a.ts", true],
  ["src/**", "src/x/y/a.ts", true],
  ["src/**", "src", false],
  ["src/", "src/a.ts", true],
  ["./src/a.ts", "src/a.ts", true],
  ["/a.ts", "a.ts", true],
  ["/a.ts", "src/a.ts", false],
  ["/ws/src/*.ts", "src/a.ts", true],
  ["**", "any/thing", true],
  ["**/*", "thing", true],
  ["!*.test.ts", "a.test.ts", false],
  ["!*.test.ts", "a.ts", true],
  ["*.ts !*.test.ts", "a.test.ts", false],
  ["*.ts !*.test.ts", "a.ts", true],
  ["!node_modules", "node_modules/x.js", false],
  ["!node_modules", "deep/node_modules/more/x.js", false],
  ["!**/node_modules", "node_modules/x.js", false],
  ["*.js !dist/", "dist/x.js", false],
  ["*.js !dist/", "src/x.js", true],
  ["!/dist", "src/dist/x.js", true],
  ["[[]x,a", "a", true],
  ["[{]*,a", "a", true],
  ["a?c", "abc", true],
  ["a?c", "a😀c", true],
  ["a?c", "ac", false],
  ["[a-c].txt", "b.txt", true],
  ["[!a-c].txt", "b.txt", false],
  ["[^a-c].txt", "d.txt", true],
  ["[]x].txt", "].txt", true],
  ["\\[a\\].txt", "[a].txt", true],
  ["\\{a,b\\}", "b", false],
  ["*a*b*c*", "xxaxxbxxcxx", true],
  ["*a*b*c*", "xxaxxcxxbxx", false],
  [".*", ".gitignore", true],
  ["app/[id]/*.ts", "app/[id]/page.ts", true],
  ["app/[id]/*.ts", "app/i/page.ts", true],
  ["app/(shop)/**", "app/(shop)/a.ts", true],
  ["!(a).ts", "b.ts", true],
  ["!(a).ts", "a.ts", false],
  ["@(a|b).ts", "a.ts", true],
  ["[[:alpha:]].ts", "a.ts", true],
  ["x{1}.ts", "x{1}.ts", true],
  ["a}", "a}", true],
  ["{1..3}.ts", "2.ts", true],
  ["My Folder/*.md", "My Folder/a.md", true],
  ["a,b.ts", "a,b.ts", true],
  ["a,b.ts", "b.ts", true],
] as const) {
  test(`${glob} ${fits ? "fits" : "does not fit"} ${path}`, () => expect(compiled(glob).matches(path)).toBe(fits));
}

for (const [glob, fault] of [
  ["[a", "unclosed bracket"],
  ["[]", "unclosed bracket"],
  ["*.ts,[!]", "unclosed bracket"],
  ["x[a/b]", "unclosed bracket"],
  ["{a,[]}", "unclosed bracket"],
  ["*.{ts,tsx", "unclosed brace"],
  ["@(a", "unclosed group"],
  ["[z-a].txt", "reversed range"],
  ["a\\", "trailing backslash"],
  ["../x", "parent"],
  ["{a,b}".repeat(11), "too many choices"],
  ["x".repeat(3_000), "too long"],
] as const) {
  test(`${glob.slice(0, 12)} is a fault: ${fault}`, () => {
    expect(compileGlobs(glob, "/ws")).toMatchObject({ fault });
  });
}

test("ripgrep gets the last names where they are plain", () => {
  expect(compiled("*.ts src/**/*.{js,ts}").names).toEqual(["*.ts", "*.js", "*.*js*ts*"]);
  expect(compiled("src/**").names).toBeUndefined();
  expect(compiled("[a]*.ts").names).toBeUndefined();
  expect(compiled("!*.ts").names).toBeUndefined();
});

test("many stars take no longer than the path is long", () => {
  const glob = compiled(`${"*a".repeat(200)}b`);
  expect(glob.matches("a".repeat(200_000))).toBe(false);
});

test("any signs come to an end: a fault, or globs that match or do not", () => {
  const signs = fc.array(fc.constantFrom("[", "]", "!", "^", "-", "/", "{", "}", ",", "\\", "*", "a", " "), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(signs, (glob) => {
      const globs = compileGlobs(glob.join(""), "/ws");
      if ("matches" in globs) globs.matches("a/[/]");
    }),
    { numRuns: 2_000 },
  );
});

test("what is matched is what a plain translation to a regular expression matches", () => {
  const piece = fc.constantFrom("a", "b", "*", "?", "**", "/", "ab", ".");
  const path = fc
    .array(fc.stringMatching(/^[ab.]{1,4}$/), { minLength: 1, maxLength: 4 })
    .map((names) => names.join("/"));
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 7 }), path, (pieces, against) => {
      const glob = pieces
        .join("")
        .replace(/\/+/g, "/")
        .replace(/(?<=[^/])\*\*+|\*\*+(?=[^/])/g, "*");
      if (/^\/?$|\.\.|^!|\/$|^\.\//.test(glob) || [glob, against].some((one) => /(?:^|\/)\.(?:\/|$)/.test(one))) return;
      const names = glob.replace(/^\//, "").split("/");
      const body = names
        .map((name, at) => {
          const last = at === names.length - 1;
          if (/^\*\*+$/.test(name)) return last ? ".+" : "(?:[^/]+/)*";
          return name.replace(/[.]/g, "\\.").replace(/\*+/g, "[^/]*").replace(/\?/g, "[^/]") + (last ? "" : "/");
        })
        .join("");
      const plain = new RegExp(`^${glob.includes("/") ? "" : "(?:.*/)?"}${body}$`);
      expect([glob, against, compiled(glob).matches(against)]).toEqual([glob, against, plain.test(against)]);
    }),
  );
});

test("an accent counts the same as part of its letter and behind it, in the glob and in the name", () => {
  const [one, two] = ["caf\u00e9", "cafe\u0301"];
  for (const [glob, path] of [
    [`${one}*`, `${two}.ts`],
    [`${two}*`, `${one}.ts`],
    [`${one}/**`, `${two}/a.ts`],
    ["caf?.ts", `${two}.ts`],
  ] as const) {
    const globs = compileGlobs(glob, "/ws");
    expect([glob, "matches" in globs && globs.matches(path)]).toEqual([glob, true]);
  }
  // ripgrep is asked for no less.
  expect(compiled("caf?.ts").names).toEqual(["caf*.ts"]);
  expect(compiled("???.ts").names).toEqual(["*.ts"]);
});
