/** A63 to A67: what is asked about before it is changed, at any depth and in any letter case; and what no tool changes. */

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "vitest";
import { cautionOf } from "./ask.ts";
import { ownRules, protectedRules } from "./protected.ts";
import { compileRules } from "./rules.ts";

const rules = compileRules(protectedRules, { home: undefined });
const named = (relative: string) => [{ absolute: `/root/${relative}`, relative }];
const asks = (path: string): boolean => rules.decide("edit", named(path)).rule !== undefined;

/** By the line of attacks that each belongs to. */
const groups: Readonly<Record<string, readonly string[]>> = {
  "other version control systems": [
    ".hg/hgrc",
    ".hg/hooks/a",
    ".svn/hooks/pre-commit",
    ".jj/repo/config.toml",
    ".bzr/branch/branch.conf",
    ".sl/config",
    ".overcommit.yml",
    ".lintstagedrc.json",
  ],
  "other editors": [
    ".helix/config.toml",
    ".helix/languages.toml",
    ".dir-locals-2.el",
    ".vs/tasks.vs.json",
    ".fleet/run.json",
    ".run/a.run.xml",
    "app.sublime-project",
    ".luarc.json",
    ".gitpod.yml",
    ".idx/dev.nix",
  ],
  "environments and package managers": [
    "mise.toml",
    "mise.local.toml",
    ".mise.toml",
    ".mise/tasks/a",
    ".config/mise/config.toml",
    "node_modules/.bin/tsc",
    ".venv/bin/python",
    "Directory.Build.props",
    "Directory.Build.targets",
    "Directory.Build.rsp",
    "nuget.config",
    "rust-toolchain.toml",
    "tools/bazel",
    ".pnpmfile.cjs",
    "gradle.properties",
  ],
  "start-up files of languages and debuggers": [
    ".gdbinit",
    ".lldbinit",
    ".Rprofile",
    ".Renviron",
    "sitecustomize.py",
    "usercustomize.py",
    "lib/a.pth",
    ".irbrc",
    ".psqlrc",
  ],
  "other build servers": [
    "bitbucket-pipelines.yml",
    ".woodpecker.yml",
    ".woodpecker/build.yaml",
    ".gitlab-ci-local.yml",
    "appveyor.yml",
    ".cirrus.yml",
    ".teamcity/settings.kts",
    "cloudbuild.yaml",
    ".builds/a.yml",
  ],
  "other agents": [
    ".clinerules",
    ".clinerules/a.md",
    ".windsurfrules",
    ".cursorrules",
    ".roomodes",
    ".qwen/settings.json",
    ".kilocode/mcp.json",
    ".goosehints",
    "crush.json",
    ".github/hooks/a.json",
    ".github/prompts/a.prompt.md",
  ],
  "A63 Git": [
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/modules/sub/config",
    ".git/worktrees/one/gitdir",
    ".git/info/attributes",
    ".gitmodules",
    ".gitconfig",
    ".config/git/config",
    ".husky/pre-push",
    ".githooks/post-merge",
    "lefthook.yml",
    "lefthook.toml",
    ".lefthook.yaml",
    "lefthook-local.yml",
    ".pre-commit-config.yaml",
  ],
  "A64 agents and editors": [
    ".mcp.json",
    ".claude/settings.json",
    ".claude/agents/a.md",
    ".claude.json",
    ".cursor/mcp.json",
    ".cursor/rules/a.mdc",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".codex/config.toml",
    ".agents/skills/a/SKILL.md",
    ".gemini/settings.json",
    ".zed/tasks.json",
    ".windsurf/mcp.json",
    ".continue/config.json",
    ".kiro/settings/mcp.json",
    ".roo/mcp.json",
    ".cline/mcp.json",
    ".junie/mcp/mcp.json",
    ".amazonq/mcp.json",
    ".aider.conf.yml",
    "opencode.json",
    "opencode.jsonc",
    ".opencode/plugin/a.ts",
    ".github/copilot-instructions.md",
    "app.code-workspace",
    ".nvim.lua",
    ".exrc",
    ".vimrc",
    ".dir-locals.el",
    "pyrightconfig.json",
  ],
  "A66 what shells, installers and services run": [
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
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xprofile",
    ".config/fish/config.fish",
    ".config/environment.d/a.conf",
    ".config/powershell/profile.ps1",
    "Microsoft.PowerShell_profile.ps1",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".yarn/releases/yarn.cjs",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    ".pnpmfile.mjs",
    "bunfig.toml",
    ".cargo/config.toml",
    ".mvn/extensions.xml",
    ".bazelrc",
    ".bazelversion",
    ".bazeliskrc",
    "gradle/wrapper/gradle-wrapper.properties",
    ".mvn/wrapper/maven-wrapper.properties",
    ".ripgreprc",
    ".devcontainer/devcontainer.json",
    ".devcontainer.json",
    ".ssh/config",
    ".ssh/authorized_keys",
    "authorized_keys",
    "crontab",
    "etc/cron.d/job",
    ".config/autostart/a.desktop",
    ".config/systemd/user/a.service",
    "etc/systemd/system/a.service",
    "Library/LaunchAgents/a.plist",
    "Library/LaunchDaemons/a.plist",
  ],
  "A67 what build servers run": [
    ".github/workflows/ci.yml",
    ".github/actions/a/action.yml",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    ".forgejo/workflows/ci.yml",
    ".gitea/workflows/ci.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    ".travis.yml",
    ".drone.yml",
    ".buildkite/pipeline.yml",
  ],
};

for (const [what, paths] of Object.entries(groups)) {
  describe(what, () => {
    for (const path of paths) {
      test(`${path}: at any depth, in any letter case`, () => {
        const spellings = [path, path.toUpperCase(), path.replace(/[a-z]/, (letter) => letter.toUpperCase())];
        // `ſ` and the Kelvin sign are an s and a k to disks without letter case.
        spellings.push(path.replaceAll("s", "\u017f").replaceAll("k", "\u212a"));
        for (const spelling of spellings) {
          for (const folder of ["", "sub/", "vendor/deep/er/"]) equal(asks(folder + spelling), true, folder + spelling);
        }
      });
    }
  });
}

test("what only looks like one of them is not asked about for that", () => {
  const others = [
    "git/config",
    ".gitignore",
    ".github/ISSUE_TEMPLATE.md",
    ".github/dependabot.yml",
    "src/vscode/a.ts",
    "profile",
    "login.ts",
    "docs/crontab.md",
    "src/systemd.ts",
    "pnpm-lock.yaml",
    "bazel.md",
    "claude/a.md",
    ".gitkeep",
    "hg/a.ts",
    "src/mise.ts",
    "docs/woodpecker.md",
    "node_modules/a/index.js",
    "Directory.md",
    "site.py",
    "src/helix/a.ts",
    "settings/a.ts",
    "project.json",
  ];
  deepEqual(others.filter(asks), []);
});

test("A67 build scripts and instructions are pointed out in the question", () => {
  for (const name of ["package.json", "Makefile", "a/b/PACKAGE.JSON", "Dockerfile", "pyproject.toml", ".gitattributes"])
    equal(cautionOf(`/root/${name}`), "build", name);
  for (const name of ["CLAUDE.md", "AGENTS.md", "sub/agents.md", "GEMINI.md"])
    equal(cautionOf(`/root/${name}`), "instructions", name);
  for (const name of ["a.ts", "package.json.md"]) equal(cautionOf(`/root/${name}`), undefined, name);
});

test("A65 Filehand's own files are denied, whatever their letter case", () => {
  const own = compileRules(ownRules("/root/state"), { home: undefined });
  for (const path of ["filehand.jsonc", "sub/FILEHAND.JSONC", "filehand.json", ".filehand/a", "state/x", "STATE/x/y"]) {
    equal(own.decide("edit", named(path)).verdict, "deny", path);
  }
  for (const path of ["state/history/a", ".filehand-undo-1-2-a-b", "x/filehand-locks-0/a", ".filehand-new-1"]) {
    equal(own.decide("read", named(path)).verdict, "deny", path);
  }
  equal(own.decide("read", named("filehand.jsonc")).verdict, "allow");
});

test("the rules have no faults", () => deepEqual(rules.faults, []));
