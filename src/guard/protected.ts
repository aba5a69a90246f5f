/**
 * Files whose change can run code later, or change what Filehand itself may do. The first are always asked about, whatever
 * is allowed; the second no tool may change.
 */

import type { RuleText } from "../contract/rule.ts";

/** gitignore patterns. What is run by a shell, an editor, Git, a build server or an agent when nobody is looking. */
const patterns: readonly string[] = [
  // Git runs hooks, and its configuration names programs.
  ".git/**",
  ".git",
  ".gitmodules",
  ".gitconfig",
  ".husky/**",
  ".githooks/**",
  "lefthook.yml",
  ".lefthook.yml",
  "lefthook.yaml",
  ".pre-commit-config.yaml",
  ".config/git/**",

  // Shells read these when they start.
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".config/fish/**",
  ".envrc",

  // Editors run tasks and take settings from a workspace.
  ".vscode/**",
  ".idea/**",
  "*.code-workspace",
  ".devcontainer/**",
  ".devcontainer.json",
  ".zed/**",
  ".nvim.lua",
  ".exrc",
  ".vimrc",
  "pyrightconfig.json",

  // Build servers.
  ".github/workflows/**",
  ".github/actions/**",
  ".gitlab-ci.yml",
  ".circleci/**",
  "Jenkinsfile",
  "azure-pipelines.yml",
  ".travis.yml",
  ".drone.yml",
  ".buildkite/**",

  // What programs run at install or start.
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".yarn/**",
  ".pnp.*",
  ".pnpmfile.cjs",
  "bunfig.toml",
  ".cargo/**",
  ".mvn/**",
  ".bazelrc",
  ".bazelversion",
  "gradle-wrapper.properties",
  "maven-wrapper.properties",
  ".ripgreprc",
  ".ssh/**",
  "authorized_keys",
  "crontab",
  ".config/autostart/**",
  ".config/systemd/**",
  "Library/LaunchAgents/**",

  // Agents: what they may do, and what they are told to run.
  ".claude/**",
  ".claude.json",
  ".mcp.json",
  ".cursor/**",
  ".opencode/**",
  "opencode.json",
  "opencode.jsonc",
  ".gemini/**",
  ".codex/**",
  ".agents/**",
  ".windsurf/**",
  ".continue/**",
  ".github/copilot*",
];

export const protectedRules: readonly RuleText[] = patterns.map((pattern) => ({
  verdict: "ask",
  text: `Edit(${pattern})`,
  source: "protected",
}));

/** Files of our own that lie about for a moment: beside those that are changed, and in the folder for locks. */
const passing: readonly string[] = [".filehand-new-*", ".filehand-undo-*", "filehand-locks-*/**"];

/** A settings file would widen what its writer may do; the state folder holds what others did. */
export function ownRules(stateDir: string | undefined): readonly RuleText[] {
  const source = "Filehand itself";
  const deny = (text: string): RuleText => ({ verdict: "deny", text, source });
  const settings = ["filehand.jsonc", "filehand.json", ".filehand/**"].map((pattern) => deny(`Edit(${pattern})`));
  // A forged journal would have the sweep change a file that nobody was asked about; a forged lock would stop everyone.
  settings.push(...passing.flatMap((pattern) => [deny(`Read(${pattern})`), deny(`Edit(${pattern})`)]));
  if (stateDir === undefined) return settings;
  const state = `//${stateDir.replaceAll("\\", "/").replace(/^\/+/, "")}/**`;
  return [...settings, deny(`Read(${state})`), deny(`Edit(${state})`)];
}
