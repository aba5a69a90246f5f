/** A move lets a language server update the imports: in the same question and the same turn, and never at the cost of the move. */

import * as fs from "node:fs";
import { afterEach, expect, test } from "vitest";
import { createFilehand, type Filehand, type FilehandOptions, type Question, type Reply } from "../src/index.ts";
import { scriptedServer, typescriptServer } from "./support/language-servers.ts";
import { workspace } from "./support/workspace.ts";

const words = ({ content }: Reply): string => content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

const opened: Filehand[] = [];
afterEach(async () => {
  for (const filehand of opened.splice(0)) await filehand.close();
});

const src = {
  "sum.ts": 'import { one } from "./one.js";\nexport const total = one;\n',
  "one.ts": "export const one = 1;\n",
  "use.ts": 'import { total } from "./sum.js";\nexport const both = total;\n',
};

function bed(more: Partial<FilehandOptions>, files: Parameters<typeof workspace>[0] = src) {
  const made = workspace({
    ws: {
      "tsconfig.json": '{"compilerOptions":{"strict":true,"module":"nodenext"},"include":["src"]}',
      "package.json": '{"type":"module"}',
      src: files,
    },
    state: {},
  });
  const root = made.path("ws");
  const questions: Question[] = [];
  const ask: FilehandOptions["ask"] = async (question) => {
    questions.push(question);
    return { reply: "once" };
  };
  const filehand = createFilehand({ roots: [root], stateDir: made.path("state"), ask, ...more });
  opened.push(filehand);
  const session = filehand.session({ dialect: "claude" });
  const read = (name: string): string => fs.readFileSync(`${root}/${name}`, "utf8");
  return { root, session, questions, read, move: (path: string, to: string) => session.call("Move", { path, to }) };
}

const patience = 60_000;

test(
  "imports of the moved file and of others follow, after one question, and one undo takes all of it back",
  async () => {
    const { session, questions, read, move, root } = bed(typescriptServer);
    expect(words(await move("src/sum.ts", "src/math/sum.ts"))).toContain(
      'Moved "src/sum.ts" to "src/math/sum.ts".\nMade "src/math" for it.\nUpdated imports in 2 files, as typescript found them.',
    );
    expect(read("src/math/sum.ts")).toContain('"../one.js"');
    expect(read("src/use.ts")).toContain('"./math/sum.js"');
    expect(questions).toHaveLength(1);
    expect(questions[0]?.metadata["diff"]).toContain('+import { total } from "./math/sum.js";');
    await session.undo();
    expect([read("src/sum.ts"), read("src/use.ts")]).toEqual([src["sum.ts"], src["use.ts"]]);
    expect(fs.existsSync(`${root}/src/math`)).toBe(false);
  },
  patience,
);

test(
  "a folder is one move",
  async () => {
    const { read, move } = bed(typescriptServer, {
      lib: { "one.ts": src["one.ts"] },
      "use.ts": 'import { one } from "./lib/one.js";\nexport const x = one;\n',
    });
    expect((await move("src/lib", "src/kit")).error).toBeUndefined();
    expect(read("src/use.ts")).toContain('"./kit/one.js"');
  },
  patience,
);

test(
  "switched off, a move asks no server",
  async () => {
    const { read, move } = bed({ ...typescriptServer, updateImports: false });
    expect(words(await move("src/sum.ts", "src/math/sum.ts"))).not.toContain("imports");
    expect(read("src/use.ts")).toBe(src["use.ts"]);
  },
  patience,
);

test(
  "a file that a rule denies is left out of the edits",
  async () => {
    const { read, move } = bed({ ...typescriptServer, permissions: { deny: ["Read(use.ts)"] } });
    const said = words(await move("src/sum.ts", "src/math/sum.ts"));
    expect(said).toContain("Updated imports in 1 file");
    expect(said).not.toContain("use.ts");
    expect(read("src/use.ts")).toBe(src["use.ts"]);
  },
  patience,
);

test(
  "a server that fails does not stop the move, and the answer says so",
  async () => {
    const made = workspace({});
    const { options, says } = scriptedServer(made.path("script.json"));
    says({ "workspace/willRenameFiles": { error: { code: -32_603, message: "not today" } } });
    const { root, move } = bed(options, { "a.scripted": "a\n" });
    const said = words(await move("src/a.scripted", "src/b.scripted"));
    expect(said).toContain('Moved "src/a.scripted" to "src/b.scripted".');
    expect(said).toMatch(/Imports in other files were left as they are: scripted failed/);
    expect(fs.existsSync(`${root}/src/b.scripted`)).toBe(true);
  },
  patience,
);
