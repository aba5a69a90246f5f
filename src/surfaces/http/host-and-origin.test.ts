import { expect, test } from "vitest";
import { hasTwoHosts, isOurHost, isOurOrigin, localNames } from "./http-server.ts";

for (const [host, ours] of [
  ["localhost", true],
  ["LOCALHOST:80", true],
  ["127.0.0.1:65535", true],
  ["[::1]:3000", true],
  ["[::1]", true],
  ["localhost:65536", false],
  ["localhost:99999", false],
  [undefined, false],
  ["", false],
  ["evil.example", false],
  ["localhost.evil.example", false],
  ["evil.example:80@localhost", false],
  ["localhost@evil.example", false],
  ["localhost evil", false],
  ["127.0.0.1.nip.io:80", false],
  ["0.0.0.0", false],
  ["::1", false],
] as const) {
  test(`the host ${host} is ${ours ? "ours" : "not ours"}`, () => expect(isOurHost(host, localNames)).toBe(ours));
}

for (const [origin, ours] of [
  [undefined, true],
  ["http://localhost:5173", true],
  ["https://127.0.0.1", true],
  ["http://[::1]:80", true],
  ["null", false],
  ["", false],
  ["http://evil.example", false],
  ["http://localhost.evil.example", false],
  ["http://localhost@evil.example", false],
  ["http://evil.example/?localhost", false],
  ["file://localhost", false],
  ["chrome-extension://localhost", false],
  ["http://localhost:80/path", false],
] as const) {
  test(`the origin ${origin} is ${ours ? "ours" : "not ours"}`, () =>
    expect(isOurOrigin(origin, localNames)).toBe(ours));
}

test("two headers Host are noticed, however they are written", () => {
  expect(hasTwoHosts(["Host", "localhost", "Accept", "host"])).toBe(false);
  expect(hasTwoHosts([])).toBe(false);
  expect(hasTwoHosts(["Host", "localhost", "x", "y", "hOST", "localhost"])).toBe(true);
});
