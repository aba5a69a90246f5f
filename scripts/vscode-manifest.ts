/** The manifest of the example extension for VS Code: it must list each tool with its description and its schema. */

import { dialects } from "../src/dialects/index.ts";
import type { PackageFacts } from "./published.ts";

/** The tools of the example; VS Code has its own for everything else. */
const names = ["Read", "Outline", "Grep", "Glob", "Edit", "MultiEdit", "Write", "NotebookEdit"];

export function vscodeManifest({ version }: PackageFacts): object {
  const specs = dialects.claude.specs.filter(({ name }) => names.includes(name));
  return {
    name: "filehand-tools",
    displayName: "Filehand's tools",
    description: "An example: Filehand's tools as language-model tools of VS Code",
    publisher: "filehand",
    private: true,
    version,
    main: "./extension.cjs",
    engines: { vscode: "^1.101.0" },
    dependencies: { filehand: version },
    contributes: {
      languageModelTools: specs.map(({ name, description, inputSchema }) => ({
        name: `filehand_${name}`,
        displayName: `Filehand: ${name}`,
        toolReferenceName: `filehand${name}`,
        canBeReferencedInPrompt: true,
        modelDescription: description,
        inputSchema,
      })),
    },
  };
}
