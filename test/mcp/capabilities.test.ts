/**
 * What real agents can do with Filehand instead of their own file tools: each is set up by its plugin or by `filehand init`, and a model
 * that is a script reads, pages, edits and is refused. What was seen goes into the file that `FILEHAND_CAPABILITIES` names, from which
 * docs/clients/capabilities.md is made. Only in the long test (`npm run test:clients`).
 */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandLine, project, temporaryFolder } from "../ends/run.ts";
import { textPdf } from "../samples/pdfs.ts";
import { clientsFolder, type Program, runProgram, startOfProgram, write } from "./agent-programs.ts";
import { type OurName, startScriptedModel } from "./scripted-model.ts";
import { serverEnvironment } from "./server.ts";

interface Where {
  readonly workspace: string;
  readonly home: string;
  /** Of the model. */
  readonly url: string;
}

/** `yes`: changes are approved. `no`: they are not. */
type Approval = "yes" | "no";

interface Agent extends Pick<Program, "package" | "bin" | "node"> {
  readonly title: string;
  /** The version is that of this package. */
  readonly npm: string;
  /** Its own tools for files: none of them may be offered to the model, or each call of them is refused. */
  readonly own: RegExp;
  /** The settings with which it reaches the scripted model. Called before the way in. */
  model(where: Where, approval: Approval): Readonly<Record<string, string>>;
  readonly ways: Readonly<Record<string, Way>>;
  run(approval: Approval): readonly string[];
  /** How changes are approved and refused, for the table. */
  readonly answers: string;
}

interface Way {
  /** Calls of the agent, or of `filehand`, that set it up. */
  readonly steps: (approval: Approval) => readonly (readonly ["agent" | "filehand", ...string[]])[];
  /** Files that are written by hand. */
  readonly files?: (where: Where, approval: Approval) => void;
  /** Its own tools are offered and refused, not hidden. */
  readonly refuses?: string;
  /** Tools without the server's name, in the opencode dialect. */
  readonly dialect?: "opencode";
}

const init = (client: string, ...more: readonly string[]): Way => ({
  steps: () => [["filehand", "init", client, "--replace-builtins", "--write", "--yes", ...more]],
});

/** These show no question without a terminal: with a rule changes are approved, without one they are refused. */
const byRule = (client: string, ...more: readonly string[]): Way => ({
  steps: (approval) => [
    ["filehand", "init", client, "--write", "--yes", ...more, ...(approval === "yes" ? ["--allow", "Edit"] : [])],
  ],
});

const geminiSettings = {
  security: { folderTrust: { enabled: false } },
  general: { disableAutoUpdate: true, enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
};

const opencodeModel = {
  name: "scripted",
  tool_call: true,
  attachment: true,
  limit: { context: 1_000_000, output: 10_000 },
};

const agents: readonly Agent[] = [
  {
    title: "Claude Code",
    package: "claude-code",
    npm: "@anthropic-ai/claude-code",
    bin: `../@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
    own: /^(Read|Edit|Write|MultiEdit|NotebookEdit|Grep|Glob)$/,
    model({ home, workspace, url }, approval) {
      write(join(home, ".claude.json"), { projects: { [workspace]: { hasTrustDialogAccepted: true } } });
      // A hook of Claude Code's own answers the question, as the person would; without a terminal it is cancelled otherwise.
      const answer = {
        hookSpecificOutput: {
          hookEventName: "Elicitation",
          action: "accept",
          content: { decision: "allow once" },
        },
      };
      write(join(home, "answer.json"), answer);
      const hooks = { Elicitation: [{ hooks: [{ type: "command", command: `cat ${join(home, "answer.json")}` }] }] };
      write(join(home, ".claude/settings.json"), {
        enableAllProjectMcpServers: true,
        ...(approval === "yes" ? { hooks } : {}),
      });
      return {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "none",
        DISABLE_TELEMETRY: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ENABLE_TOOL_SEARCH: "false",
      };
    },
    ways: {
      plugin: {
        steps: () => [
          ["agent", "plugin", "marketplace", "add", project],
          ["agent", "plugin", "install", "filehand@filehand"],
        ],
        refuses: "Read",
      },
      init: init("claude-code"),
    },
    run: () => ["-p", "go"],
    answers: "Filehand's question is answered by a hook; without an answer it is refused",
  },
  {
    title: "Codex",
    package: "codex",
    npm: "@openai/codex",
    bin: "codex",
    own: /^(exec_command|shell|view_image|read_file|list_dir|grep_files)$/,
    model({ home, workspace, url }) {
      write(
        join(home, ".codex/config.toml"),
        [
          'model = "gpt-5"',
          'model_provider = "scripted"',
          'approval_policy = "never"',
          "[model_providers.scripted]",
          'name = "scripted"',
          `base_url = "${url}/v1"`,
          'wire_api = "responses"',
          "requires_openai_auth = false",
          `[projects.${JSON.stringify(workspace)}]`,
          'trust_level = "trusted"',
          "",
        ].join("\n"),
      );
      return {};
    },
    ways: { init: byRule("codex", "--replace-builtins", "--scope", "user") },
    run: () => ["exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "go"],
    answers: "codex exec answers no question: approved by --allow Edit, refused without it",
  },
  {
    title: "Gemini CLI",
    package: "gemini",
    npm: "@google/gemini-cli",
    bin: "gemini",
    own: /^(read_file|read_many_files|replace|write_file|grep_search|search_file_content|glob|list_directory)$/,
    model({ home, url }) {
      const { security, ...others } = geminiSettings;
      write(join(home, ".gemini/settings.json"), {
        ...others,
        security: { ...security, auth: { selectedType: "gemini-api-key" } },
      });
      return {
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_MODEL: "gemini-2.5-pro",
        GEMINI_CLI_TRUST_WORKSPACE: "true",
      };
    },
    ways: {
      plugin: { steps: () => [["agent", "extensions", "install", join(project, "plugins/gemini"), "--consent"]] },
      init: init("gemini"),
    },
    run: (approval) => ["-p", "go", ...(approval === "yes" ? ["--approval-mode", "yolo"] : [])],
    answers: "it asks by itself: approved by --approval-mode yolo, refused without it",
  },
  {
    title: "Qwen Code",
    package: "qwen",
    npm: "@qwen-code/qwen-code",
    bin: "qwen",
    node: "newer",
    own: /^(read_file|edit|replace|write_file|notebook_edit|grep_search|glob|list_directory)$/,
    model({ home, url }) {
      const { security, ...others } = geminiSettings;
      write(join(home, ".qwen/settings.json"), {
        ...others,
        security: { ...security, auth: { selectedType: "openai" } },
        // The tools themselves and no search for them: the script is no model that could search.
        tools: { toolSearch: { enabled: false } },
      });
      return { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: "scripted" };
    },
    ways: {
      plugin: {
        steps: () => [["agent", "extensions", "install", join(project, "plugins/qwen"), "--consent"]],
        refuses: "read_file",
      },
      init: init("qwen"),
    },
    run: (approval) => ["-p", "go", ...(approval === "yes" ? ["--approval-mode", "yolo"] : [])],
    answers: "it asks by itself: approved by --approval-mode yolo, refused without it",
  },
  {
    title: "opencode",
    package: "opencode",
    npm: "opencode-ai",
    bin: `../opencode-${process.platform}-${process.arch}/bin/opencode`,
    own: /^(read|edit|multiedit|write|patch|apply_patch|grep|glob|list)$/,
    model({ home, url }, approval) {
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        name: "scripted",
        options: { baseURL: `${url}/v1`, apiKey: "none" },
        models: { scripted: { ...opencodeModel, modalities: { input: ["text", "image"], output: ["text"] } } },
      };
      write(join(home, ".config/opencode/opencode.json"), {
        autoupdate: false,
        share: "disabled",
        model: "scripted/scripted",
        small_model: "scripted/scripted",
        provider: { scripted: provider },
        ...(approval === "yes" ? {} : { permission: { edit: "ask", filehand_Edit: "ask" } }),
      });
      return {};
    },
    ways: {
      plugin: {
        steps: () => [],
        files: ({ workspace }) =>
          write(join(workspace, "opencode.json"), {
            plugin: [`file://${join(project, "plugins/opencode/filehand.js")}`],
          }),
        dialect: "opencode",
      },
      init: init("opencode"),
    },
    run: () => ["run", "go", "-m", "scripted/scripted"],
    answers: "it asks by itself: approved by its default, refused where its permission is ask",
  },
  {
    title: "Copilot CLI",
    package: "copilot",
    npm: "@github/copilot",
    bin: "copilot",
    node: "newer",
    own: /^(view|create|edit|apply_patch|grep|glob)$/,
    model: ({ url }) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "gpt-4.1",
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
    }),
    ways: { init: byRule("copilot", "--scope", "user") },
    run: () => [
      "-p",
      "go",
      "--allow-all-tools",
      "--no-color",
      "--excluded-tools=view,create,edit,apply_patch,grep,glob",
    ],
    answers: "copilot -p answers no question: approved by --allow Edit, refused without it",
  },
  {
    title: "goose",
    package: "goose",
    npm: "@aaif/goose-binary-linux-x64",
    bin: "../@aaif/goose-binary-linux-x64/bin/goose",
    own: /^(write|edit|tree|analyze|read_image|developer__text_editor)$/,
    model: ({ url }) => ({
      GOOSE_PROVIDER: "openai",
      GOOSE_MODEL: "gpt-4.1",
      OPENAI_API_KEY: "none",
      OPENAI_HOST: url,
      OPENAI_BASE_PATH: "v1/chat/completions",
      GOOSE_DISABLE_KEYRING: "1",
      GOOSE_TELEMETRY_ENABLED: "false",
      GOOSE_MODE: "auto",
    }),
    ways: { init: byRule("goose") },
    run: () => ["run", "--no-session", "-t", "go"],
    answers: "goose run answers no question: approved by --allow Edit, refused without it",
  },
];

interface Seen {
  readonly agent: string;
  readonly version: string;
  readonly way: string;
  readonly answers: string;
  readonly read: boolean;
  readonly pages: number;
  readonly image: boolean;
  readonly pdf: boolean;
  readonly edit: boolean;
  readonly refused: boolean;
  readonly undo: boolean;
  readonly outside: boolean;
  /** `hidden`: not offered. `refused`: a call is refused with the advice to use ours. `offered`: it stays. */
  readonly own: "hidden" | "refused" | "offered";
}

const lines = Array.from({ length: 1_500 }, (_, index) => `line ${index + 1}: ${"x".repeat(50)}`);
/** One red pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

function fillWorkspace(workspace: string, outside: string): void {
  write(join(workspace, "a.txt"), "one\ntwo\n");
  write(join(workspace, "long.txt"), `${lines.join("\n")}\n`);
  fs.writeFileSync(join(workspace, "picture.png"), Buffer.from(pixel, "base64"));
  fs.writeFileSync(join(workspace, "paper.pdf"), textPdf([["first page"], ["the second page of the paper"]]));
  write(join(outside, "secret.txt"), "not for the agent\n");
}

type Step = "own" | "read" | "page" | "image" | "pdf" | "edit" | "outside";

/** Which step each result belongs to: the long file takes as many pages as the client's limit makes of it. */
function stepsOf(order: readonly Step[], results: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  let at = 0;
  for (const result of results) {
    const step = order[at];
    if (step === undefined) break;
    steps.push(step);
    if (step !== "page" || nextOffset(result) === undefined) at += 1;
  }
  return steps;
}

/** As the claude dialect says it, and as the opencode dialect does. */
const nextOffset = (result: string): number | undefined => {
  const [, next, last] = /go on with offset (\d+)|read beyond line (\d+)/.exec(result) ?? [];
  return next === undefined ? (last === undefined ? undefined : Number(last) + 1) : Number(next);
};

function inputOf(step: Step, last: string, { workspace }: Where, outside: string, dialect: Way["dialect"]) {
  const key = dialect === "opencode" ? "filePath" : "file_path";
  const read = dialect === "opencode" ? "read" : "Read";
  const file = (name: string) => ({ [key]: join(workspace, name) });
  switch (step) {
    case "own":
      return { tool: "own", input: { file_path: join(workspace, "a.txt") } };
    case "read":
      return { tool: read, input: file("a.txt") };
    case "page": {
      const offset = nextOffset(last);
      return { tool: read, input: { ...file("long.txt"), ...(offset === undefined ? {} : { offset }) } };
    }
    case "image":
      return { tool: read, input: file("picture.png") };
    case "pdf":
      return { tool: read, input: { ...file("paper.pdf"), ...(dialect === "opencode" ? {} : { pages: "2" }) } };
    case "edit":
      return dialect === "opencode"
        ? { tool: "edit", input: { ...file("a.txt"), oldString: "one", newString: "ONE" } }
        : { tool: "Edit", input: { ...file("a.txt"), old_string: "one", new_string: "ONE" } };
    case "outside":
      return { tool: read, input: { [key]: join(outside, "secret.txt") } };
  }
}

async function goThrough(agent: Agent, way: Way, approval: Approval, order: readonly Step[]) {
  const [folder, home, outside] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  onTestFinished(() => {
    for (const one of [folder, home, outside]) one.remove();
  });
  const workspace = folder.path;
  fillWorkspace(workspace, outside.path);
  // Plugins start the command that is on the PATH.
  const bin = join(home.path, "bin");
  fs.mkdirSync(bin);
  fs.symlinkSync(commandLine, join(bin, "filehand"));
  const isOurs: OurName = (offered, tool) => {
    if (tool === "own") return offered === way.refuses;
    if (way.dialect === "opencode") return offered === tool;
    return offered.includes("filehand") && new RegExp(`(^|[^A-Za-z])${tool}$`).test(offered);
  };
  const where = (url: string): Where => ({ workspace, home: home.path, url });
  const model = await startScriptedModel(
    "filehand",
    (results) => {
      const done = stepsOf(order, results);
      const last = results.at(-1) ?? "";
      const previous = done.at(-1);
      const step = previous === "page" && nextOffset(last) !== undefined ? "page" : order[new Set(done).size];
      return step === undefined
        ? undefined
        : inputOf(step, previous === "page" && step === "page" ? last : "", where(""), outside.path, way.dialect);
    },
    isOurs,
    way.dialect === "opencode" ? "read" : "Read",
  );
  const place = where(model.url);
  const env = {
    ...agent.model(place, approval),
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    XDG_CONFIG_HOME: join(home.path, ".config"),
    // Codex gives its servers few variables: this is where they look without this one.
    XDG_STATE_HOME: join(home.path, ".local/state"),
  };
  way.files?.(place, approval);
  const environment = { ...serverEnvironment(home), NO_PROXY: "127.0.0.1", CI: "1", ...env };
  let output = "";
  for (const [who, ...args] of way.steps(approval)) {
    const [command, ...first] = who === "agent" ? startOfProgram(agent) : [process.execPath, commandLine];
    output += execFileSync(command, [...first, ...args], {
      cwd: workspace,
      env: environment,
      input: "y\n",
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });
  }
  output += await runProgram(agent, { args: agent.run(approval), env }, { workspace, home: home.path });
  return { workspace, model, environment, output, steps: stepsOf(order, model.results) };
}

describe.skipIf(clientsFolder === undefined)("instead of the tools of", () => {
  const all = agents.flatMap((agent) =>
    Object.entries(agent.ways).map(([name, way]) => [`${agent.title} by ${name}`, agent, name, way] as const),
  );
  const only = process.env["FILEHAND_AGENTS"];
  test.each(all.filter(([title]) => only === undefined || title.includes(only)))(
    "%s",
    async (_title, agent, name, way) => {
      const order: readonly Step[] = [
        ...(way.refuses === undefined ? [] : (["own"] as const)),
        "read",
        "page",
        "image",
        "pdf",
        "edit",
        "outside",
      ];
      const ran = await goThrough(agent, way, "yes", order);
      const { workspace, model, steps } = ran;
      const answersTo = (step: Step): readonly string[] => model.results.filter((_, index) => steps[index] === step);
      const explained = `${ran.output}\n${model.called.join(" ")}\n${model.results.map((one) => one.slice(0, 400)).join("\n---\n")}`;
      const pages = answersTo("page");
      const shown = pages.join("\n");
      const file = join(workspace, "a.txt");
      const edited = fs.readFileSync(file, "utf8") === "ONE\ntwo\n";
      if (edited) {
        const undo = [commandLine, "undo", "--yes"];
        execFileSync(process.execPath, undo, { cwd: workspace, env: ran.environment, stdio: "ignore" });
      }
      const undone = edited && fs.readFileSync(file, "utf8") === "one\ntwo\n";
      const lastRequest = model.asked.join("\n");
      const ownOffered = [...model.offered].filter((tool) => agent.own.test(tool));
      const own =
        way.refuses !== undefined && answersTo("own").some((answer) => answer.includes("MCP server filehand"))
          ? "refused"
          : way.dialect === "opencode" || ownOffered.length === 0
            ? "hidden"
            : "offered";

      const second = await goThrough(agent, way, "no", ["read", "edit"]);
      const kept = fs.readFileSync(join(second.workspace, "a.txt"), "utf8") === "one\ntwo\n";
      const seen: Seen = {
        agent: agent.title,
        version: versionOf(agent),
        way: name,
        answers: agent.answers,
        read: answersTo("read").some((answer) => /1(\t|: )one/.test(answer)),
        pages: lines.every((line) => shown.includes(line)) ? pages.length : 0,
        image: lastRequest.includes(pixel.slice(0, 40)),
        pdf: answersTo("pdf").some((answer) => answer.includes("second page of the paper")),
        edit: edited,
        // A client that would have to ask may also not offer our tools at all.
        refused: kept && second.model.asked.length > 0,
        undo: undone,
        outside: answersTo("outside").length > 0 && !lastRequest.includes("not for the agent"),
        own,
      };
      record(seen);
      process.stdout.write(`${JSON.stringify(seen)}\n`);
      expect(seen, explained).toMatchObject({ read: true, edit: true, refused: true, undo: true, outside: true });
      expect(seen.pages, explained).toBeGreaterThan(0);
      // goose has no setting for it, and its own tools stay.
      if (agent.title !== "goose") expect(seen.own, [...model.offered].join(" ")).not.toBe("offered");
      // No tool was called but ours, and the own one that must be refused.
      const foreign = model.called.filter((tool) => way.dialect !== "opencode" && !tool.includes("filehand"));
      expect(foreign).toEqual(way.refuses === undefined ? [] : [way.refuses]);
    },
    400_000,
  );
});

function versionOf({ package: folder, npm }: Agent): string {
  const manifest = join(clientsFolder ?? "", folder, "node_modules", npm, "package.json");
  return (JSON.parse(fs.readFileSync(manifest, "utf8")) as { version: string }).version;
}

/** Replaces what was seen of the same agent and way earlier. */
function record(seen: Seen): void {
  const file = process.env["FILEHAND_CAPABILITIES"];
  if (file === undefined) return;
  const earlier = fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as Seen[]) : [];
  const key = ({ agent, way }: Seen): string => `${agent} ${way}`;
  const order = agents.flatMap((agent) => Object.keys(agent.ways).map((way) => `${agent.title} ${way}`));
  const rows = [...earlier.filter((one) => key(one) !== key(seen)), seen];
  rows.sort((one, other) => order.indexOf(key(one)) - order.indexOf(key(other)));
  fs.writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`);
}
