/**
 * What the client's own shell has shown counts as read: a hook after the shell tool, and the server of the same conversation, both
 * as real processes.
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLine, run, temporaryFolder } from "../ends/run.ts";
import { onWindows } from "../support/workspace.ts";
import { connect, textOf } from "./server.ts";

const text = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join("\n");

async function bed(server: { readonly name?: string; readonly env?: Readonly<Record<string, string>> } = {}) {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const [work, state] = [join(folder.path, "work"), join(folder.path, "state")];
  fs.mkdirSync(join(work, "sub"), { recursive: true });
  for (const name of ["a.txt", "b.txt", "sub/c.txt", "secret.txt"]) fs.writeFileSync(join(work, name), `${text}\n`);
  const env = { XDG_STATE_HOME: state };
  const { client } = await connect({
    era: "modern",
    cwd: work,
    args: ["--yes", "--deny", "Read(secret.txt)"],
    ...server,
    env: { ...env, ...server.env },
  });
  const edit = async (file_path: string, number: number): Promise<string> => {
    const [old_string, new_string] = [`line ${number}\n`, `LINE ${number}\n`];
    return textOf(await client.callTool({ name: "Edit", arguments: { file_path, old_string, new_string } }));
  };
  /** The client's shell runs the command, and its hook says what it printed. */
  const shell = async (command: string, hook: { client?: string; session?: string; event?: object } = {}) => {
    const stdout = execFileSync("sh", ["-c", command], { cwd: work, encoding: "utf8" });
    const event = {
      session_id: hook.session ?? "c1",
      hook_event_name: "PostToolUse",
      tool_name: "Bash",
      tool_use_id: "t1",
      tool_input: { command },
      tool_response: { stdout, stderr: "" },
      cwd: work,
      ...hook.event,
    };
    const args = [commandLine, "hook", hook.client ?? "claude-code"];
    const ran = await run(process.execPath, args, { cwd: work, env, input: JSON.stringify(event) });
    expect(ran.stderr).toBe("");
    expect(ran.code).toBe(0);
  };
  const write = (name: string, content: string): void => fs.writeFileSync(join(work, name), content);
  return { edit, shell, write, client };
}

const unread = /it was not read in this session/;
const named = { env: { CLAUDE_CODE_SESSION_ID: "c1" } };

describe.skipIf(onWindows)("what a shell command has shown", () => {
  test("can be edited", async () => {
    const { edit, shell, write } = await bed(named);
    for (const [at, command] of [
      "cat FILE",
      "cat -n FILE",
      "head -20 FILE",
      "tail -n 35 FILE",
      "sed -n '5,15p' FILE",
      "grep -n 'line 1' FILE",
      "echo ---; cat FILE | head -n 30",
      "cd sub && cat ../FILE",
    ].entries()) {
      const file = `of-${at}.txt`;
      write(file, `${text}\n`);
      expect(await edit(file, 10), command).toMatch(unread);
      await shell(command.replace("FILE", file));
      expect(await edit(file, 10), command).toContain("1 replacement at line 10");
      // The lines are followed through the session's own change.
      expect(await edit(file, 12), command).toContain("1 replacement at line 12");
    }
    expect(await edit("b.txt", 10)).toMatch(unread);
  });

  test("counts for the same conversation only", async () => {
    const { edit, shell } = await bed(named);
    await shell("cat a.txt", { session: "another" });
    expect(await edit("a.txt", 10)).toMatch(unread);
  });

  test("does not count where the server is not told the conversation: another one may be running", async () => {
    const { edit, shell } = await bed({ name: "gemini-cli-mcp-client" });
    const llmContent = (output: string): object => ({
      hook_event_name: "AfterTool",
      tool_name: "run_shell_command",
      tool_response: { llmContent: `Command: cat a.txt\nDirectory: (root)\nOutput: ${output}\nExit Code: 0` },
    });
    await shell("cat a.txt", { client: "gemini", event: llmContent(text) });
    expect(await edit("a.txt", 10)).toMatch(unread);
  });

  test("does not count if the file has changed since, and stays read where others change other lines later", async () => {
    const { edit, shell, write } = await bed(named);
    await shell("cat a.txt b.txt");
    write("a.txt", text.replace("line 10\n", "line ten\n"));
    expect(await edit("a.txt", 20)).toMatch(unread);
    write("b.txt", `${text}\n`);
    expect(await edit("b.txt", 20)).toContain("1 replacement at line 20");
    write("b.txt", `first\n${text}\n`);
    expect(await edit("b.txt", 21)).toContain("1 replacement at line 22");
  });

  test("an older note does not undo what Read has shown since", async () => {
    const { edit, shell, write, client } = await bed(named);
    await shell("cat a.txt");
    write("a.txt", `zero\n${text}\n`);
    await client.callTool({ name: "Read", arguments: { file_path: "a.txt" } });
    expect(await edit("a.txt", 10)).toContain("1 replacement at line 11");
  });

  test("lifts no rule, and an output that is cut counts for nothing", async () => {
    const { edit, shell, write } = await bed(named);
    await shell("cat secret.txt");
    expect(await edit("secret.txt", 10)).toContain("denies it");
    write("a.txt", `${text}\n${"x".repeat(80)}\n`.repeat(100));
    await shell("cat a.txt");
    expect(await edit("a.txt", 10)).toMatch(unread);
  });

  test("an answer that is no text is no fault", async () => {
    const { edit, shell } = await bed(named);
    for (const tool_response of [null, 5, [], { stdout: 7 }, { stdout: { a: 1 } }]) {
      await shell("cat a.txt", { event: { tool_response } });
    }
    expect(await edit("a.txt", 10)).toMatch(unread);
  });
});
