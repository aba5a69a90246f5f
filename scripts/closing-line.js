/** Ends a test run with what could not be tested, the tests that needed a second try and the plain line `N passed, N failed, N skipped`, which any CI can read. */

export default class ClosingLine {
  /** @param {ReadonlyArray<import("vitest/node").TestModule>} modules */
  onTestRunEnd(modules) {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        count[test.result().state] += 1;
        if (!test.diagnostic()?.flaky) continue;
        const faults = (test.result().errors ?? []).map(({ message }) => message.split("\n").slice(0, 4).join("\n  "));
        process.stdout.write(`\nsecond try: ${module.relativeModuleId} > ${test.fullName}\n  ${faults.join("\n  ")}\n`);
      }
    }
    // Of `scripts/test.js`, which knows what is not installed.
    for (const line of (process.env["FILEHAND_NOT_TESTED"] ?? "").split("\n").filter((each) => each !== "")) {
      process.stdout.write(`\nNOT TESTED: ${line}`);
    }
    process.stdout.write(
      `\n${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped\n`,
    );
  }
}
