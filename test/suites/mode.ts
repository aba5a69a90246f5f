/** What modes do to every tool that changes files, in every dialect: the tools are taken from the dialect itself. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { createFilehand, type DialectName, type FilehandOptions, type Reply, type Session } from "../../src/index.ts";
import type { Profile } from "../../src/contract/profile.ts";
import type { Request } from "../../src/contract/call.ts";
import { workspace } from "../support/workspace.ts";

const notebook = (source: string): string =>
  JSON.stringify({
    cells: [{ cell_type: "code", id: "c1", source, metadata: {}, outputs: [] }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  });

const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");

/** An input for any tool that changes files: "one" in a file becomes "two". */
function inputFor(properties: readonly string[], folder: string, file: string): Record<string, unknown> {
  const has = (name: string): boolean => properties.includes(name);
  const path = properties.find((name) => /path/i.test(name) && name !== "patchText") ?? "";
  if (has("patchText")) {
    const patch = `*** Begin Patch\n*** Update File: ${file}\n@@\n-one\n+two\n*** End Patch`;
    return { patchText: patch };
  }
  if (has("new_source")) return { [path]: `${folder}/n.ipynb`, cell_id: "c1", new_source: "two" };
  if (has("content")) return { [path]: `${folder}/${file}`, content: "two\n" };
  const edit = has("filePath") ? { oldString: "one", newString: "two" } : { old_string: "one", new_string: "two" };
  return { [path]: `${folder}/${file}`, ...(has("edits") ? { edits: [edit] } : edit) };
}

export function modeSuite(name: DialectName): void {
  const { path: at } = workspace({});
  let count = 0;
  const fresh = (): string => {
    const folder = at(`${(count += 1)}`);
    fs.mkdirSync(`${folder}/ws/.vscode`, { recursive: true });
    fs.mkdirSync(`${folder}/state`);
    for (const file of ["a.txt", ".vscode/a.txt"]) fs.writeFileSync(`${folder}/ws/${file}`, "one\n");
    fs.writeFileSync(`${folder}/ws/n.ipynb`, notebook("one"));
    return folder;
  };
  const open = (folder: string, options: Partial<FilehandOptions>): Session =>
    createFilehand({ roots: [`${folder}/ws`], readFirst: false, ...options }).session({ dialect: name });
  const everything = (folder: string): string =>
    fs
      .readdirSync(`${folder}/ws`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.name}: ${fs.readFileSync(`${entry.parentPath}/${entry.name}`, "utf8")}`)
      .toSorted()
      .join("\n");
  const tools = open(fresh(), {})
    .definitions()
    .filter(({ readOnly }) => !readOnly);
  /** Every verb that writes, also those for which this dialect has no tool. */
  const requests = (folder: string): readonly ((profile: Profile) => Request)[] => [
    (profile) => ({ verb: "write", path: `${folder}/ws/new/b.txt`, content: "b", profile }),
    (profile) => ({ verb: "patch", patchText: "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch", profile }),
    (profile) => ({
      verb: "notebook-edit",
      path: `${folder}/ws/n.ipynb`,
      cellId: "c1",
      source: "two",
      cellType: undefined,
      mode: "replace",
      profile,
    }),
  ];

  describe(`${name}: modes`, () => {
    test("there are tools that change files", () => expect(tools.length).toBeGreaterThan(2));

    for (const mode of ["read-only", "plan"] as const) {
      for (const { name: tool, inputSchema } of tools) {
        const properties = Object.keys(inputSchema.properties ?? {});
        test(`${tool} writes nothing in ${mode} mode, whatever is allowed, and says why`, async () => {
          const folder = fresh();
          const before = everything(folder);
          const session = open(folder, { mode, ask: "yes", permissions: { allow: ["Edit", "Read"] } });
          const reply = await session.call(tool, inputFor(properties, `${folder}/ws`, "a.txt"));
          expect(reply).toMatchObject({ isError: true, error: { code: "ACCESS_DENIED" } });
          expect(words(reply)).toMatch(mode === "plan" ? /planning/ : /read-only/);
          expect(everything(folder)).toBe(before);
        });

        test(`${tool} can be tried in ${mode} mode: a dry run shows the change`, async () => {
          const folder = fresh();
          const before = everything(folder);
          const input = inputFor(properties, `${folder}/ws`, "a.txt");
          const reply = await open(folder, { mode }).call(tool, input, { dryRun: true });
          expect(reply.isError, words(reply)).toBe(false);
          expect(everything(folder)).toBe(before);
        });
      }

      test(`no request writes in ${mode} mode, tool or not`, async () => {
        const folder = fresh();
        const before = everything(folder);
        const session = open(folder, { mode, ask: "yes" });
        for (const request of requests(folder))
          expect((await session.run(request)).problem?.code).toBe("ACCESS_DENIED");
        expect(everything(folder)).toBe(before);
      });

      test(`reading is as free in ${mode} mode as it is otherwise`, async () => {
        const folder = fresh();
        const session = open(folder, { mode, permissions: { deny: ["Read(n.ipynb)"] } });
        const [read] = session.definitions().filter(({ readOnly }) => readOnly);
        const [path = ""] = Object.keys(read?.inputSchema.properties ?? {});
        expect((await session.call(read?.name ?? "", { [path]: `${folder}/ws/a.txt` })).isError).toBe(false);
        expect((await session.call(read?.name ?? "", { [path]: `${folder}/ws/n.ipynb` })).isError).toBe(true);
      });

      test(`nothing is rewound, undone or redone in ${mode} mode, and no turn is begun`, async () => {
        const folder = fresh();
        const session = open(folder, { ask: "yes", stateDir: `${folder}/state` });
        await session.checkpoint("m1");
        const [tool] = tools.filter(({ name: one }) => /^edit$/i.test(one));
        const input = inputFor(Object.keys(tool?.inputSchema.properties ?? {}), `${folder}/ws`, "a.txt");
        expect((await session.call(tool?.name ?? "", input)).isError).toBe(false);
        const after = everything(folder);
        session.setMode(mode);
        await expect(session.rewind("m1")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
        await expect(session.undo()).rejects.toMatchObject({ code: "ACCESS_DENIED" });
        expect((await session.undo({ dryRun: true })).files).toHaveLength(1);
        expect(everything(folder)).toBe(after);
        session.setMode("default");
        expect((await session.undo()).files).toMatchObject([{ came: "done" }]);
        session.setMode(mode);
        await expect(session.redo()).rejects.toMatchObject({ code: "ACCESS_DENIED" });
        expect(everything(folder)).not.toBe(after);
      });
    }

    for (const { name: tool, inputSchema } of tools) {
      const properties = Object.keys(inputSchema.properties ?? {});
      const call = (folder: string, options: Partial<FilehandOptions>, file = "a.txt"): Promise<Reply> =>
        open(folder, options).call(tool, inputFor(properties, `${folder}/ws`, file));

      test(`${tool} asks nobody in accept-edits mode, and refuses with nobody there in the default mode`, async () => {
        const folder = fresh();
        const before = everything(folder);
        expect(await call(folder, {})).toMatchObject({ isError: true, error: { code: "ACCESS_DENIED" } });
        expect(everything(folder)).toBe(before);
        const reply = await call(folder, { mode: "accept-edits" });
        expect(reply.isError, words(reply)).toBe(false);
        expect(everything(folder)).not.toBe(before);
      });

      test(`${tool} heeds deny and ask rules in accept-edits mode`, async () => {
        const folder = fresh();
        const before = everything(folder);
        for (const permissions of [{ deny: ["Edit"] }, { ask: ["Edit"] }, { deny: ["Read"] }]) {
          expect((await call(folder, { mode: "accept-edits", permissions })).isError).toBe(true);
        }
        expect(everything(folder)).toBe(before);
      });

      test.skipIf(properties.includes("new_source"))(`${tool} still asks about protected files`, async () => {
        const folder = fresh();
        const before = everything(folder);
        const reply = await call(folder, { mode: "accept-edits", permissions: { allow: ["Edit"] } }, ".vscode/a.txt");
        expect(reply).toMatchObject({ isError: true, error: { code: "ACCESS_DENIED" } });
        expect(everything(folder)).toBe(before);
      });
    }

    test("a mode that is switched while a call waits for its turn still holds", async () => {
      const folder = fresh();
      let session: Session | undefined;
      const ask = async () => {
        session?.setMode("read-only");
        return { reply: "once" } as const;
      };
      session = open(folder, { ask });
      const before = everything(folder);
      const [tool] = tools.filter(({ name: one }) => /^edit$/i.test(one));
      const input = inputFor(Object.keys(tool?.inputSchema.properties ?? {}), `${folder}/ws`, "a.txt");
      const reply = await session.call(tool?.name ?? "", input);
      expect(words(reply)).toMatch(/read-only/);
      expect(everything(folder)).toBe(before);
    });
  });
}
