/** What a person should know before a file is changed that nothing protects: what it says is run, or obeyed, later. */

import * as nodePath from "node:path";

/** `build`: names commands that are run. `instructions`: agents take it for their orders. */
export type Caution = "build" | "instructions";

const builds: ReadonlySet<string> = new Set([
  "package.json",
  "makefile",
  "gnumakefile",
  "justfile",
  "taskfile.yml",
  "rakefile",
  "gruntfile.js",
  "gulpfile.js",
  "dockerfile",
  "docker-compose.yml",
  "compose.yaml",
  "build.gradle",
  "build.gradle.kts",
  "pom.xml",
  "setup.py",
  "pyproject.toml",
  "cargo.toml",
  "build.rs",
  "cmakelists.txt",
  "gemfile",
  "composer.json",
  ".gitattributes",
]);

const instructions: ReadonlySet<string> = new Set(["agents.md", "claude.md", "gemini.md", ".cursorrules", "skill.md"]);

export function cautionOf(path: string): Caution | undefined {
  const name = nodePath.basename(path).toLowerCase();
  if (builds.has(name)) return "build";
  return instructions.has(name) ? "instructions" : undefined;
}
