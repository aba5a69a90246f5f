import { expect, test } from "vitest";
import { cookieIn, createEntrance } from "./login.ts";

test("a key is good once, for an hour, and only the newest", () => {
  let now = 0;
  const entrance = createEntrance(() => now);
  expect(entrance.exchange("")).toBeUndefined();
  const [first, second] = [entrance.newKey(), entrance.newKey()];
  expect(entrance.exchange(first)).toBeUndefined();
  expect(entrance.exchange(second)).toBeDefined();
  expect(entrance.exchange(second)).toBeUndefined();
  const late = entrance.newKey();
  now = 3_600_001;
  expect(entrance.exchange(late)).toBeUndefined();
});

test("a browser is known by both halves, until it has been away for long or leaves", () => {
  let now = 0;
  const entrance = createEntrance(() => now);
  const enter = () => entrance.exchange(entrance.newKey()) ?? { cookie: "", page: "" };
  const [one, two] = [enter(), enter()];
  const name = entrance.browser(one.cookie, one.page);
  expect(name).toBeDefined();
  expect(entrance.browser(two.cookie, two.page)).not.toBe(name);
  expect(entrance.browser(one.cookie, two.page)).toBeUndefined();
  expect(entrance.browser(one.cookie, undefined)).toBeUndefined();
  expect(entrance.browser(undefined, undefined)).toBeUndefined();
  now = 43_000_000;
  expect(entrance.browser(one.cookie, one.page)).toBe(name);
  now = 50_000_000;
  expect(entrance.browser(two.cookie, two.page)).toBeUndefined();
  entrance.leave(name ?? "");
  expect(entrance.browser(one.cookie, one.page)).toBeUndefined();
});

test("only so many browsers are remembered", () => {
  const entrance = createEntrance();
  const all = Array.from({ length: 65 }, () => entrance.exchange(entrance.newKey()) ?? { cookie: "", page: "" });
  expect(all.map(({ cookie, page }) => entrance.browser(cookie, page) !== undefined).indexOf(true)).toBe(1);
});

for (const [header, value] of [
  [undefined, undefined],
  ["filehand-1=x", "x"],
  ["a=b; filehand-1=x; c=d", "x"],
  ["filehand-12=x", undefined],
  ["xfilehand-1=x", undefined],
  ["filehand-1=x; filehand-1=y", undefined],
  ["filehand-1", undefined],
] as const) {
  test(`the cookie in "${header}"`, () => expect(cookieIn(header, "filehand-1")).toBe(value));
}
