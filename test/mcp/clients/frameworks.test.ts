/** The MCP clients of agent frameworks, without a model, over both wires: what comes of a call is what the model would get. */

import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { commandLine, temporaryFolder } from "../../ends/run.ts";
import { serve } from "../http-server.ts";
import { serverEnvironment } from "../server.ts";
import { frameworks, type Wire } from "./frameworks.ts";

async function wireOf(by: Wire["by"], workspace: string): Promise<Wire> {
  if (by === "HTTP") {
    const { port, token } = await serve(workspace, ["--allow", "Edit"]);
    return { by, url: `http://127.0.0.1:${port}/mcp`, headers: { authorization: `Bearer ${token}` } };
  }
  const home = temporaryFolder();
  // Not every client waits for the end of the server that it has told to end.
  onTestFinished(() => vi.waitFor(() => fs.rmSync(home.path, { recursive: true, force: true }), 30_000));
  const args = [commandLine, "mcp", "--allow", "Edit"];
  return { by, command: process.execPath, args, cwd: workspace, env: serverEnvironment(home) };
}

describe.each(Object.entries(frameworks))("%s", (name, open) => {
  for (const by of ["stdio", "HTTP"] as const) {
    test(`${by}: lists, reads, hears of a failure, changes what it has read`, async () => {
      const workspace = temporaryFolder();
      onTestFinished(() => workspace.remove());
      const file = join(workspace.path, "a.txt");
      fs.writeFileSync(file, "one\r\ntwo\r\n");
      const client = await open(await wireOf(by, workspace.path));
      onTestFinished(() => client.close());
      expect(await client.names()).toEqual(expect.arrayContaining(["Read", "Grep", "Glob", "Edit", "Write"]));
      const edit = { file_path: "a.txt", old_string: "two", new_string: "2" };
      const tells = name !== "OpenAI Agents"; // it hands the words on and nothing else
      expect(await client.call("Edit", edit)).toEqual({
        failed: tells ? true : "not told",
        text: expect.stringMatching(/read/i),
      });
      expect(await client.call("Read", { file_path: "a.txt" })).toEqual({
        failed: tells ? false : "not told",
        text: expect.stringContaining("1\tone\n2\ttwo"),
      });
      expect((await client.call("Edit", edit)).text).toContain("1 replacement at line 2");
      expect(fs.readFileSync(file, "utf8")).toBe("one\r\n2\r\n");
    });
  }
});
