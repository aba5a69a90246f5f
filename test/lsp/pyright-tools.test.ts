/** Questions and a rename, answered by pyright: another server than the one that most tests have, with other habits. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFilehand, type Filehand, type Reply } from "../../src/index.ts";
import { type Workspace, workspace } from "../support/workspace.ts";

const words = ({ content }: Reply): string => content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
const program = nodePath.join(import.meta.dirname, "servers", "node_modules", ".bin", "pyright-langserver");

let made: Workspace;
let filehand: Filehand;
beforeAll(() => {
  made = workspace({
    ws: {
      "pyproject.toml": "[tool.pyright]\n",
      "shapes.py":
        'class Square:\n    def area(self) -> int:\n        """How large it is."""\n        return größe(2)\n\n\ndef größe(seite: int) -> int:\n    return seite * seite\n',
      "use.py": "from shapes import Square, größe\n\nprint(Square().area(), größe(3))  # größe\n",
    },
  });
  const pyright = { command: [program, "--stdio"] };
  const languageServers = { servers: { pyright } };
  filehand = createFilehand({ roots: [made.path("ws")], ask: "yes", languageTools: "rename", languageServers });
});
afterAll(() => filehand.close());

const call = async (tool: string, input: object): Promise<Reply> => {
  const session = filehand.session({ dialect: "claude" });
  // Its start can take longer than an answer may, on a machine that has other work.
  let reply = await session.call(tool, input);
  for (let tries = 1; tries < 6 && reply.error?.message.includes("has not answered within") === true; tries += 1) {
    reply = await session.call(tool, input);
  }
  return reply;
};

test("pyright: definition, references, hover, symbols, callers", async () => {
  const at = { file_path: "use.py", line: 3, symbol: "größe" };
  expect(words(await call("Lsp", { operation: "definition", ...at }))).toContain(
    "shapes.py:7:5: def größe(seite: int) -> int:",
  );
  const references = await call("Lsp", { operation: "references", ...at });
  expect(references.structured).toMatchObject({ totalResults: 4, hiddenByRules: 0 });
  expect(words(await call("Lsp", { operation: "hover", file_path: "use.py", line: 3, symbol: "area" }))).toContain(
    "How large it is.",
  );
  expect(words(await call("Lsp", { operation: "documentSymbol", file_path: "shapes.py" }))).toContain(
    "1-4 class Square\n  2-4 method area",
  );
  expect(words(await call("Lsp", { operation: "incomingCalls", ...at }))).toContain("function area (class Square");
});

test("pyright: a rename reaches all files, and leaves comments alone", async () => {
  const reply = await call("Rename", { file_path: "use.py", line: 3, symbol: "größe", new_name: "size" });
  expect(words(reply)).toContain('Renamed "größe" to "size" at 4 places in 2 files, as pyright found them.');
  expect(fs.readFileSync(made.path("ws", "use.py"), "utf8")).toBe(
    "from shapes import Square, size\n\nprint(Square().area(), size(3))  # größe\n",
  );
});
