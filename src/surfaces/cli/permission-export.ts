/** Our deny and ask rules in the form of other programs, with those that they cannot express. Pure. */

import type { PermissionList, RuleText } from "../../contract/permission.ts";

export const exportTargets = ["claude-code", "codex", "opencode", "gemini", "bwrap", "landlock"] as const;
export type ExportTarget = (typeof exportTargets)[number];
/** Those that are made from the rules alone; the others need the disk. */
export type RuleTarget = Exclude<ExportTarget, "bwrap" | "landlock">;

export interface Exported {
  readonly text: string;
  readonly left: readonly { readonly rule: RuleText; readonly why: string }[];
}

/** The narrowing rules, without those that protect Filehand's own files: other programs have none of them. */
export const narrowing = ({ rules, builtIn }: PermissionList): readonly RuleText[] =>
  [...rules, ...builtIn].filter(({ verdict, source }) => verdict !== "allow" && source !== "Filehand itself");

export function exportRules(list: PermissionList, target: RuleTarget): Exported {
  const left: { rule: RuleText; why: string }[] = [];
  const taken: Taken[] = [];
  for (const rule of narrowing(list)) {
    const parsed = parseRule(rule);
    const why = typeof parsed === "string" ? parsed : refusals[target](parsed);
    if (typeof parsed === "string" || why !== undefined) left.push({ rule, why: why ?? "" });
    else taken.push(parsed);
  }
  return { text: writers[target](taken), left };
}

interface Taken {
  readonly rule: RuleText;
  readonly does: "read" | "edit";
  /** Undefined: every file. */
  readonly pattern: string | undefined;
}

const doing: Readonly<Record<string, Taken["does"]>> = {
  Read: "read",
  Glob: "read",
  Grep: "read",
  LS: "read",
  Edit: "edit",
  Write: "edit",
  MultiEdit: "edit",
  NotebookEdit: "edit",
};

function parseRule(rule: RuleText): Taken | string {
  const [, tool = "", pattern] = /^(\w+)(?:\((.*)\))?$/s.exec(rule.text) ?? [];
  const does = Object.hasOwn(doing, tool) ? doing[tool] : undefined;
  if (does === undefined) return "it is not about reading or editing files";
  if (pattern?.startsWith("!") === true) return "it takes paths out of another rule";
  return { rule, does, pattern };
}

const isAbsolute = (pattern: string): boolean => pattern.startsWith("//") || pattern.startsWith("~/");

/** Why a program cannot express a rule; undefined if it can. */
const refusals: Readonly<Record<RuleTarget, (taken: Taken) => string | undefined>> = {
  "claude-code": () => undefined,
  opencode: ({ pattern = "" }) => (/[[\]{}\\]/u.test(pattern) ? "its patterns have only * and ?" : undefined),
  gemini: ({ rule, does, pattern }) => {
    if (rule.verdict === "ask") return "a file can only be ignored, not asked about";
    if (does === "edit") return "a file that is ignored cannot be read either";
    if (pattern === undefined) return "it would ignore every file";
    return isAbsolute(pattern) ? "its patterns begin at the project" : undefined;
  },
  codex: ({ rule, does, pattern }) => {
    if (rule.verdict === "ask") return "a file can only be denied, not asked about";
    if (pattern === undefined) return "use its profile :read-only instead";
    return does === "edit" && /[*?[{]/u.test(pattern) ? "a pattern can only deny reading" : undefined;
  },
};

const writers: Readonly<Record<RuleTarget, (taken: readonly Taken[]) => string>> = {
  "claude-code": (taken) => {
    const of = (verdict: RuleText["verdict"]): readonly string[] => [
      ...new Set(taken.flatMap(({ rule }) => (rule.verdict === verdict ? rule.text : []))),
    ];
    return `${JSON.stringify({ permissions: { deny: of("deny"), ask: of("ask") } }, undefined, 2)}\n`;
  },
  opencode: (taken) => {
    const permission: Record<string, Record<string, string>> = {};
    // The last pattern that matches decides, so the stricter ones come last.
    for (const verdict of ["ask", "deny"] as const) {
      for (const { rule, does, pattern } of taken) {
        if (rule.verdict !== verdict) continue;
        const patterns = (permission[does] ??= {});
        for (const one of wildcards(pattern)) {
          delete patterns[one];
          patterns[one] = verdict;
        }
      }
    }
    return `${JSON.stringify({ permission }, undefined, 2)}\n`;
  },
  gemini: (taken) => ["# .geminiignore", ...new Set(taken.map(({ pattern = "" }) => pattern)), ""].join("\n"),
  codex: (taken) => {
    const roots = new Map<string, string>();
    const others = new Map<string, string>();
    for (const { does, pattern = "" } of taken) {
      const access = does === "read" ? "deny" : "read";
      if (isAbsolute(pattern)) others.set(pattern.replace(/^\/\//u, "/"), access);
      else roots.set(fromRoot(pattern), access);
    }
    const lines = (all: ReadonlyMap<string, string>): readonly string[] =>
      [...all].map(([pattern, access]) => `${JSON.stringify(pattern)} = ${JSON.stringify(access)}`);
    return [
      'default_permissions = "filehand"',
      "",
      "[permissions.filehand]",
      'extends = ":workspace"',
      "",
      ...(others.size === 0 ? [] : ["[permissions.filehand.filesystem]", ...lines(others), ""]),
      '[permissions.filehand.filesystem.":workspace_roots"]',
      ...lines(roots),
      "",
    ].join("\n");
  },
};

/** A pattern of gitignore as one that begins at the root: `.env` is at any depth, `/a` and `a/b` are at the root. */
function fromRoot(pattern: string): string {
  const inner = pattern.replace(/\/$/u, "");
  if (inner.startsWith("/")) return inner.slice(1);
  return inner.includes("/") ? inner : `**/${inner}`;
}

/** For a program whose `*` goes across slashes. */
function wildcards(pattern: string | undefined): readonly string[] {
  if (pattern === undefined) return ["*"];
  const path = isAbsolute(pattern) ? pattern.replace(/^\/\//u, "/") : fromRoot(pattern);
  const plain = path.replaceAll(/\*{2,}/gu, "*").replace(/^\*\//u, "");
  const all = path.startsWith("**/") ? [plain, `*/${plain}`] : [plain];
  return all.flatMap((one) => (one.endsWith("*") ? [one] : [one, `${one}/*`]));
}
