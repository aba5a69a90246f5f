/** Files as resources, over stdio, in both eras. */

import * as fs from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../ends/run.ts";
import { connect, type Era, eras } from "./server.ts";

const workspace = temporaryFolder();
afterAll(() => workspace.remove());
const at = (name: string): string => join(workspace.path, name);
const uriOf = (name: string): string => `file://${workspace.path}/${name}`;

beforeAll(() => {
  for (const folder of ["src", "private", "node_modules/x", ".git", "many"])
    fs.mkdirSync(at(folder), { recursive: true });
  for (const [name, text] of [
    ["b.txt", "b\r\nsecond\n"],
    ["a b%20#?.txt", "odd name\n"],
    ["src/index.ts", "export {};\n"],
    ["src/z.ts", "\n"],
    ["src.txt", "\n"],
    ["private/key.txt", "secret\n"],
    ["node_modules/x/index.js", "\n"],
    [".git/config", "\n"],
    ["ignored.log", "\n"],
    [".gitignore", "*.log\n"],
    [".env", "KEY=1\n"],
  ] as const)
    fs.writeFileSync(at(name), text);
  fs.writeFileSync(at("bytes.bin"), Buffer.from([0, 255, 1, 254]));
  for (let number = 0; number < 450; number += 1)
    fs.writeFileSync(at(`many/${String(number).padStart(3, "0")}.txt`), "");
});

const open = async (era: Era, args: readonly string[] = []): Promise<Client> =>
  (await connect({ era, cwd: workspace.path, args: ["--deny", "Read(/private/**)", ...args] })).client;

async function allPages(client: Client) {
  const pages: string[][] = [];
  for (let cursor: string | undefined; ; ) {
    // Page by page, as the client's own method does not.
    const page = await client.request({ method: "resources/list", params: cursor === undefined ? {} : { cursor } });
    pages.push(page.resources.map(({ uri }) => uri.slice(workspace.path.length + 8)));
    cursor = page.nextCursor;
    if (cursor === undefined) return pages;
  }
}

for (const era of eras) {
  describe(`the ${era} era`, () => {
    test("files are listed in one order, without what is denied, ignored or somebody else's", async () => {
      const client = await open(era);
      const pages = await allPages(client);
      expect(pages.map(({ length }) => length)).toEqual([200, 200, 58]);
      const names = pages.flat();
      expect(names.filter((name) => !name.startsWith("many/"))).toEqual([
        ".env",
        ".gitignore",
        "a%20b%2520%23%3F.txt",
        "b.txt",
        "bytes.bin",
        "src/index.ts",
        "src/z.ts",
        "src.txt",
      ]);
      expect(names.filter((name) => name.startsWith("many/"))).toHaveLength(450);
      expect(new Set(names).size).toBe(names.length);
    });

    test("a cursor that is not the server's is refused", async () => {
      const client = await open(era);
      await expect(client.listResources({ cursor: "L2V0Yw" })).rejects.toMatchObject({ code: -32602 });
    });

    test("every URI of the list can be read, and gives the very content", async () => {
      const client = await open(era);
      const odd = await client.readResource({ uri: uriOf("a%20b%2520%23%3F.txt") });
      expect(odd.contents).toEqual([
        { uri: uriOf("a%20b%2520%23%3F.txt"), mimeType: "text/plain", text: "odd name\n" },
      ]);
      expect((await client.readResource({ uri: uriOf("b.txt") })).contents[0]).toHaveProperty("text", "b\r\nsecond\n");
      const bytes = await client.readResource({ uri: uriOf("bytes.bin") });
      expect(bytes.contents[0]).toMatchObject({ mimeType: "application/octet-stream", blob: "AP8B/g==" });
      const folder = await client.readResource({ uri: uriOf("src") });
      expect(folder.contents[0]).toMatchObject({
        mimeType: "inode/directory",
        text: `${uriOf("src/index.ts")}\n${uriOf("src/z.ts")}`,
      });
    });

    for (const [what, uri, code] of [
      ["a way out, encoded", `file://${workspace.path}/%2e%2e/%2e%2e/etc/passwd`, -32602],
      ["an encoded slash", `file://${workspace.path}/src%2findex.ts`, -32602],
      ["an encoded backslash", `file://${workspace.path}/src%5cindex.ts`, -32602],
      ["what is encoded twice", `file://${workspace.path}/%2562.txt`, -32602],
      ["another host", "file://other-host/b.txt", -32602],
      ["another scheme", "http://localhost/b.txt", -32602],
      ["what is denied", `file://${workspace.path}/private/key.txt`, -32602],
      ["what is denied and not there", `file://${workspace.path}/private/none.txt`, -32602],
      ["a secret that nobody can be asked about", `file://${workspace.path}/.env`, -32602],
      ["a file that is not there", `file://${workspace.path}/none.txt`, -32602],
    ] as const) {
      test(`${what} is not read`, async () => {
        const client = await open(era);
        await expect(client.readResource({ uri })).rejects.toMatchObject({ code });
      });
    }

    test("paths are completed, and nothing that is denied", async () => {
      const client = await open(era);
      expect((await client.listResourceTemplates()).resourceTemplates[0]?.uriTemplate).toBe("file:///{+path}");
      const ref = { type: "ref/resource", uri: "file:///{+path}" } as const;
      const complete = async (value: string) =>
        (await client.complete({ ref, argument: { name: "path", value } })).completion;
      const inside = workspace.path.slice(1);
      expect((await complete(`${inside}/sr`)).values).toEqual([`${inside}/src.txt`, `${inside}/src/`]);
      expect((await complete(`${inside}/private/`)).values).toEqual([]);
      expect((await complete("")).values).toEqual([`${inside}/`]);
      expect((await complete("et")).values).toEqual([]);
      const many = await complete(`${inside}/many/`);
      expect([many.values.length, many.hasMore]).toEqual([100, true]);
    });

    test("a change is told to those who subscribed", async () => {
      const client = await open(era);
      const name = `watched-${era}.log`;
      fs.writeFileSync(at(name), "one\n");
      fs.writeFileSync(at(`other-${era}.log`), "one\n");
      const told: string[] = [];
      let wake = (): void => undefined;
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
        told.push(params.uri);
        wake();
      });
      const next = async (change: () => void): Promise<void> => {
        const heard = new Promise<void>((resolve) => (wake = resolve));
        change();
        await heard;
      };
      const subscription = era === "modern" ? await client.listen({ resourceSubscriptions: [uriOf(name)] }) : undefined;
      if (era === "legacy") await client.subscribeResource({ uri: uriOf(name) });
      fs.writeFileSync(at(`other-${era}.log`), "two\n");
      await next(() => fs.writeFileSync(at(name), "two\n"));
      // Replaced, as editors do: another file under the same name.
      fs.writeFileSync(at("fresh.log"), "three\n");
      await next(() => fs.renameSync(at("fresh.log"), at(name)));
      await next(() => fs.rmSync(at(name)));
      expect(new Set(told)).toEqual(new Set([uriOf(name)]));
      await subscription?.close();
    });

    test("who no longer wants to hear hears nothing more", async () => {
      const client = await open(era);
      const [left, kept] = [`left-${era}.log`, `kept-${era}.log`];
      for (const name of [left, kept]) fs.writeFileSync(at(name), "one\n");
      const told: string[] = [];
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
      const listen = (name: string) => client.listen({ resourceSubscriptions: [uriOf(name)] });
      const subscriptions = era === "modern" ? [await listen(left), await listen(kept)] : [];
      if (era === "legacy") {
        for (const name of [left, kept]) await client.subscribeResource({ uri: uriOf(name) });
        await client.unsubscribeResource({ uri: uriOf(left) });
      }
      await subscriptions[0]?.close();
      await client.listTools(); // behind it, on the same wire: by now the server has heard it
      fs.writeFileSync(at(left), "two\n");
      fs.writeFileSync(at(kept), "two\n");
      await expect.poll(() => told.includes(uriOf(kept))).toBe(true);
      expect(told).not.toContain(uriOf(left));
      await subscriptions[1]?.close();
    });

    test("what is denied cannot be watched", async () => {
      const client = await open(era);
      if (era === "legacy") {
        await expect(client.subscribeResource({ uri: uriOf("private/key.txt") })).rejects.toMatchObject({
          code: -32602,
        });
        await expect(client.subscribeResource({ uri: uriOf("none.txt") })).rejects.toMatchObject({ code: -32602 });
      } else {
        const told: string[] = [];
        client.setNotificationHandler("notifications/resources/updated", ({ params }) => void told.push(params.uri));
        fs.writeFileSync(at("seen.log"), "");
        const subscription = await client.listen({
          resourceSubscriptions: [uriOf("private/key.txt"), uriOf("seen.log")],
        });
        fs.writeFileSync(at("private/key.txt"), "changed\n");
        fs.writeFileSync(at("seen.log"), "changed\n");
        while (told.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
        expect(new Set(told)).toEqual(new Set([uriOf("seen.log")]));
        await subscription.close();
      }
    });
  });
}
