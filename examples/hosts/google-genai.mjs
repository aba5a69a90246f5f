// @ts-check
// Filehand's tools with Google's client, which calls them by itself. GEMINI_API_KEY is the key.

import { GoogleGenAI } from "@google/genai";
import { createFilehand } from "filehand";
import { fileFunctions } from "filehand/google-genai";

const session = createFilehand({ roots: [process.cwd()], reminder: false }).session({ dialect: "claude" });
const { text } = await new GoogleGenAI({}).models.generateContent({
  model: "gemini-2.5-pro",
  contents: "What does the licence begin with?",
  config: { tools: [fileFunctions(session, { readOnly: true })] },
});
console.log(text);
