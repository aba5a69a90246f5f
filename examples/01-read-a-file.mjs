// @ts-check
// Reads a file as typed data, and shows what a failure looks like.

import { fileURLToPath } from "node:url";
import { createFilehand, FilehandError } from "filehand";

const project = fileURLToPath(new URL("..", import.meta.url));
const session = createFilehand({ roots: [project] }).session({ dialect: "claude" });

// An answer says what it is: text, an image, a PDF, a notebook, or a file that has not changed since.
const answer = await session.tools.Read({ file_path: "LICENSE", limit: 3 });
if (answer.type === "text") {
  console.log(answer.file.content);
  console.log(`lines 1 to ${answer.file.numLines} of ${answer.file.totalLines}`);
}

try {
  await session.tools.Read({ file_path: "LICENCE" });
} catch (error) {
  if (!(error instanceof FilehandError)) throw error;
  console.log(`${error.code}: ${error.message.replaceAll(project, "")}`);
}
