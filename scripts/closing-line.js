/** Ends a test run with the plain line `N passed, N failed, N skipped`, which any CI can read. */

export default class ClosingLine {
  /** @param {ReadonlyArray<import("vitest/node").TestModule>} modules */
  onTestRunEnd(modules) {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    process.stdout.write(
      `\n${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped\n`,
    );
  }
}
