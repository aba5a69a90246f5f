/**
 * Loaded with `--require` into a Node process: at its end it writes peak memory and CPU time to descriptor 3.
 * VmHWM, not `resourceUsage().maxRSS`: on Linux the latter survives exec and so contains the memory of the parent.
 */

const { readFileSync, writeSync } = require("node:fs");
const { isMainThread } = require("node:worker_threads");

process.on("exit", () => {
  if (!isMainThread) return; // threads load it too, and the numbers are those of the whole process
  const { user, system } = process.cpuUsage();
  try {
    writeSync(3, JSON.stringify({ rssMb: peakMb(), cpuMs: (user + system) / 1000 }));
  } catch {
    // Nobody listens at descriptor 3: a grandchild, which is not measured.
  }
});

function peakMb() {
  try {
    const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    if (line !== null) return Number(line[1]) / 1024;
  } catch {
    // Only Linux has /proc.
  }
  return process.resourceUsage().maxRSS / 1024;
}
