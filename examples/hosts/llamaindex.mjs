// @ts-check
// Filehand's tools in an agent of LlamaIndex. The model is a script here: put a real one in its place.

import { agent } from "@llamaindex/workflow";
import { createFilehand } from "filehand";
import { fileTools, withFileAnswers } from "filehand/llamaindex";
import { scripted } from "./scripted-llm.mjs";

const session = createFilehand({ roots: [process.cwd()], reminder: false }).session({ dialect: "claude" });
const tools = fileTools(session, { readOnly: true });
const llm = scripted("Read", { file_path: "LICENSE", limit: 1 });
const { data } = await agent({ llm: withFileAnswers(llm, tools), tools }).run("What does the licence begin with?");
console.log(data.result);
