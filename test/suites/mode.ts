/** What modes do to every tool that changes files, in every dialect: the tools are taken from the dialect itself. */

import * as fs from "node:fs";
import { describe, expect, test } from "vitest";
import { createFilehand, type DialectName, type FilehandOptions, type Reply, type Session } from "../../src/index.ts";
import type { Profile } from "../../src/contract/profile.ts";
import type { Request } from "../../src/contract/call.ts";
import { workspace } from "../support/workspace.ts";
import { optInOptions } from "./dialect.ts";

const notebook = (source: string): string =>
  JSON.stringify({
    cells: [{ cell_type: "code", id: "c1", source, metadata: {}, outputs: [] }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  });

const words = ({ content: [part] }: Reply): string => (part?.type === "text" ? part.text : "");

type Definition = ReturnType<Session["definitions"]>[number];

/** An input for any tool that changes files: "one" in a file becomes "two", or the file is deleted, moved or copied. */
function inputFor(tool: Definition | undefined, folder: string, file: string): Record<string, unknown> {
  const properties = tool?.inputSchema.properties ?? {};
  const has = (name: string): boolean => name in properties;
  const pathOf = (names: object): string => Object.keys(names).find((name) => /path/i.test(name)) ?? "";
  const path = pathOf(properties);
  const patch = ["patchText", "patch_text"].find(has);
  if (patch !== undefined) {
    return { [patch]: `*** Begin Patch\n*** Update File: ${file}\n@@\n-one\n+two\n*** End Patch` };
  }
  if (has("new_source")) return { [path]: `${folder}/n.ipynb`, cell_id: "c1", new_source: "two" };
  if (has("content")) return { [path]: `${folder}/${file}`, content: "two\n" };
  if (has("to")) return { [path]: `${folder}/${file}`, to: `${folder}/${file}.new` };
  if (/^makefolder$/i.test(tool?.name ?? "")) return { [path]: `${folder}/${file}.new` };
  if (/^delete$/i.test(tool?.name ?? "")) return { [path]: `${folder}/${file}` };
  const ofFile = properties["files"]?.items?.properties ?? properties;
  const edited = ofFile["edits"]?.items?.properties ?? ofFile;
  const [oldName, newName] = "newString" in edited ? ["oldString", "newString"] : ["old_string", "new_string"];
  const edit = oldName in edited ? { [oldName]: "one", [newName]: "two" } : { lines: "1", [newName]: "two" };
  const change = { [pathOf(ofFile)]: `${folder}/${file}`, ...("edits" in ofFile ? { edits: [edit] } : edit) };
  return has("files") ? { files: [change] } : change;
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
    createFilehand({ roots: [`${folder}/ws`], readFirst: false, ...optInOptions, ...options }).session({
      dialect: name,
    });
  /** Calls a tool that changes a file, after the file was read: lines are edited by the numbers that a reading showed. */
  const change = async (session: Session, tool: Definition, folder: string, file: string, dryRun = false) => {
    const [read] = session.definitions().filter(({ readOnly }) => readOnly);
    const [path = ""] = Object.keys(read?.inputSchema.properties ?? {});
    await session.call(read?.name ?? "", { [path]: `${folder}/ws/${file}` });
    return session.call(tool.name, inputFor(tool, `${folder}/ws`, file), { dryRun });
  };
  const everything = (folder: string): string =>
    fs
      .readdirSync(`${folder}/ws`, { recursive: true, withFileTypes: true })
      .map((entry) => ({ entry, at: `${entry.parentPath}/${entry.name}` }))
      .map(({ entry, at: one }) => (entry.isFile() ? `${one}: ${fs.readFileSync(one, "utf8")}` : `${one}/`))
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
    test("there are tools that change files, among them those that the operator has switched on", () => {
      const names = tools.map(({ name: one }) => one.toLowerCase());
      const wanted = ["edit", "write", "patch", "editlines", "editfiles", "delete", "move", "copy", "makefolder"];
      expect(names).toEqual(expect.arrayContaining(wanted));
    });

    for (const mode of ["read-only", "plan"] as const) {
      for (const tool of tools) {
        test(`${tool.name} writes nothing in ${mode} mode, whatever is allowed, and says why`, async () => {
          const folder = fresh();
          const before = everything(folder);
          const session = open(folder, { mode, ask: "yes", permissions: { allow: ["Edit", "Read"] } });
          const reply = await change(session, tool, folder, "a.txt");
          expect(reply).toMatchObject({ isError: true, error: { code: "ACCESS_DENIED" } });
          expect(words(reply)).toMatch(mode === "plan" ? /planning/ : /read-only/);
          expect(everything(folder)).toBe(before);
        });

        test(`${tool.name} can be tried in ${mode} mode: a dry run shows the change`, async () => {
          const folder = fresh();
          const before = everything(folder);
          const reply = await change(open(folder, { mode }), tool, folder, "a.txt", true);
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
        const input = inputFor(tool, `${folder}/ws`, "a.txt");
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

    for (const tool of tools) {
      const call = (folder: string, options: Partial<FilehandOptions>, file = "a.txt"): Promise<Reply> =>
        change(open(folder, options), tool, folder, file);

      test(`${tool.name} asks nobody in accept-edits mode, and refuses with nobody there in the default mode`, async () => {
        const folder = fresh();
        const before = everything(folder);
        expect(await call(folder, {})).toMatchObject({ isError: true, error: { code: "ACCESS_DENIED" } });
        expect(everything(folder)).toBe(before);
        const reply = await call(folder, { mode: "accept-edits" });
        expect(reply.isError, words(reply)).toBe(false);
        expect(everything(folder)).not.toBe(before);
      });

      test(`${tool.name} heeds deny and ask rules in accept-edits mode`, async () => {
        const folder = fresh();
        const before = everything(folder);
        for (const permissions of [{ deny: ["Edit"] }, { ask: ["Edit"] }, { deny: ["Read"] }]) {
          expect((await call(folder, { mode: "accept-edits", permissions })).isError).toBe(true);
        }
        expect(everything(folder)).toBe(before);
      });

      test.skipIf(tool.name === "NotebookEdit")(`${tool.name} still asks about protected files`, async () => {
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
      const input = inputFor(tool, `${folder}/ws`, "a.txt");
      const reply = await session.call(tool?.name ?? "", input);
      expect(words(reply)).toMatch(/read-only/);
      expect(everything(folder)).toBe(before);
    });
  });
}
