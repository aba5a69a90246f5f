/** Every example runs and prints what it says. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project, run } from "./run.ts";

const outputs: Readonly<Record<string, string>> = {
  "01-read-a-file.mjs": `MIT License

Copyright (c) 2026 the Filehand authors
lines 1 to 3 of 21
NOT_FOUND: Cannot read "LICENCE": it does not exist, did you mean "LICENSE"
`,

  "02-tools-for-an-agent-loop.mjs": `Read(file_path, offset, limit, column, pages): Reads a file from the workspace: text, images, PDFs, notebooks and office documents.
Outline(file_path, depth): Lists what a file declares, without its text: functions, classes, headings, keys, rules, statements, each with its first and last line. Call it for a long file, then read only the lines that you need.
Grep(pattern, path, glob, type, output_mode, -A, -B, -C, -n, -i, multiline, head_limit, offset): Searches the contents of files with a regular expression, by ripgrep.
Glob(pattern, path): Finds files by the pattern of their paths, newest first.
LS(path, ignore, offset): Lists a folder as a tree, with the sizes of files.
Edit(file_path, old_string, new_string, replace_all): Replaces a text in a file with another.
MultiEdit(file_path, edits): Makes several replacements in one file, all of them or none.
Write(file_path, content): Writes a file: a new one, or an existing one whose whole content is replaced.
NotebookEdit(notebook_path, cell_id, new_source, cell_type, edit_mode): Changes one cell of a Jupyter notebook (.ipynb); every other byte of the file stays unchanged.
Delete(path): Deletes a file, a link itself, or a folder with all that is in it. The user can undo it.
Move(path, to): Moves or renames a file, or a folder with all that is in it. Missing folders are made, nothing is overwritten.
ok: 1\tMIT License

[21 lines]
no: Cannot call Read: "file_path" is missing: give a string; "path" is not a parameter: leave it out, or did you mean "file_path"
no: Cannot call "Bash": there is no such tool, use one of Read, Outline, Grep, Glob, LS, Edit, MultiEdit, Write, NotebookEdit, Delete, Move
`,

  "03-two-workspaces.mjs": `written on the left
written on the right
ACCESS_DENIED
ACCESS_DENIED
ACCESS_DENIED
written on the right
`,

  "04-permissions-and-asking.mjs": `notes.txt: read
private/diary.txt: Cannot read "private/diary.txt": the rule Read(/private/**) (options) denies it, ask the user to change the rule
asked about a read: shall Read(/.env) hold from now on?
.env: read
.env: read
rules with faults: 0
`,

  "05-cancel.mjs": `CANCELLED
2000000\t2026-11-15 12:00:00 all is well

[2097152 lines]
`,

  "06-ends-and-ranges.mjs": `20\tOUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
21\tSOFTWARE.
--
1\tMIT License

[21 lines]
3\tCopyright (c) 2026 the Filehand authors

[21 lines]
`,

  "07-four-dialects.mjs": `--- claude: Read({"file_path":"hello.js","offset":1,"limit":2})
1\tconst name = "world";
2\t

[3 lines]
--- opencode: read({"filePath":"hello.js","offset":1,"limit":2})
<path>/workspace/hello.js</path>
<type>file</type>
<content>
1: const name = "world";
2:${" "}

(File has more lines. Use 'offset' parameter to read beyond line 2)
</content>
--- opencode-legacy: read({"filePath":"hello.js","offset":0,"limit":2})
<file>
00001| const name = "world";
00002|${" "}

(File has more lines. Use 'offset' parameter to read beyond line 2)
</file>
--- envelope: Read({"path":"hello.js","start_line":1,"limit":2})
Read 2 lines from 'hello.js' (Lines 1-2).
(Took 0ms)
[Truncated: Showing first 2 of 3 lines. Use start_line=3 to continue.]

   1 | const name = "world";
   2 |
`,

  "08-an-mcp-client.mjs": `tools: Read, Edit, Write and others
Read: 1\texport const port = 80;
asked: Change "/workspace/port.js"? +1 -1: -export const port = 80; → +export const port = 8080;

| --- a/port.js
| +++ b/port.js
| @@ -1 +1 @@
| -export const port = 80;
| +export const port = 8080;
Edit: Edited "port.js": 1 replacement at line 1 (+1 -1).
Read refused: Cannot read "../secrets.txt": it is outside the workspace, use a path below "/workspace"
port.js: export const port = 8080;
`,

  "09-ai-sdk.mjs": `I read: 1\tMIT License

[21 lines]
`,

  "10-anthropic.mjs": `[ 'Read', 'Outline', 'Grep', 'Glob', 'LS' ]
ok: File created successfully at: poem.txt
ok: Here's the result of running \`cat -n\` on poem.txt:
     1\troses are red
     2\tviolets are red
ok: The file poem.txt has been edited. Here's the result of running \`cat -n\` on a snippet of poem.txt:
     1\troses are red
     2\t(they are)
     3\tviolets are red
Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary.
no: Error: No replacement was performed. Multiple occurrences of old_str \`are red\` in lines: 1, 3. Please ensure it is unique
ok: Successfully renamed /memories/poem.txt to /memories/old/poem.txt
ok: Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:
-\t/memories
-\t/memories/old/
41B\t/memories/old/poem.txt
`,

  "11-openai-agents.mjs": `Written and read. "hello\\nworld\\n"
`,

  "12-langchain.mjs": `success 1\tMIT License

[21 lines]
error Cannot call Read: "file_path" is missing: give a string; "path" is not a parameter: leave it out, or did you mean "file_path"
3\tCopyright (c) 2026 the Filehand authors

[21 lines]
`,

  "13-standard-schema.mjs": `Read [ 'file_path' ] {"issues":[{"message":"\\"file_path\\" is missing: give a string","path":["file_path"]},{"message":"\\"pattern\\" is not a parameter: leave it out, known are \\"file_path\\", \\"offset\\", \\"limit\\", \\"column\\", \\"pages\\"","path":["pattern"]}]}
Glob [ 'pattern' ] {"value":{"pattern":"*.md"}}
`,

  "14-acp.mjs": `"MIT License\\n\\n"
-32002 NOT_FOUND
`,

  "15-the-inspector.mjs": `Grep port: done
Read src/port.js: done
Edit src/port.js: done
Edit src/port.js: refused
Read README.md: done
Read README.md: done
Write NOTES.md: done
Read .env: refused

A first session to look at (timeline, diffs, history, usage, files):
  http://127.0.0.1:PORT/#key=KEY
On a terminal the server would stay for you to look; here it ends now.
`,

  "16-embedded-mcp-server.mjs": `Read, Outline, Grep, Glob, LS
1\tMIT License

[21 lines]
`,
};

/** `test/adapters/hosts.test.ts` runs those in `hosts`, whose frameworks have an installation of their own. */
test("every example is in the list", () => {
  expect(readdirSync(join(project, "examples")).toSorted()).toEqual([...Object.keys(outputs), "hosts"]);
});

for (const [name, stdout] of Object.entries(outputs)) {
  test(`${name} prints what it should`, async () => {
    const ran = await run(process.execPath, [join("examples", name)], { cwd: project });
    const shown = ran.stdout.replace(/127\.0\.0\.1:\d+\/#key=[\w-]{43}\n/, "127.0.0.1:PORT/#key=KEY\n");
    expect({ ...ran, stdout: shown }).toEqual({ code: 0, stdout, stderr: "" });
  });
}
