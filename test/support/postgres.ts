/** A real PostgreSQL for tests, in a temporary folder, run by an unprivileged user and reached over a socket. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as nodePath from "node:path";

/** Debian keeps the programs of each version in a folder of its own, which is not on the PATH. */
const programs = ((): string | undefined => {
  const versions = "/usr/lib/postgresql";
  if (!fs.existsSync(versions)) return undefined;
  const found = fs
    .readdirSync(versions)
    .filter((version) => fs.existsSync(`${versions}/${version}/bin/initdb`))
    .toSorted((a, b) => Number(b) - Number(a));
  return found[0] === undefined ? undefined : `${versions}/${found[0]}/bin`;
})();

/** Why tests that need it are skipped; undefined if it is there. */
export const postgresMissing = programs === undefined ? "PostgreSQL is not installed" : undefined;

export interface TestPostgres {
  /** The address of an empty database, as a user who is no superuser: row-level security does not hold for those. */
  database(): string;
  /** The address of the same database as its superuser. */
  asSuperuser(url: string): string;
  sql(url: string, text: string): string;
  stop(how?: "fast" | "immediate"): Promise<void>;
  start(): Promise<void>;
  /** Stops answering, without closing a connection, and goes on. */
  freeze(): void;
  thaw(): void;
  readonly bin: string;
  readonly socket: string;
  remove(): Promise<void>;
}

/** PostgreSQL refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export async function startPostgres(): Promise<TestPostgres> {
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const bin = programs;
  // Paths of sockets are short.
  const folder = fs.mkdtempSync(nodePath.join(tmpdir(), "pg-"));
  const data = nodePath.join(folder, "data");
  if (nobody.uid !== undefined) fs.chownSync(folder, nobody.uid, nobody.gid);
  const env = { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8", HOME: folder };
  const run = (program: string, args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(`${bin}/${program}`, args, {
      ...nobody,
      env,
      encoding: "utf8",
      cwd: folder,
    });
    if (status !== 0) throw new Error(`${program} fails: ${stderr}`);
    return stdout;
  };
  run("initdb", ["-D", data, "-U", "admin", "-A", "trust", "-N", "-E", "UTF8", "--no-instructions"]);
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    if (server !== undefined) return;
    const options = [
      "-k",
      folder,
      "-c",
      "listen_addresses=",
      "-c",
      "max_connections=200",
      "-c",
      "log_min_messages=fatal",
    ];
    server = spawn(`${bin}/postgres`, ["-D", data, ...options], { ...nobody, env, stdio: "ignore", cwd: folder });
    for (let tries = 0; ; tries += 1) {
      const { status } = spawnSync(`${bin}/pg_isready`, ["-h", folder, "-q", "-U", "admin", "-d", "postgres"], { env });
      if (status === 0) return;
      if (server.exitCode !== null || tries > 600) throw new Error("PostgreSQL does not start");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const stop = async (how: "fast" | "immediate" = "fast"): Promise<void> => {
    const running = server;
    server = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = new Promise((resolve) => running.once("exit", resolve));
    running.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await gone;
  };
  await start();
  run("createuser", ["-h", folder, "-U", "admin", "filehand"]);
  const urlOf = (user: string, name: string): string =>
    `postgres://${user}@/${name}?host=${encodeURIComponent(folder)}`;
  /** Its processes: the server and all that it has forked. */
  const signalAll = (signal: NodeJS.Signals): void => {
    const all = spawnSync("pgrep", ["-P", String(server?.pid)], { encoding: "utf8" })
      .stdout.split("\n")
      .filter(Boolean);
    for (const pid of [server?.pid ?? 0, ...all.map(Number)]) if (pid > 0) process.kill(pid, signal);
  };
  return {
    bin,
    socket: folder,
    database() {
      const name = `db_${randomBytes(6).toString("hex")}`;
      run("createdb", ["-h", folder, "-U", "admin", "-O", "filehand", name]);
      return urlOf("filehand", name);
    },
    asSuperuser: (url) => url.replace("filehand@", "admin@"),
    sql: (url, text) => run("psql", [url, "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text]).trim(),
    start,
    stop,
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    async remove() {
      await stop("immediate");
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
