import { describe, expect, test } from "vitest";
import { knownServers, serversOf } from "./servers.ts";

const names = (options: Parameters<typeof serversOf>[0]): readonly string[] =>
  serversOf(options).servers.map(({ name }) => name);

describe("the table of servers", () => {
  test("every server has a name of its own, a program and extensions in lower case", () => {
    expect(new Set(knownServers.map(({ name }) => name)).size).toBe(knownServers.length);
    for (const { command, extensions } of knownServers) {
      expect(command).toMatch(/^[\w-]+$/);
      for (const extension of Object.keys(extensions)) expect(extension).toMatch(/^\.[a-z]+$/);
    }
  });

  test("all known ones are used by default", () => expect(names({})).toEqual(knownServers.map(({ name }) => name)));

  test("false leaves one out, true and an empty object do not", () => {
    const servers = { yaml: false, bash: { enabled: false }, gopls: true, css: {} };
    expect(names({ servers })).not.toEqual(expect.arrayContaining(["yaml"]));
    expect(names({ servers })).not.toContain("bash");
    expect(names({ servers })).toEqual(expect.arrayContaining(["gopls", "css"]));
  });

  test("a known one is changed in parts", () => {
    const { servers } = serversOf({
      servers: { pyright: { command: ["basedpyright-langserver", "--stdio", "-v"], settings: { more: 1 } } },
    });
    const pyright = servers.find(({ name }) => name === "pyright");
    expect(pyright).toMatchObject({
      command: "basedpyright-langserver",
      args: ["--stdio", "-v"],
      extensions: { ".py": "python" },
      settings: { more: 1, python: {} },
    });
  });

  test("what one checks with is needed by its program alone", () => {
    const checksWith = (command?: readonly [string, ...string[]]) =>
      serversOf({ servers: { bash: command === undefined ? true : { command } } }).servers.find(
        ({ name }) => name === "bash",
      )?.checksWith;
    expect(checksWith()).toBe("shellcheck");
    expect(checksWith(["/opt/bin/bash-language-server", "start"])).toBe("shellcheck");
    expect(checksWith(["termux-language-server"])).toBeUndefined();
  });

  test("one's own is added, with extensions in any case", () => {
    const { servers } = serversOf({ servers: { zls: { command: ["zls"], extensions: { ".ZIG": "zig" } } } });
    expect(servers.at(-1)).toMatchObject({
      name: "zls",
      group: "zls",
      command: "zls",
      args: [],
      extensions: { ".zig": "zig" },
    });
  });

  test("one that cannot be run is told", () => {
    const { faults } = serversOf({ servers: { a: { extensions: { ".a": "a" } }, b: { command: ["b"] }, c: true } });
    expect(faults).toEqual([
      { name: "a", why: "it is not a known server and has no command" },
      { name: "b", why: "it has no extensions" },
      { name: "c", why: "it is not a known server and has no command" },
    ]);
  });

  test("names like those of every object are names like others", () => {
    expect(serversOf({ servers: { constructor: true, toString: false } }).faults).toHaveLength(1);
  });
});
