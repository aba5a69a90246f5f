/** Which tools a client is offered, under which names, with `--tools`, `--tool-prefix` and `--mode`. */

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commandLine, run, temporaryFolder } from "../ends/run.ts";
import { connect, eras } from "./server.ts";

function project(): string {
  const folder = temporaryFolder();
  writeFileSync(`${folder.path}/a.txt`, "one\n");
  return folder.path;
}

const usage = async (...args: readonly string[]): Promise<string> => {
  const { code, stderr } = await run(process.execPath, [commandLine, "mcp", ...args], { cwd: project() });
  expect(code).toBe(2);
  return stderr;
};

for (const era of eras) {
  describe(`the list of tools in the ${era} protocol`, () => {
    const listed = async (...args: readonly string[]) => {
      const cwd = project();
      const { client } = await connect({ era, cwd, args });
      const { tools } = await client.listTools();
      return { cwd, client, names: tools.map(({ name }) => name) };
    };

    test("has the chosen ones alone, and no other can be called", async () => {
      const { client, names, cwd } = await listed("--tools", "Read,grep", "--allow", "Edit");
      expect(names).toEqual(["Read", "Grep"]);
      await expect(client.callTool({ name: "Write", arguments: { file_path: "b.txt", content: "x" } })).rejects.toThrow(
        /Write/,
      );
      const page = await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
      expect(JSON.stringify(page.content)).toContain("one");
      expect(readFileSync(`${cwd}/a.txt`, "utf8")).toBe("one\n");
    });

    test("can have every tool", async () => {
      const { names } = await listed("--tools", "+History,+Rewind,+Lsp,+Rename,+Copy,+MakeFolder,-Outline");
      expect(names).toEqual(
        expect.arrayContaining(["Read", "History", "Rewind", "Lsp", "Rename", "Copy", "MakeFolder"]),
      );
      expect(names).not.toContain("Outline");
    });

    test("has a prefix on the wire, and takes calls by that name only", async () => {
      const { client, names } = await listed("--tools", "Read,Edit", "--tool-prefix", "files_", "--allow", "Edit");
      expect(names).toEqual(["files_Read", "files_Edit"]);
      const page = await client.callTool({ name: "files_Read", arguments: { file_path: "a.txt" } });
      expect(JSON.stringify(page.content)).toContain("one");
      const edit = { file_path: "a.txt", old_string: "one", new_string: "two" };
      expect(await client.callTool({ name: "files_Edit", arguments: edit })).not.toHaveProperty("isError");
      for (const name of ["Read", "files_Raed"]) {
        await expect(client.callTool({ name, arguments: { file_path: "a.txt" } })).rejects.toThrow(/use files_Read/);
      }
    });

    test("has no tool that writes in the mode read-only, and the refusal of one says why", async () => {
      const { client, names, cwd } = await listed("--mode", "read-only", "--allow", "Edit");
      expect(names).toEqual(["Read", "Outline", "Grep", "Glob", "LS"]);
      const refused = await client.callTool({ name: "Write", arguments: { file_path: "a.txt", content: "x" } });
      expect([refused.isError, JSON.stringify(refused.content)]).toEqual([true, expect.stringContaining("read-only")]);
      expect(readFileSync(`${cwd}/a.txt`, "utf8")).toBe("one\n");
    });
  });
}

test("a tool or a prefix that cannot be is refused at the start", async () => {
  expect(await usage("--tools", "Outlin")).toMatch(/no tool "Outlin", did you mean Outline/);
  expect(await usage("--tools", "NotebookEdit", "--dialect", "opencode")).toMatch(/opencode has no such tool/);
  expect(await usage("--tool-prefix", "my files.")).toMatch(/at most 24 letters/);
});
