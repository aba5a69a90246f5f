import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createStream, type Stream } from "./stream.ts";

/** Serves the stream, and hands out a reader that has got its headers. */
async function served(stream: Stream) {
  const responses: ServerResponse[] = [];
  const server = createServer((req, res) => {
    responses.push(res);
    const after = new URL(req.url ?? "", "http://x").searchParams.get("after");
    if (!stream.join(res, "b", after === null ? undefined : Number(after), {})) res.writeHead(503).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    stream.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  const read = async (after?: number): Promise<IncomingMessage> => {
    const sent = get({ host: "127.0.0.1", port, path: after === undefined ? "/" : `/?after=${after}` });
    sent.on("error", () => undefined); // hung up on
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    return answer.on("error", () => undefined);
  };
  return { read, responses };
}

async function textUntil(answer: IncomingMessage, end: string): Promise<string> {
  let text = "";
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.includes(end)) return text;
  }
  return text;
}

const turn = (name: string) => ({ type: "turn", workspace: "w", session: "s", turn: name }) as const;

test("a reader that does not read is hung up on, and others are not held up by it", async () => {
  const stream = createStream({ waitingBytesMax: 100_000 });
  const { read, responses } = await served(stream);
  await read(); // and never looks at what comes
  const [slow] = responses;
  const large = turn("x".repeat(50_000));
  let sent = 0;
  // What the system takes on the way is not known: until it is full, and then no more.
  while (stream.readers > 0 && sent < 10_000) {
    stream.emit(large);
    sent += 1;
    expect(slow?.writableLength).toBeLessThanOrEqual(100_000 + 60_000);
    if (sent % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(stream.readers).toBe(0);
  expect(slow?.destroyed).toBe(true);
  const next = await read(stream.last);
  stream.emit(turn("the end"));
  expect(await textUntil(next, "the end")).toContain(`id: ${sent + 1}\n`);
});

test("who comes back gets what was missed, or hears that it is too much", async () => {
  const stream = createStream({ eventsMax: 4 });
  const { read } = await served(stream);
  for (let count = 1; count <= 20; count += 1) stream.emit(turn(`t${count}.`));
  const near = await textUntil(await read(18), "t20.");
  expect([...near.matchAll(/"turn":"(t\d+)\."/g)].map(([, name]) => name)).toEqual(["t19", "t20"]);
  for (const after of [3, 21, 1_000]) {
    const text = await textUntil(await read(after), "reset");
    expect(text).toContain('id: 20\nevent: reset\ndata: {"type":"reset"}');
  }
});

test("there are only so many readers, and a beat for those who wait", async () => {
  const stream = createStream({ readersOfOneMax: 2, beatMs: 5 });
  const { read } = await served(stream);
  const [first] = [await read(), await read()];
  expect((await read()).statusCode).toBe(503);
  expect(await textUntil(first, "still here")).toContain(": still here\n\n");
});
