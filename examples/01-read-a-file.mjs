// @ts-check
// Reads a file as typed data, and shows what a failure looks like.

import { fileURLToPath } from "node:url";
import { createFilehand, FilehandError } from "filehand";

const project = fileURLToPath(new URL("..", import.meta.url));
const session = createFilehand({ roots: [project] }).session({ dialect: "claude" });

const { file } = await session.tools.Read({ file_path: "LICENSE", limit: 3 });
console.log(file.content);
console.log(`lines 1 to ${file.numLines} of ${file.totalLines}`);

try {
  await session.tools.Read({ file_path: "LICENCE" });
} catch (error) {
  if (!(error instanceof FilehandError)) throw error;
  console.log(`${error.code}: ${error.message.replaceAll(project, "")}`);
}
