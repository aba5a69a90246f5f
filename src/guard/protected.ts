/** Built-in rules: files whose change can run code later, files that control Filehand, and files that commonly contain secrets. */

import { ownSource, type RuleText } from "../contract/permission.ts";
import { absolutePattern } from "./paths.ts";

export interface ProtectedGroup {
  readonly what: string;
  readonly patterns: readonly string[];
}

/** Names separated by whitespace, so that a group reads as a paragraph. */
const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Files that run, or that agents follow, unattended. docs/behaviour/protected-files.md is generated from this list. */
export const protectedGroups: readonly ProtectedGroup[] = [
  {
    what: "Version control: hooks are run, and its configuration names programs",
    patterns: names(`
      .git/** .git .gitmodules .gitconfig .config/git/** .hg/** .hgrc .config/hg/** .svn/** .jj/** .jjconfig.toml
      .config/jj/** .sl/** .bzr/** .fossil-settings/** _darcs/** .pijul/** .husky/** .githooks/** .git-hooks/**
      lefthook.* .lefthook.* lefthook-local.* .lefthook-local.* .lefthook/** .pre-commit-config.yaml
      .pre-commit-config.yml .pre-commit-hooks.yaml .overcommit.yml .simple-git-hooks.* simple-git-hooks.*
      .lintstagedrc .lintstagedrc.* lint-staged.config.*
    `),
  },
  {
    what: "Shells and terminals: read when they start, or when a user enters the folder",
    patterns: names(`
      .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
      .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .xonshrc .inputrc .tmux.conf .screenrc .oh-my-zsh/**
      .config/bash/** .config/zsh/** .config/fish/** .config/nushell/** .config/elvish/** .config/powershell/**
      .config/tmux/** profile.ps1 *_profile.ps1 .xprofile .xinitrc .xsession .xsessionrc .pam_environment
      .config/environment.d/** .envrc .direnv/** .config/direnv/** .autoenv .autoenv.zsh mise.toml mise.*.toml
      .mise.toml .mise.*.toml .mise/** .config/mise/** .rtx.toml .asdfrc devbox.json devenv.nix .flox/**
    `),
  },
  {
    what: "Editors and development environments: tasks, plug-ins and settings of a workspace",
    patterns: names(`
      .vscode/** *.code-workspace .vs/** .idea/** .run/** .fleet/** .zed/** .config/zed/** .helix/**
      .config/helix/** .nova/** .lapce/** .theia/** .settings/** .project *.sublime-project *.sublime-workspace
      .nvim.lua .nvimrc .nvim/** .config/nvim/** .exrc .vimrc .gvimrc _vimrc .lvimrc .local.vimrc .vim/** .lazy.lua
      .neoconf.json .vimspector.json .emacs .emacs.d/** .dir-locals.el .dir-locals-2.el .kakrc .luarc.json
      .luarc.jsonc pyrightconfig.json .devcontainer/** .devcontainer.json .gitpod.yml .gitpod.Dockerfile
      .codesandbox/** .stackblitzrc .replit replit.nix .idx/** devfile.yaml .devfile.yaml
    `),
  },
  {
    what: "Build and CI servers",
    patterns: names(`
      .github/workflows/** .github/actions/** .gitlab-ci*.yml .gitlab-ci/** .gitlab/ci/** .forgejo/workflows/**
      .gitea/workflows/** .circleci/** Jenkinsfile Jenkinsfile.* azure-pipelines*.yml azure-pipelines*.yaml
      .azure-pipelines/** .azuredevops/** .travis.yml .drone.* .woodpecker* .buildkite/** bitbucket-pipelines.yml
      appveyor.yml .appveyor.yml .cirrus.yml .cirrus.star .semaphore/** .teamcity/** .tekton/** .harness/**
      .dagger/** .codefresh/** .builds/** .build.yml .zuul.yaml .zuul.d/** zuul.d/** cloudbuild.yaml cloudbuild.yml
      buildspec.yml codemagic.yaml bitrise.yml wercker.yml screwdriver.yaml
    `),
  },
  {
    what: "Package managers and build programs: run or obeyed at install, build or start",
    patterns: names(`
      .npmrc .yarnrc .yarnrc.yml .yarn/** .pnp* .pnpmfile.* pnpmfile.js bunfig.toml .bowerrc node_modules/.bin/**
      .venv/bin/** .venv/Scripts/** venv/bin/** venv/Scripts/** vendor/bin/** .bundle/** .gemrc .condarc pip.conf
      .config/pip/** .cargo/** rust-toolchain rust-toolchain.toml .mvn/** .gradle/** gradle.properties init.gradle
      gradle-wrapper.properties maven-wrapper.properties .sbtopts .jvmopts .bazel* tools/bazel .buckconfig
      .buckconfig.d/** pants.toml .pants.rc .watchmanconfig Directory.Build.* Directory.Packages.props
      Directory.Solution.* MSBuild.rsp nuget.config .nuget/** dotnet-tools.json
    `),
  },
  {
    what: "Languages and debuggers: files that are run when a program starts",
    patterns: names(`
      .Rprofile .Renviron sitecustomize.py usercustomize.py *.pth .pythonrc .pythonrc.py .pdbrc .irbrc .pryrc
      .byebugrc .rspec .iex.exs .ghci .ocamlinit .sbclrc .guile .julia/** .user.ini .htaccess .gdbinit .gdbearlyinit
      .lldbinit .psqlrc .sqliterc .mongorc.js .mongoshrc.js .ripgreprc .curlrc .wgetrc
    `),
  },
  {
    what: "The system: what runs at log-in or by the clock, and who may log in",
    patterns: names(`
      .ssh/** authorized_keys crontab .crontab cron.d/** .config/autostart/** .config/systemd/** systemd/system/**
      systemd/user/** LaunchAgents/** LaunchDaemons/** init.d/** rc.local profile.d/** sudoers sudoers.d/**
      udev/rules.d/** ld.so.preload .local/bin/** .local/share/applications/** .docker/config.json
      .docker/cli-plugins/** .kube/config .aws/config .config/gh/** .terraformrc .gnupg/** .mailcap
    `),
  },
  {
    what: "Agents: their permissions and their instructions",
    patterns: names(`
      .claude/** .claude.json .mcp.json mcp.json .cursor/** .cursorrules .opencode/** opencode.json opencode.jsonc
      .gemini/** gemini-extension.json .codex/** .agents/** .windsurf/** .windsurfrules .codeium/** .continue/**
      .continuerules .kiro/** .roo/** .roorules* .roomodes .cline/** .clinerules .clinerules/** .kilocode/**
      .kilocodemodes .junie/** .amazonq/** .aider.* .qwen/** .kimi/** .factory/** .augment/** .augment-guidelines
      .trae/** .crush/** crush.json .crush.json .amp/** .openhands/** .serena/** .goose/** .goosehints .warp/**
      .tabnine/** .copilot/** .github/copilot* .github/instructions/** .github/prompts/** .github/chatmodes/**
      .github/agents/** .github/hooks/**
    `),
  },
];

export const protectedRules: readonly RuleText[] = protectedGroups
  .flatMap(({ patterns }) => patterns)
  .map((pattern) => ({ verdict: "ask", text: `Edit(${pattern})`, source: "protected" }));

/** Filehand's temporary files: beside files that are being changed, and in the lock folder. */
const passing = names(`
  .filehand-new-* .filehand-undo-* .filehand-set-* .filehand-old-* .filehand-lock-* filehand-locks-*/**
  .filehand/locks/**
`);

export const ownNames: readonly string[] = passing.map((pattern) => `Read(${pattern})`);

/** A settings file could widen its writer's permissions; the state folder contains the work of other sessions. */
export function ownRules(stateDir: string | undefined): readonly RuleText[] {
  const deny = (text: string): RuleText => ({ verdict: "deny", text, source: ownSource });
  const settings = ["filehand.jsonc", "filehand.json", ".filehand/**"].map((pattern) => deny(`Edit(${pattern})`));
  // A forged journal would make recovery change a file without approval; a forged lock would block everyone.
  settings.push(...passing.flatMap((pattern) => [deny(`Read(${pattern})`), deny(`Edit(${pattern})`)]));
  if (stateDir === undefined) return settings;
  const state = `${absolutePattern(stateDir)}/**`;
  return [...settings, deny(`Read(${state})`), deny(`Edit(${state})`)];
}

/** Files that commonly contain secrets: the last match decides, so exceptions come after their pattern. */
const secretPatterns: readonly string[] = [
  // Environment files, except the samples that are meant to be read.
  ".env .env.* .env[-_~]* .envrc !.env*.example !.env*.sample !.env*.template !.env*.dist !.env*.defaults",

  // SSH keys without an extension may have any name (`id_work`); with one, only the usual names are keys
  // (`id_rsa.bak`), others are sources (`id_map.ts`).
  "id_* !id_*.* id_rsa* id_dsa* id_ecdsa* id_ed25519* .ssh/** !*.pub",

  // Keys, key stores and password stores.
  "*.pem *.key *.p8 *.p12 *.pfx *.ppk *.jks *.keystore *.kdbx .gnupg/**",

  // Files in which programs store passwords and tokens.
  ".netrc _netrc .pgpass .my.cnf .npmrc .pypirc .htpasswd .git-credentials .vault-token .dockercfg",
  ".docker/config.json .kube/** .aws/credentials .aws/config .aws/sso/** .aws/cli/** .azure/*token*",
  ".config/gcloud/** .config/gh/hosts.yml .cargo/credentials .cargo/credentials.toml",
  ".terraform.d/credentials.tfrc.json",

  // Telling names.
  "credentials.json client_secret*.json service-account*.json service_account*.json *-service-account.json",
  "serviceAccount*.json secrets.json secrets.yaml secrets.yml secrets.toml",

  // Files only: `.env/` is often a Python environment and `id_service/` a package.
  "!*/",
].flatMap((paragraph) => paragraph.split(" "));

export const defaultRules: readonly RuleText[] = secretPatterns.map((pattern) => ({
  verdict: "ask",
  text: `Read(${pattern})`,
  source: "default",
}));
