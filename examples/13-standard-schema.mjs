// @ts-check
// The tools with inputs that any library can check that knows Standard Schema.

import { fileURLToPath } from "node:url";
import { createFilehand } from "filehand";
import { fileTools } from "filehand/standard-schema";

const project = fileURLToPath(new URL("..", import.meta.url));
const session = createFilehand({ roots: [project], reminder: false }).session({ dialect: "claude" });

for (const { name, inputSchema } of fileTools(session, { only: ["Read", "Glob"] })) {
  const { jsonSchema, validate } = inputSchema["~standard"];
  console.log(
    name,
    jsonSchema.input({ target: "draft-2020-12" })["required"],
    JSON.stringify(validate({ pattern: "*.md" })),
  );
}
