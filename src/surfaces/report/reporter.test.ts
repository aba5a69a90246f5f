import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { registerInspector } from "../../state/folder/inspector-registry.ts";
import { createFilehand } from "../../filehand.ts";
import { createReporter } from "./reporter.ts";

test("where no inspector listens, no call is listened to: neither for one that has ended, nor for this process itself", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "filehand-test-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [root, stateDir] = [join(folder, "root"), join(folder, "state")];
  mkdirSync(root);
  const place = { protocol: 1, address: join(folder, "nobody"), key: "k", workspaces: [{ name: "w", roots: [root] }] };
  const own = registerInspector(stateDir);
  own.announce(JSON.stringify(place));
  // No process has this number.
  writeFileSync(join(stateDir, "lookouts", "4194304999-1-000000000000.1.json"), JSON.stringify(place), { mode: 0o600 });

  const filehand = createFilehand({ roots: [root], stateDir });
  let listeners = 0;
  const listen: typeof filehand.listen = (listener) => {
    listeners += 1;
    return filehand.listen(listener);
  };
  const reporter = createReporter("mcp");
  reporter.start({ ...filehand, listen }, stateDir, "once");
  await filehand.session().call("LS", {});
  expect([listeners, reporter.board.isWatched]).toEqual([0, false]);
  const question = { permission: "edit", patterns: [], always: [], keep: [], metadata: {} } as const;
  const asked = { workspace: "w", session: "s", principal: null, client: null, tool: "Edit", question };
  expect(await reporter.board.ask(asked, new AbortController().signal)).toEqual({ reply: "nobody" });
  await reporter.end();
});
