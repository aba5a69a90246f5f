/**
 * Remote workspaces with the built program: over ssh to a real sshd on this machine, and in a container that bubblewrap makes. The
 * connections pass through a gate of the test, which can be shut.
 */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { commandLine, environment, run, temporaryFolder } from "../ends/run.ts";
import { pixel } from "../suites/adapter.ts";
import { type Era, eras, newClient, textOf } from "./server.ts";

const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status !== null;
const sshd = "/usr/sbin/sshd";
/** `npm test` installs them on Debian. */
const hasSsh = fs.existsSync(sshd) && has("ssh", "-V");
const hasContainers = spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;

interface Far {
  /** The address of a folder there. */
  readonly address: (folder: string) => string;
  readonly workspace: string;
  /** The environment of the bridge: its commands are first on the PATH. */
  readonly env: Record<string, string>;
  readonly home: string;
}

function newFolders(): {
  readonly top: string;
  readonly workspace: string;
  readonly home: string;
  readonly bin: string;
} {
  const folder = temporaryFolder();
  onTestFinished(() => vi.waitFor(() => fs.rmSync(folder.path, { recursive: true, force: true }), 30_000));
  const top = folder.path;
  const [workspace, home, bin] = [join(top, "work"), join(top, "home"), join(top, "bin")];
  for (const one of [workspace, home, bin]) fs.mkdirSync(one);
  fs.writeFileSync(join(workspace, "a.txt"), "one\n");
  fs.writeFileSync(join(workspace, "pixel.png"), Buffer.from(pixel, "base64"));
  return { top, workspace, home, bin };
}

const bridgeEnvironment = (bin: string): Record<string, string> => {
  const env = environment({ PATH: `${bin}:${process.env["PATH"]}` });
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
};

function script(path: string, ...lines: readonly string[]): void {
  fs.writeFileSync(path, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
}

/** Passes bytes between ssh and sshd. */
async function startGate(port: number) {
  const sockets = new Set<Socket>();
  let isShut = false;
  let isMute = false;
  let isHalf = false;
  const server = createServer((near) => {
    if (isShut) return void near.destroy();
    const far = createConnection(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    near.on("data", (chunk) => void far.write(chunk));
    far.on("data", (chunk) => void (isMute || near.write(chunk)));
    near.on("close", () => void (isHalf || far.destroy()));
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    isMute = false;
  };
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    cut,
    /** The client loses the connection, the server does not notice. */
    cutHere: (): void => {
      isHalf = true;
      for (const socket of sockets) if (socket.remotePort !== port) socket.destroy();
    },
    /** From now on the client hears nothing; what it says arrives. */
    mute: (): void => void (isMute = true),
    shut: (): void => {
      isShut = true;
      cut();
    },
    open: (): void => void (isShut = false),
  };
}

/** A real sshd for this user, with a home folder of its own. */
async function startSshd() {
  const { top, workspace, home, bin } = newFolders();
  const key = (name: string): string => {
    const path = join(top, name);
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]);
    return path;
  };
  const [hostKey, userKey] = [key("host"), key("user")];
  const { port } = await freePort();
  const config = join(top, "sshd_config");
  const nodeFolder = dirname(process.execPath);
  fs.writeFileSync(
    config,
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${userKey}.pub`,
      `PidFile ${join(top, "sshd.pid")}`,
      "StrictModes no",
      "UsePAM no",
      "PasswordAuthentication no",
      "PermitRootLogin yes",
      `SetEnv HOME=${home} XDG_STATE_HOME=${home}/state PATH=${nodeFolder}:/usr/bin:/bin`,
      "",
    ].join("\n"),
  );
  // Its folder for privilege separation, which the package's service makes.
  if (process.getuid?.() === 0) fs.mkdirSync("/run/sshd", { recursive: true });
  const daemon = spawn(sshd, ["-D", "-e", "-f", config], { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  daemon.stderr.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  onTestFinished(() => void daemon.kill());
  await vi.waitFor(() => expect(log).toContain("Server listening"), 30_000);
  const gate = await startGate(port);
  // The user's own ssh, with a configuration of its own.
  const options = ["-F", "none", "-i", userKey, "-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=no"];
  script(join(bin, "ssh"), `exec /usr/bin/ssh ${options.join(" ")} -o LogLevel=ERROR "$@"`);
  const address = (folder: string, at = gate.port): string => `ssh://${userInfo().username}@127.0.0.1:${at}${folder}`;
  const far: Far = { address, workspace, env: bridgeEnvironment(bin), home };
  return { ...far, gate };
}

async function freePort(): Promise<{ readonly port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  await new Promise((resolve) => server.close(resolve));
  return { port };
}

const findBelow = (folder: string, end: string): readonly string[] =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.includes("bridges") && name.endsWith(end))
    .map((name) => join(folder, name));

interface Bridged {
  readonly client: Client;
  readonly log: () => string;
}

async function bridgeTo({ address, workspace, env }: Far, era: Era, options: readonly string[], ask?: () => unknown) {
  const client = newClient(era, ask === undefined ? {} : { elicitation: { form: {} } });
  if (ask !== undefined) client.setRequestHandler("elicitation/create", async () => (await ask()) as never);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [commandLine, "mcp", address(workspace), ...options],
    env,
    stderr: "pipe",
  });
  let log = "";
  transport.stderr?.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  onTestFinished(() => client.close());
  await client.connect(transport).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${log}`);
  });
  const bridged: Bridged = { client, log: () => log };
  return bridged;
}

const read = { name: "Read", arguments: { file_path: "a.txt" } };
/** Applied twice it would leave another text. */
const edit = { name: "Edit", arguments: { file_path: "a.txt", old_string: "one", new_string: "one one" } };

describe.skipIf(!hasSsh)("over ssh", () => {
  test.each(eras)("%s: the program is carried there once; reads, images, questions and changes pass", async (era) => {
    const far = await startSshd();
    let asked = 0;
    const ask = () => ({ action: "accept", content: { decision: (asked += 1) === 1 ? "allow once" : "reject" } });
    const { client } = await bridgeTo(far, era, [], ask);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("Edit");
    expect(textOf(await client.callTool(read))).toContain("1\tone");
    const { content } = await client.callTool({ name: "Read", arguments: { file_path: "pixel.png" } });
    expect(content).toEqual([
      { type: "image", data: pixel, mimeType: "image/png" },
      { type: "text", text: "[Image: 1x1 pixels, image/png]" },
    ]);
    expect((await client.callTool(edit)).isError).toBeUndefined();
    expect(fs.readFileSync(join(far.workspace, "a.txt"), "utf8")).toBe("one one\n");
    expect((await client.callTool(edit)).isError).toBe(true);
    expect(textOf(await client.callTool({ name: "Grep", arguments: { pattern: "one one" } }))).toContain("a.txt");
    expect(textOf(await client.callTool({ name: "Read", arguments: { file_path: "/etc/passwd" } }))).toContain(
      "outside",
    );
    const carried = fs.readdirSync(join(far.home, ".cache/filehand"));
    expect(carried).toEqual([expect.stringMatching(/^carried-[0-9a-f]{16}$/)]);

    const made = fs.statSync(join(far.home, ".cache/filehand", carried[0] ?? "")).ino;
    const again = await bridgeTo(far, era, []);
    expect(textOf(await again.client.callTool(read))).toContain("one one");
    expect(fs.statSync(join(far.home, ".cache/filehand", carried[0] ?? "")).ino).toBe(made);
  });

  test.each(eras)("%s: a lost connection comes back, and the session knows what it has read", async (era) => {
    const far = await startSshd();
    const { client, log } = await bridgeTo(far, era, ["--allow", "Edit"]);
    await client.callTool(read);
    far.gate.cut();
    await vi.waitFor(() => expect(log()).toContain("was lost"), 30_000);
    expect(textOf(await client.callTool(edit))).toContain("1 replacement");
    expect(fs.readFileSync(join(far.workspace, "a.txt"), "utf8")).toBe("one one\n");
  });

  test.each(eras)("%s: an answer that was lost on the way arrives, and its edit is made once", async (era) => {
    const far = await startSshd();
    const { client } = await bridgeTo(far, era, ["--allow", "Edit"]);
    await client.callTool(read);
    far.gate.mute();
    const answer = client.callTool(edit);
    await vi.waitFor(() => expect(fs.readFileSync(join(far.workspace, "a.txt"), "utf8")).toBe("one one\n"), 30_000);
    far.gate.cut();
    expect(textOf(await answer)).toContain("1 replacement");
    expect(fs.readFileSync(join(far.workspace, "a.txt"), "utf8")).toBe("one one\n");
  });

  test("a call that a person was being asked about is refused, and changes nothing", async () => {
    const far = await startSshd();
    const ask = vi.fn(() => new Promise(() => undefined));
    const { client } = await bridgeTo(far, "legacy", [], ask);
    await client.callTool(read);
    const answer = client.callTool(edit);
    await vi.waitFor(() => expect(ask).toHaveBeenCalledOnce(), 30_000);
    far.gate.cut();
    const result = await answer;
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("the question was closed without approval");
    expect(fs.readFileSync(join(far.workspace, "a.txt"), "utf8")).toBe("one\n");
  });

  test("a server that does not notice the loss is ended before the next one goes on", async () => {
    const far = await startSshd();
    const { client, log } = await bridgeTo(far, "legacy", ["--allow", "Edit"]);
    await client.callTool(read);
    far.gate.cutHere();
    await vi.waitFor(() => expect(log()).toContain("was lost"), 30_000);
    expect(textOf(await client.callTool(edit))).toContain("1 replacement");
    const [receipts = ""] = findBelow(far.home, ".jsonl").map((path) => fs.readFileSync(path, "utf8"));
    const runs = receipts.split("\n").flatMap((line) => /"(run|over)"/.exec(line)?.[1] ?? []);
    expect(runs).toEqual(["run", "over", "run"]);
  });

  test("of a call whose server was killed nothing is claimed", async () => {
    const far = await startSshd();
    const ask = vi.fn(() => new Promise(() => undefined));
    const { client } = await bridgeTo(far, "legacy", [], ask);
    await client.callTool(read);
    const answer = client.callTool(edit);
    await vi.waitFor(() => expect(ask).toHaveBeenCalledOnce(), 30_000);
    const [receipts = ""] = findBelow(far.home, ".jsonl").map((path) => fs.readFileSync(path, "utf8"));
    process.kill(Number(/"pid":(\d+)/.exec(receipts)?.[1]), "SIGKILL");
    expect(textOf(await answer)).toContain("Cannot say whether Edit was applied");
    expect(textOf(await client.callTool(read))).toContain("1\tone");
  });

  test("a call made while the machine is away waits until it is back", async () => {
    const far = await startSshd();
    const { client, log } = await bridgeTo(far, "legacy", []);
    far.gate.shut();
    await vi.waitFor(() => expect(log()).toContain("was lost"), 30_000);
    const answer = client.callTool(read);
    await vi.waitFor(() => expect(log()).toContain("Cannot start Filehand at"), 30_000);
    far.gate.open();
    expect(textOf(await answer)).toContain("1\tone");
  });

  test("progress and cancelling pass", async () => {
    const far = await startSshd();
    fs.writeFileSync(join(far.workspace, "large.log"), "all is well, nothing to see\n".repeat(4_000_000));
    const { client } = await bridgeTo(far, "legacy", []);
    const controller = new AbortController();
    const progress: number[] = [];
    const call = client.callTool(
      { name: "Read", arguments: { file_path: "large.log", offset: 3_999_999 } },
      {
        signal: controller.signal,
        onprogress: ({ progress: done }) => {
          progress.push(done);
          controller.abort();
        },
      },
    );
    await call.catch(() => undefined);
    // A machine may be fast enough to be done before the first note.
    expect(controller.signal.aborted || textOf(await call) !== "").toBe(true);
    expect(textOf(await client.callTool(read))).toContain("1\tone");
  });

  test("a place that cannot be reached, a folder that is missing and a Node that is missing are said, with exit code 1", async () => {
    const far = await startSshd();
    const { port } = await freePort();
    const tried = async (address: string) => {
      const ran = await run(process.execPath, [commandLine, "mcp", address], {
        cwd: far.home,
        env: { PATH: far.env["PATH"] },
      });
      expect(ran.stdout).toBe("");
      expect(ran.code).toBe(1);
      return ran.stderr;
    };
    expect(await tried(`ssh://127.0.0.1:${port}/a`)).toContain("ssh ended with 255");
    expect(await tried(far.address("/none/such"))).toContain("/none/such");
    expect(await tried(`${far.address(far.workspace)}?node=/none/node`)).toContain(
      "there is no /none/node, install Node",
    );
  });
});

describe.skipIf(!hasContainers)("in a container", () => {
  for (const command of ["docker", "podman", "kubectl"]) {
    test(`${command} exec`, async () => {
      const { top, workspace, home, bin } = newFolders();
      const binds = [`--bind ${workspace} /srv/app`, `--bind ${home} /root`].join(" ");
      const system = ["/usr", "/lib", "/lib64", "/bin", "/etc"].filter((path) => fs.existsSync(path));
      const node = dirname(process.execPath);
      script(
        join(bin, command),
        `echo "$1 $2 $3" > ${top}/arguments`,
        'while [ "$1" != sh ]; do shift; done',
        `exec bwrap ${system.map((path) => `--ro-bind ${path} ${path}`).join(" ")} ${binds} --ro-bind-try ${node} ${node} --proc /proc --dev /dev --tmpfs /tmp --setenv HOME /root --setenv PATH ${node}:/usr/bin:/bin --chdir / "$@"`,
      );
      const far: Far = { address: () => `${command}://web/srv/app`, workspace, env: bridgeEnvironment(bin), home };
      const { client } = await bridgeTo(far, "legacy", ["--allow", "Edit"]);
      expect(textOf(await client.callTool(read))).toContain("1\tone");
      expect((await client.callTool(edit)).isError).toBeUndefined();
      expect(fs.readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one one\n");
      expect(fs.readFileSync(join(top, "arguments"), "utf8")).toBe("exec -i web\n");
    });
  }
});

test("an address is the only folder", async () => {
  const ran = await run(process.execPath, [commandLine, "mcp", "ssh://host/a", "/b"], { cwd: "/" });
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("must be the only folder") });
});
