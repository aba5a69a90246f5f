/** Which rights a confined process keeps, as data. docs/behaviour/confinement.md explains each entry. */

import * as fs from "node:fs";
import * as nodePath from "node:path";
import { attempt, defaultLockFolders, makeFolders, readSmallFile } from "../disk/disk.ts";

/** Absolute paths of files and folders, each with all that is below it. */
export interface Rights {
  readonly read: readonly string[];
  /** To read and to start as a program. */
  readonly run: readonly string[];
  /** To read, create, change, move and delete. */
  readonly write: readonly string[];
  readonly network: "closed" | "open";
  /** Where this process and its children put temporary files. */
  readonly temporary?: string | undefined;
}

export interface ConfinedWorkspace {
  /** Real paths. */
  readonly roots: readonly string[];
  readonly writable: boolean;
  readonly stateDir: string | undefined;
  /** The script of this program. */
  readonly program: string;
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Language servers and formatters are started, which need their toolchains and caches. */
  readonly startsPrograms: boolean;
  /** Words of their commands in the settings; absolute paths among them are opened, with their folders. */
  readonly commands: readonly string[];
  /** What the settings add. */
  readonly more: { readonly read?: readonly string[]; readonly write?: readonly string[] };
  readonly network: "closed" | "open";
}

/** Programs and libraries of the system, on the usual distributions, Nix and Guix. ripgrep, git and Node itself are started from there. */
const systemPrograms = [
  "/usr/bin",
  "/usr/lib",
  "/usr/lib32",
  "/usr/lib64",
  "/usr/libexec",
  "/usr/local/bin",
  "/usr/local/lib",
  "/bin",
  "/lib",
  "/lib32",
  "/lib64",
  "/nix/store",
  "/gnu/store",
  "/run/current-system/sw",
];
/** What the loader, Node and git read when they start. */
const systemFiles = [
  "/etc/ld.so.cache",
  "/etc/ld.so.preload",
  "/etc/localtime",
  "/etc/gitconfig",
  "/etc/gitattributes",
  "/etc/ssl/openssl.cnf",
  "/etc/pki/tls/openssl.cnf",
  "/usr/share/git-core",
  "/usr/share/zoneinfo",
  // Processes and locks of others, mounts, our own descriptors. Landlock itself closes the memory and the variables of others.
  "/proc",
  "/dev/urandom",
  "/dev/random",
  "/dev/zero",
];
/** What names are looked up by, if ports are open. */
const networkFiles = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/ssl", "/etc/pki"];

/** Where toolchains are, below the home folder; `/opt` and `/usr/share` besides. */
const toolchains = [
  ".asdf",
  ".bun",
  ".cargo",
  ".deno",
  ".dotnet",
  ".fnm",
  ".ghcup",
  ".jdks",
  ".local/bin",
  ".local/lib",
  ".local/pipx",
  ".local/share/fnm",
  ".local/share/mise",
  ".local/share/pnpm",
  ".local/share/uv",
  ".local/share/nvim/mason",
  ".m2",
  ".npm-global",
  ".nuget",
  ".nvm",
  ".opam",
  ".pyenv",
  ".rbenv",
  ".rustup",
  ".sdkman",
  ".volta",
  "go",
  ".config/gopls",
];

/** For a server with language servers or formatters: they run with its rights, so it has what they need. */
function programRights(workspace: ConfinedWorkspace): Pick<Rights, "read" | "run" | "write"> {
  const { roots, home, env, startsPrograms, commands } = workspace;
  if (!startsPrograms) return { read: [], run: [], write: [] };
  const cache = env["XDG_CACHE_HOME"];
  const isNamed = cache !== undefined && nodePath.isAbsolute(cache);
  const caches = isNamed ? [cache] : home === undefined ? [] : [nodePath.join(home, ".cache")];
  const searched = (env["PATH"] ?? "").split(":").filter((folder) => /^\/.*\/bin\/?$/u.test(folder));
  return {
    read: ["/etc/passwd", "/etc/nsswitch.conf", "/etc/alternatives", "/sys/fs/cgroup", "/sys/devices/system/cpu"],
    run: [
      "/opt",
      "/usr/share",
      "/usr/include",
      "/usr/local/share",
      ...(home === undefined ? [] : toolchains.map((name) => nodePath.join(home, name))),
      ...searched,
      ...commands.filter((word) => nodePath.isAbsolute(word)).map((word) => nodePath.dirname(word)),
      ...roots, // programs of a trusted project; which ones are started is decided elsewhere
    ],
    write: caches,
  };
}

/** Makes the folders among them that this process would make later, and could not then. */
export function rightsFor(workspace: ConfinedWorkspace): Rights {
  const { roots, writable, stateDir, more, network } = workspace;
  const { first, second } = defaultLockFolders();
  for (const folder of [first, stateDir]) {
    if (folder !== undefined) attempt(() => makeFolders(folder, 0o700));
  }
  const temporary = temporaryFolder(stateDir);
  const programs = programRights(workspace);
  return {
    read: [
      ...programs.read,
      ...(writable ? [] : roots),
      ...systemFiles,
      ...(network === "open" ? networkFiles : []),
      ...roots.flatMap(gitFolders),
      ...gitSettings(workspace),
      ...(more.read ?? []),
    ],
    run: [...programs.run, ...systemPrograms, ...ownProgram(workspace.program), ...loadedLibraries()],
    write: [
      ...(writable ? roots : []),
      ...[stateDir, first, second].filter((path) => path !== undefined),
      "/dev/null",
      ...programs.write,
      ...(more.write ?? []),
    ],
    network,
    temporary,
  };
}

/** The rights of a command of a person or an agent: the roots, the system, toolchains and caches. Nothing else of the home folder. */
export function commandRights(workspace: ConfinedWorkspace): Rights {
  const { roots, writable, more } = workspace;
  const programs = programRights({ ...workspace, startsPrograms: true });
  return {
    read: [
      ...programs.read,
      ...systemFiles,
      ...networkFiles,
      "/etc/group",
      "/etc/profile",
      "/etc/bash.bashrc",
      "/etc/ca-certificates",
      "/etc/terminfo",
      "/etc/java",
      "/etc/maven",
      ...gitSettings(workspace),
      ...(writable ? [] : roots),
      ...(more.read ?? []),
    ],
    run: [
      ...systemPrograms,
      "/usr/sbin",
      "/sbin",
      ...programs.run.filter((path) => !roots.includes(path)),
      process.execPath,
    ],
    // Git writes to its folder when it commits.
    write: [...programs.write, ...(writable ? [...roots, ...roots.flatMap(gitFolders)] : []), ...(more.write ?? [])],
    network: "open",
    temporary: temporaryFolder(workspace.stateDir),
  };
}

/** Scripts, WebAssembly and native parts of this package and of the packages it uses. */
function ownProgram(program: string): readonly string[] {
  const real = attempt(() => fs.realpathSync(program)) ?? program;
  const folder = nodePath.dirname(real);
  const [, outermost] = /^(.*?\/node_modules)\//.exec(real) ?? [];
  return [
    folder,
    nodePath.resolve(folder, "../package.json"),
    nodePath.resolve(folder, "../node_modules"),
    ...(outermost === undefined ? [] : [outermost]),
    attempt(() => fs.realpathSync(process.execPath)) ?? process.execPath,
  ];
}

/** The libraries that Node runs with, wherever they are. */
function loadedLibraries(): readonly string[] {
  const maps = attempt(() => fs.readFileSync("/proc/self/maps", "utf8")) ?? "";
  return [...new Set(maps.match(/\/\S.*\.so(?:\.[\d.]+)?$/gmu) ?? [])].filter(
    (library) => !systemPrograms.some((folder) => library.startsWith(`${folder}/`)),
  );
}

/** Git's own folder, if it is not below the root: a root inside a checkout, or a worktree. */
function gitFolders(root: string): readonly string[] {
  for (let folder = root; ; folder = nodePath.dirname(folder)) {
    const entry = nodePath.join(folder, ".git");
    const stat = fs.lstatSync(entry, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) return folder === root ? [] : [entry];
    if (stat?.isFile() === true) return [entry, ...worktreeFolders(folder, entry)];
    if (folder === nodePath.dirname(folder)) return [];
  }
}

/** A pointer of git is one line with a path. */
const pointerBytesMax = 8_192;

/**
 * A project comes from strangers, and this file may name any folder: only one that looks as git makes it for a worktree, which
 * points back to this checkout, is opened.
 */
function worktreeFolders(folder: string, entry: string): readonly string[] {
  const line = (path: string): string | undefined => attempt(() => readSmallFile(path, pointerBytesMax))?.trim();
  const named = /^gitdir: (.+)$/.exec(line(entry) ?? "")?.[1];
  if (named === undefined) return [];
  const own = nodePath.resolve(folder, named);
  if (line(nodePath.join(own, "gitdir")) !== entry) return [];
  const common = nodePath.resolve(own, line(nodePath.join(own, "commondir")) ?? ".");
  return nodePath.dirname(nodePath.dirname(own)) === common ? [common] : [own];
}

/** `safe.directory`, the folders that git works in although others own them, is there. */
function gitSettings({ home, env }: ConfinedWorkspace): readonly string[] {
  if (home === undefined) return [];
  const config = env["XDG_CONFIG_HOME"];
  const folder = config !== undefined && nodePath.isAbsolute(config) ? config : nodePath.join(home, ".config");
  return [nodePath.join(home, ".gitconfig"), nodePath.join(folder, "git")];
}

/** In the state folder, so that nothing is left in the system's; undefined without a state folder. */
function temporaryFolder(stateDir: string | undefined): string | undefined {
  if (stateDir === undefined) return undefined;
  const folder = nodePath.join(stateDir, "tmp");
  return attempt(() => {
    makeFolders(folder, 0o700);
    return fs.lstatSync(folder).isDirectory() ? folder : undefined;
  });
}
