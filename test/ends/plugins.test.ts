/** The plugins of agents: opencode's as a module, and that the others start commands which exist. Real agents are in test/mcp/capabilities.test.ts. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { project, run, temporaryFolder } from "./run.ts";

const json = (name: string): unknown => JSON.parse(readFileSync(join(project, name), "utf8"));

test("opencode's plugin offers our tools under its names, asks through opencode, and says what is wrong", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = join(folder.path, "a.txt");
  writeFileSync(file, "one\n");
  // A process of its own, as opencode is: the server that the plugin starts ends with it.
  const program = `
    import { Filehand } from ${JSON.stringify(join(project, "plugins/opencode/filehand.js"))};
    const plugin = await Filehand({ directory: ${JSON.stringify(folder.path)} });
    const asked = [];
    const said = { names: Object.keys(plugin.tool), asked };
    const context = (allow) => ({ sessionID: "s", ask: async (question) => {
      asked.push(question.patterns);
      if (!allow) throw new Error("no");
    } });
    const filePath = ${JSON.stringify(file)};
    said.read = (await plugin.tool.read.execute({ filePath }, context(true))).output;
    const edit = { filePath, oldString: "one", newString: "two" };
    said.refused = await plugin.tool.edit.execute(edit, context(false)).catch((error) => error.message);
    said.edited = (await plugin.tool.edit.execute(edit, context(true))).title;
    said.outside = await plugin.tool.read.execute({ filePath: "/etc/hostname" }, context(true)).catch((error) => error.message);
    const definition = { description: "" };
    await plugin["tool.definition"]({ toolID: "read" }, definition);
    said.required = definition.jsonSchema.required;
    console.log(JSON.stringify(said));
    process.exit(0);
  `;
  const ran = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder.path });
  expect(ran.stderr).toBe("");
  expect(JSON.parse(ran.stdout)).toMatchObject({
    names: ["read", "edit", "write", "grep", "glob", "list", "patch", "apply_patch"],
    read: expect.stringContaining("1: one"),
    refused: expect.stringMatching(/approv|reject/i),
    edited: file,
    asked: [[file], [file]],
    outside: expect.stringContaining("outside the workspace"),
    required: ["filePath"],
  });
  expect(readFileSync(file, "utf8")).toBe("two\n");
});

test("Claude Code's hooks are around its own file tools, ours and Bash", () => {
  const { hooks } = json("plugins/claude-code/hooks/hooks.json") as {
    hooks: Record<string, { matcher?: string; hooks: { command: string }[] }[]>;
  };
  const [before] = hooks["PreToolUse"] ?? [];
  const matcher = new RegExp(`^(?:${before?.matcher})$`);
  for (const tool of ["Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Grep", "Glob", "Bash"]) {
    expect(tool).toMatch(matcher);
  }
  expect("mcp__plugin_filehand_filehand__Read").toMatch(matcher);
  expect("WebFetch").not.toMatch(matcher);
  expect(before?.hooks[0]?.command).toBe("filehand hook claude-code --replace-builtins");
});

test("the marketplace, the plugin and the extensions have the version of the package", () => {
  const { version } = json("package.json") as { version: string };
  for (const name of [
    "plugins/claude-code/.claude-plugin/plugin.json",
    "plugins/gemini/gemini-extension.json",
    "plugins/qwen/qwen-extension.json",
  ]) {
    expect(json(name)).toMatchObject({ name: "filehand", version });
  }
  expect(json(".claude-plugin/marketplace.json")).toMatchObject({ plugins: [{ source: "./plugins/claude-code" }] });
});
