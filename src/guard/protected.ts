/**
 * Files whose change can run code later, or change what Filehand itself may do. The first are always asked about, whatever
 * is allowed; the second no tool may change.
 */

import { ownSource, type RuleText } from "../contract/rule.ts";
import { absolutePattern } from "./names.ts";

/** gitignore patterns. What is run by a shell, an editor, Git, a build server or an agent when nobody is looking. */
const patterns: readonly string[] = [
  // Git runs hooks, and its configuration names programs.
  ".git/**",
  ".git",
  ".gitmodules",
  ".gitconfig",
  ".husky/**",
  ".githooks/**",
  "lefthook.*",
  ".lefthook.*",
  "lefthook-local.*",
  ".lefthook-local.*",
  ".pre-commit-config.yaml",
  ".config/git/**",

  // Shells read these when they start.
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".mkshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".logout",
  ".xprofile",
  ".xinitrc",
  ".xsession",
  ".xsessionrc",
  ".pam_environment",
  ".config/environment.d/**",
  ".config/fish/**",
  ".config/nushell/**",
  ".config/powershell/**",
  "profile.ps1",
  "*_profile.ps1",
  ".envrc",

  // Editors run tasks and take settings from a workspace.
  ".vscode/**",
  ".idea/**",
  "*.code-workspace",
  ".devcontainer/**",
  ".devcontainer.json",
  ".zed/**",
  ".nvim.lua",
  ".nvimrc",
  ".exrc",
  ".vimrc",
  ".dir-locals.el",
  "pyrightconfig.json",

  // Build servers.
  ".github/workflows/**",
  ".github/actions/**",
  ".gitlab-ci.yml",
  ".forgejo/workflows/**",
  ".gitea/workflows/**",
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
  ".pnp*",
  "bunfig.toml",
  ".cargo/**",
  ".mvn/**",
  ".bazel*",
  "gradle-wrapper.properties",
  "maven-wrapper.properties",
  ".ripgreprc",
  ".ssh/**",
  "authorized_keys",
  "crontab",
  ".crontab",
  "cron.d/**",
  ".config/autostart/**",
  ".config/systemd/**",
  "systemd/system/**",
  "systemd/user/**",
  "LaunchAgents/**",
  "LaunchDaemons/**",

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
  ".kiro/**",
  ".roo/**",
  ".cline/**",
  ".clinerules/**",
  ".junie/**",
  ".amazonq/**",
  ".aider.conf.yml",
  ".github/copilot*",
];

export const protectedRules: readonly RuleText[] = patterns.map((pattern) => ({
  verdict: "ask",
  text: `Edit(${pattern})`,
  source: "protected",
}));

/** Files of our own that lie about for a moment: beside those that are changed, and in the folder for locks. */
const passing: readonly string[] = [
  ".filehand-new-*",
  ".filehand-undo-*",
  ".filehand-set-*",
  ".filehand-old-*",
  "filehand-locks-*/**",
  ".filehand/locks/**",
];

/** Of what no tool may read, that which is told by its names. */
export const ownNames: readonly string[] = passing.map((pattern) => `Read(${pattern})`);

/** A settings file would widen what its writer may do; the state folder holds what others did. */
export function ownRules(stateDir: string | undefined): readonly RuleText[] {
  const deny = (text: string): RuleText => ({ verdict: "deny", text, source: ownSource });
  const settings = ["filehand.jsonc", "filehand.json", ".filehand/**"].map((pattern) => deny(`Edit(${pattern})`));
  // A forged journal would have the sweep change a file that nobody was asked about; a forged lock would stop everyone.
  settings.push(...passing.flatMap((pattern) => [deny(`Read(${pattern})`), deny(`Edit(${pattern})`)]));
  if (stateDir === undefined) return settings;
  const state = `${absolutePattern(stateDir)}/**`;
  return [...settings, deny(`Read(${state})`), deny(`Edit(${state})`)];
}
