import { equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { isAlive, lifeOf, pidOf, processIdentity } from "./process-identity.ts";

const [ownPid = "", ownStart = "", realm = ""] = processIdentity().split("-");
const onLinux = process.platform === "linux";

describe("the identity of a process", () => {
  test("is the same each time, begins with the process id and fits a file name", () => {
    equal(processIdentity(), processIdentity());
    match(processIdentity(), /^[0-9a-f-]+$/u);
    equal(pidOf(processIdentity()), process.pid);
    equal(ownPid, String(process.pid));
    if (onLinux) ok(Number(ownStart) > 0);
  });

  test("this process and its parent are alive", () => {
    equal(lifeOf(processIdentity()), "alive");
    equal(lifeOf(`${process.ppid}-0-${realm}`), "alive");
  });

  test("of a process that has ended is dead", async () => {
    const child = spawn(process.execPath, ["-e", ""]);
    await once(child, "exit");
    const owner = `${child.pid}-1-${realm}`;
    equal(lifeOf(owner), "dead");
    equal(isAlive(owner), false);
  });

  test.skipIf(!onLinux)("whose process id was given out again is dead", () => {
    equal(lifeOf(`${ownPid}-${Number(ownStart) + 1}-${realm}`), "dead");
  });

  test.skipIf(!onLinux)("of a process that was killed but not yet waited for is dead", async () => {
    // The shell becomes `sleep`, which never reaps the shell's child; the shell itself might.
    const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "ignore"] });
    const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
    try {
      const [output] = (await once(parent.stdout, "data")) as [Buffer]; // a stream without encoding gives buffers
      const pid = Number(output.toString());
      while (readFileSync(`/proc/${parent.pid}/comm`, "utf8") === "sh\n") await moment();
      process.kill(pid, "SIGKILL");
      const stat = (): string => readFileSync(`/proc/${pid}/stat`, "utf8");
      while (!stat().includes(") Z ")) await moment();
      process.kill(pid, 0);
      equal(lifeOf(`${pid}-${stat().split(" ")[21]}-${realm}`), "dead");
    } finally {
      parent.kill("SIGKILL");
    }
  });

  test("of another container, another boot or another shape says nothing", () => {
    for (const owner of [`999999999-1-${"0".repeat(12)}`, "", "12", "12-13", `x-1-${realm}`, `1-1-${realm}\n`]) {
      equal(lifeOf(owner), "elsewhere", owner);
      equal(isAlive(owner), true, owner);
    }
  });
});
