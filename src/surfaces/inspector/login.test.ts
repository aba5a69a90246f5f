import { expect, test } from "vitest";
import { cookieIn, createLogin } from "./login.ts";

test("a key is good once, for an hour, and only the newest", () => {
  let now = 0;
  const login = createLogin(() => now);
  expect(login.exchange("")).toBeUndefined();
  const [first, second] = [login.newKey(), login.newKey()];
  expect(login.exchange(first)).toBeUndefined();
  expect(login.exchange(second)).toBeDefined();
  expect(login.exchange(second)).toBeUndefined();
  const late = login.newKey();
  now = 3_600_001;
  expect(login.exchange(late)).toBeUndefined();
});

test("a browser is known by both halves, until it has been away for long or leaves", () => {
  let now = 0;
  const login = createLogin(() => now);
  const enter = () => login.exchange(login.newKey()) ?? { cookie: "", page: "" };
  const [one, two] = [enter(), enter()];
  const name = login.browser(one.cookie, one.page);
  expect(name).toBeDefined();
  expect(login.browser(two.cookie, two.page)).not.toBe(name);
  expect(login.browser(one.cookie, two.page)).toBeUndefined();
  expect(login.browser(one.cookie, undefined)).toBeUndefined();
  expect(login.browser(undefined, undefined)).toBeUndefined();
  now = 43_000_000;
  expect(login.browser(one.cookie, one.page)).toBe(name);
  now = 50_000_000;
  expect(login.browser(two.cookie, two.page)).toBeUndefined();
  login.leave(name ?? "");
  expect(login.browser(one.cookie, one.page)).toBeUndefined();
});

test("only so many browsers are remembered", () => {
  const login = createLogin();
  const all = Array.from({ length: 65 }, () => login.exchange(login.newKey()) ?? { cookie: "", page: "" });
  expect(all.map(({ cookie, page }) => login.browser(cookie, page) !== undefined).indexOf(true)).toBe(1);
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
