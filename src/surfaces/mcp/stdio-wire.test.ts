import { PassThrough, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { StdioWire } from "./stdio-wire.ts";

/** A wire whose client reads nothing until it is told to. */
async function start() {
  const stdin = new PassThrough();
  let isReading = false;
  let wake = (): void => undefined;
  const read: string[] = [];
  const stdout = new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      const take = (): void => {
        read.push(line);
        done();
      };
      if (isReading) take();
      else wake = take;
    },
  });
  const wire = new StdioWire(stdin, stdout);
  const begun: JSONRPCMessage[] = [];
  wire.onmessage = (message) => void begun.push(message);
  await wire.start();
  const readAll = async (): Promise<void> => {
    isReading = true;
    wake();
    await expect.poll(() => stdout.writableLength).toBe(0);
  };
  const request = (id: number, chars = 0): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method: "x", params: { text: "t".repeat(chars) } })}\n`;
  return { stdin, stdout, wire, begun, read, readAll, request };
}

test("refusals that nobody reads are not piled up, and what comes behind them is begun when they are read", async () => {
  const { stdin, stdout, wire, begun, read, readAll, request } = await start();
  const lines = 200_000;
  for (let line = 0; line < lines; line += 10_000) stdin.write("x\n".repeat(10_000));
  stdin.write(request(7));
  await expect.poll(() => stdin.isPaused()).toBe(true);
  expect(stdout.writableLength).toBeLessThan(5_000_000);
  expect(begun).toEqual([]);
  await readAll();
  await expect.poll(() => begun).toMatchObject([{ id: 7 }]);
  expect(read).toHaveLength(lines);

  let isOver = false;
  wire.onclose = () => (isOver = true);
  stdin.end();
  await wire.sendAnswer(7, "{}");
  await expect.poll(() => isOver).toBe(true);
});

test("requests that wait their turn are few if they are large, and none is lost", async () => {
  const { stdin, stdout, wire, begun, readAll, request } = await start();
  void wire.sendAnswer(0, "y".repeat(5_000_000));
  const [count, chars] = [40, 4_000_000];
  for (let id = 1; id <= count; id += 1) stdin.write(request(id, chars));
  await expect.poll(() => stdin.isPaused()).toBe(true);
  expect(begun).toEqual([]);
  // What it has not taken is still with the client.
  expect(stdin.writableLength + stdin.readableLength).toBeGreaterThan(80_000_000);
  await readAll();
  await expect.poll(() => begun.length).toBe(count);
  expect(stdout.writableLength).toBe(0);
});
