import ignore from "ignore";
import { expect, test } from "vitest";
import type { RuleText } from "../contract/permission.ts";
import { hiddenPatterns } from "./hidden-patterns.ts";

const rule = (verdict: RuleText["verdict"], text: string): RuleText => ({ verdict, text, source: "options" });

test("secrets are left out in any letter case, samples and folders of such names are not", () => {
  const { lines, cover, mayBeHidden } = hiddenPatterns([], "root", { asked: "ask" });
  const leaves = ignore({ ignorecase: false }).add([...lines]);
  expect(cover).toBe("all");
  for (const path of [".env", "sub/.ENV", "a/.env.local", "x/Server.PEM", ".aws/credentials", "id_rsa"]) {
    expect([path, leaves.ignores(path), mayBeHidden(path)]).toEqual([path, true, true]);
  }
  for (const path of [".env.example", "environment.ts", "id_map.ts", "id_rsa.pub", ".env/lib/a.py"]) {
    expect([path, leaves.ignores(path)]).toEqual([path, false]);
  }
});

for (const [name, rules, where, asked, lines, cover] of [
  ["a denied folder", [rule("deny", "Read(x1/**)")], "root", "allow", ["**/[xX]1/**"], "all"],
  ["everything", [rule("deny", "Read")], "within", "allow", ["*"], "all"],
  ["a rule of the root", [rule("deny", "Read(/1/2)")], "root", "allow", ["/1/2"], "all"],
  ["the same for a folder within", [rule("deny", "Read(/1/2)")], "within", "allow", [], "some"],
  ["an absolute path", [rule("deny", "Read(//1/2)")], "root", "allow", [], "some"],
  ["home", [rule("deny", "Read(~/1)")], "root", "allow", [], "some"],
  ["braces and escapes", [rule("deny", "Read({1,2})"), rule("deny", "Read(\\!1)")], "root", "allow", [], "some"],
  ["an exception", [rule("deny", "Read(1*)"), rule("deny", "Read(!12)")], "root", "allow", ["**/1*", "!**/12"], "all"],
  ["what is asked about", [rule("ask", "Grep(1)")], "root", "allow", [], "all"],
  ["what is only about edits", [rule("deny", "Edit(1)")], "root", "allow", [""], "all"],
] as const) {
  test(`${name}: ${lines.join(" ") || "nothing"}, ${cover}`, () => {
    expect(hiddenPatterns(rules, where, { asked })).toMatchObject({ lines, cover });
  });
}

test("what an allow rule may lift is not left out beforehand", () => {
  expect(hiddenPatterns([rule("allow", "Read(.env)")], "root", { asked: "ask" })).toMatchObject({
    lines: [],
    cover: "some",
  });
});

test("a quick look finds every name that a rule may hide, and everything where that cannot be told", () => {
  const lookup = (text: string): ((path: string) => boolean) =>
    hiddenPatterns([rule("deny", text)], "root", { asked: "allow" }).mayBeHidden;
  expect(["a/secret-1", "a/SECRET-1", "a/public"].map(lookup("Read(secret*)"))).toEqual([true, true, false]);
  expect(lookup("Read(*)")("anything")).toBe(true);
  expect(lookup("Read")("anything")).toBe(true);
  expect(lookup("Read({a,b})")("anything")).toBe(true);
  expect(lookup("Edit(a)")("a")).toBe(false);
});
