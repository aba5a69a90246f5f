/** Watches belong to those who wait for them: they end with them, and there are only so many. */

import { readdirSync, readFileSync } from "node:fs";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import type { Session } from "../../src/options.ts";
import { createSubscriptions } from "../../src/surfaces/mcp/resources.ts";
import { startInProcess } from "./in-process.ts";
import { type Era, eras, newClient } from "./server.ts";

/** A session that counts the watches it has. */
function counting(): { readonly session: Session; readonly open: () => number } {
  let open = 0;
  const watch = async () => {
    open += 1;
    return { stop: () => void (open -= 1) };
  };
  return { session: { workspace: { watch } } as unknown as Session, open: () => open }; // all that a subscription asks of one
}

const uri = (number: number): string => `file:///${number}.txt`;

test("one watch for a file, however often it is asked for; 256 files and no more", async () => {
  const { session, open } = counting();
  const subscriptions = createSubscriptions(() => undefined);
  for (let number = 0; number < 256; number += 1) await subscriptions.add(uri(number), session);
  await subscriptions.add(uri(0), session);
  expect([subscriptions.size, open()]).toEqual([256, 256]);
  await expect(subscriptions.add(uri(256), session)).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining("unsubscribe from others first"),
  });
  subscriptions.remove(uri(0));
  await subscriptions.add(uri(256), session);
  expect(open()).toBe(256);
  subscriptions.removeAll();
  expect([subscriptions.size, open()]).toEqual([0, 0]);
});

test("who changes their mind while the watch is being made has none", async () => {
  const { session, open } = counting();
  const subscriptions = createSubscriptions(() => undefined);
  const adding = subscriptions.add(uri(1), session);
  subscriptions.remove(uri(1));
  await adding;
  expect([subscriptions.size, open()]).toEqual([0, 0]);
});

/** As the kernel has them: they hold no process up, so that Node counts none. */
const watches = (): number =>
  readdirSync("/proc/self/fdinfo")
    .flatMap((fd) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${fd}`, "utf8").split("\n");
      } catch {
        return []; // the one by which the folder was read
      }
    })
    .filter((line) => line.startsWith("inotify ")).length;

test.runIf(process.platform === "linux").each(eras)(
  "a client of the %s era that is gone leaves no watch behind",
  async (era: Era) => {
    const served = await startInProcess();
    const before = watches();
    const client: Client = newClient(era);
    const transport = new StreamableHTTPClientTransport(new URL(served.url));
    await client.connect(transport);
    const watched = `file://${served.folder}/a.txt`;
    if (era === "modern") await client.listen({ resourceSubscriptions: [watched] });
    else await client.subscribeResource({ uri: watched });
    expect(watches()).toBeGreaterThan(before);
    // The older protocol says goodbye to a session; the newer one hangs up.
    if (era === "legacy") await transport.terminateSession();
    await client.close();
    await expect.poll(watches).toBe(before);
  },
);
