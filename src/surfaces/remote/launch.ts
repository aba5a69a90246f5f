/**
 * Starts this program beside the files of a remote place: the one that is installed there, or else a copy that is carried there once.
 * Both sides talk over the stdin and stdout of the user's own command.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { gzipSync } from "node:zlib";
import type { RemotePlace } from "./address.ts";

export interface Launch {
  readonly place: RemotePlace;
  /** The arguments for the program there. */
  readonly argv: readonly string[];
  readonly version: string;
  readonly files: Readonly<Record<string, string>>;
  /** The same for all servers of one bridge. */
  readonly bridge: string;
  /** The conversation that the client started us for. */
  readonly startedFor: string;
  readonly stderr: Writable;
  readonly signal: AbortSignal;
}

export interface Launched {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Bytes that came after the greeting. */
  readonly rest: Buffer;
}

/** The program did not start there. */
export class LaunchError extends Error {
  override readonly name = "LaunchError";
}

/** Programs on other machines write banners before it. */
const greetingBytesMax = 1_048_576;
/** A machine that answers nothing for so long, before or while it gets the program. */
const silentMsMax = 60_000;

/** The program comes after its size, a number with so many digits. */
const sizeDigits = 10;

/**
 * Runs there with `node -e`. It finds the program or takes it from stdin, reading no byte more, and becomes it.
 * Without backslashes, `$` and quotes that the shells on the way would read, since it is sent in base64.
 */
const loader = `
const fs = require("fs"), os = require("os"), path = require("path");
const config = JSON.parse(Buffer.from(process.argv[3], "base64").toString());
const say = (word) => fs.writeSync(1, config.nonce + " " + word + String.fromCharCode(10));
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) { say("old-node " + process.version); process.exit(1); }
const cache = process.env.XDG_CACHE_HOME;
const base = cache && path.isAbsolute(cache) ? cache : path.join(os.homedir(), ".cache");
const folder = path.join(base, "filehand", "carried-" + config.hash);
const installed = () => {
  for (const place of (process.env.PATH || "").split(path.delimiter)) {
    try {
      const program = fs.realpathSync(path.join(place, "filehand"));
      const { name, version } = JSON.parse(fs.readFileSync(path.join(program, "../../package.json"), "utf8"));
      if (name === "filehand" && version === config.version) return program;
    } catch {}
  }
};
const receive = (size) => {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; ) {
    try {
      const count = fs.readSync(0, bytes, at, bytes.length - at, null);
      if (count === 0) process.exit(1);
      at += count;
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
  return bytes;
};
const carried = () => {
  const size = Number(receive(config.sizeDigits).toString());
  return JSON.parse(require("zlib").gunzipSync(receive(size)).toString());
};
let program = installed();
try {
  if (program === undefined) {
    program = path.join(folder, "filehand.cjs");
    if (!fs.existsSync(program)) {
      say("need");
      const made = folder + "." + process.pid + ".tmp";
      for (const [name, data] of Object.entries(carried())) {
        const file = path.join(made, name);
        fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
        fs.writeFileSync(file, Buffer.from(data, "base64"), { mode: 0o600 });
      }
      try { fs.renameSync(made, folder); } catch (error) {
        fs.rmSync(made, { recursive: true, force: true });
        if (!fs.existsSync(program)) throw error;
      }
    }
  }
} catch (error) { say("failed " + error.message); process.exit(1); }
const home = (text) => text === "~" || text.startsWith("~/") ? path.join(os.homedir(), text.slice(1)) : text;
process.argv = [process.argv[0], program, ...config.argv.map((one, at) => at === config.folderAt ? home(one) : one)];
process.env.FILEHAND_BRIDGE = config.bridge;
process.env.CLAUDE_CODE_SESSION_ID = config.startedFor;
delete process.env.CLAUDE_PROJECT_DIR;
say("ready");
require(program);
`;

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Resolves when the program there runs. */
export async function launch(needs: Launch): Promise<Launched> {
  const { place, argv, version, files, bridge, startedFor } = needs;
  const text = JSON.stringify(files);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const nonce = randomBytes(12).toString("hex");
  const folderAt = argv.indexOf(place.shown);
  const there = argv.map((argument, at) => (at === folderAt ? place.folder : argument));
  const config = { nonce, version, hash, sizeDigits, argv: there, folderAt, bridge, startedFor };
  const script = [
    `command -v ${place.node} >/dev/null 2>&1 || { echo ${nonce} no-node; exit 127; }`,
    `exec ${place.node} -e "eval(Buffer.from(process.argv[1],process.argv[2]).toString())" ${base64(loader)} base64 ${base64(JSON.stringify(config))}`,
  ].join("; ");
  const [program, ...args] = place.command(script);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
  const { stdin, stdout, stderr } = child;
  stdin.on("error", () => undefined); // the end of the child says more
  let said = "";
  stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-2_048);
    needs.stderr.write(chunk);
  });
  const stop = (): void => void child.kill();
  needs.signal.addEventListener("abort", stop, { once: true });
  child.once("close", () => needs.signal.removeEventListener("abort", stop));

  return new Promise((resolve, reject) => {
    let seen = Buffer.alloc(0);
    const fail = (why: string): void => {
      clearTimeout(timer);
      child.kill();
      reject(new LaunchError(`Cannot start Filehand at "${place.shown}": ${why}`));
    };
    const onSilence = (): void => fail("it does not answer");
    let timer = setTimeout(onSilence, silentMsMax);
    const hear = (word: string, more: string, rest: Buffer): boolean => {
      clearTimeout(timer);
      timer = setTimeout(onSilence, silentMsMax);
      if (word === "need") {
        const carried = gzipSync(text);
        stdin.write(String(carried.length).padStart(sizeDigits, "0"));
        stdin.write(carried);
      } else if (word === "no-node")
        fail(`there is no ${place.node}, install Node 20.19 or newer there, or add ?node=PATH`);
      else if (word === "old-node") fail(`its Node is ${more}, Filehand needs 20.19 or newer, or add ?node=PATH`);
      else if (word === "failed") fail(`the program cannot be copied there: ${more}`);
      else if (word === "ready") {
        clearTimeout(timer);
        stdout.removeListener("data", onData);
        stdout.pause();
        child.removeListener("close", onClose);
        resolve({ child, stdin, stdout, rest });
        return true;
      }
      return false;
    };
    const onData = (chunk: Buffer): void => {
      seen = Buffer.concat([seen, chunk]);
      for (let end = seen.indexOf(10); end !== -1; end = seen.indexOf(10)) {
        const [mark, word = "", ...more] = seen.subarray(0, end).toString("utf8").split(" ");
        seen = seen.subarray(end + 1);
        if (mark === nonce && hear(word, more.join(" "), seen)) return;
      }
      if (seen.length > greetingBytesMax) fail("it answers something else");
    };
    const onClose = (code: number | null): void =>
      fail(`${program} ended with ${code ?? "a signal"}${said === "" ? "" : `: ${lastLine(said)}`}`);
    stdout.on("data", onData);
    child.once("error", (error: NodeJS.ErrnoException) =>
      fail(error.code === "ENOENT" ? `there is no command ${program} here, install it` : error.message),
    );
    child.once("close", onClose);
  });
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1)?.trim() ?? "";
