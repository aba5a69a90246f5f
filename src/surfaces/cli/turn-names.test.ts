import { expect, test } from "vitest";
import { findTurn, rangeOf, shortNames } from "./past.ts";

const ids = ["aa11", "aa22", "bb33", "aa"];

test("a turn goes by its id, by the beginning of it, or by its distance from the newest", () => {
  expect(findTurn("aa11", ids)).toBe("aa11");
  expect(findTurn("b", ids)).toBe("bb33");
  expect(findTurn("-1", ids)).toBe("aa");
  expect(findTurn("-4", ids)).toBe("aa11");
});

test("a whole id is meant even if others begin with it", () => {
  expect(findTurn("aa", ids)).toBe("aa");
});

test("what names none or several is told apart", () => {
  expect(findTurn("a", ids)).toEqual({ why: "several", among: ["aa11", "aa22", "aa"] });
  expect(findTurn("c", ids)).toEqual({ why: "unknown" });
  expect(findTurn("", ids)).toEqual({ why: "unknown" });
  for (const far of ["-5", "-0", "-99999999999999999999"])
    expect(findTurn(far, ids)).toEqual({ why: "counted too far" });
});

test("short names are long enough to tell turns apart", () => {
  const names = shortNames(["message-0001", "message-0002", "other", "12345678-9abc"]);
  expect([...names.values()].toSorted()).toEqual(["12345678", "message-0001", "message-0002", "other"]);
});

test("dots part two turns, unless they are part of one", () => {
  expect(rangeOf("-3..-1", () => false)).toEqual(["-3", "-1"]);
  expect(rangeOf("a..b", (name) => name === "a..b")).toEqual(["a..b", "a..b"]);
  expect(rangeOf("-1", () => false)).toEqual(["-1", "-1"]);
});
