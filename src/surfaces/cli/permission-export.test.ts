import { deepEqual, equal } from "node:assert/strict";
import { test } from "vitest";
import type { PermissionList } from "../../contract/permission.ts";
import { exportRules } from "./permission-export.ts";

const list: PermissionList = {
  mode: "default",
  locked: [],
  roots: ["/ws"],
  rules: [
    { verdict: "allow", text: "Read", source: "user settings" },
    { verdict: "deny", text: "Read(.env)", source: "user settings" },
    { verdict: "deny", text: "Read(/vault/**)", source: "user settings" },
    { verdict: "deny", text: "Read(//srv/keys/**)", source: "user settings" },
    { verdict: "deny", text: "Edit(/LICENSE)", source: "user settings" },
    { verdict: "deny", text: "Edit(*.lock)", source: "user settings" },
    { verdict: "deny", text: "Read(a[bc])", source: "user settings" },
    { verdict: "ask", text: "external_directory(//srv/**)", source: "user settings" },
  ],
  builtIn: [
    { verdict: "ask", text: "Read(*.pem)", source: "secrets" },
    { verdict: "deny", text: "Edit(filehand.jsonc)", source: "Filehand itself" },
  ],
  faults: [],
};
const leftOf = (target: Parameters<typeof exportRules>[1]): readonly string[] =>
  exportRules(list, target).left.map(({ rule }) => rule.text);

test("Claude Code gets the rules as they are", () => {
  deepEqual(JSON.parse(exportRules(list, "claude-code").text), {
    permissions: {
      deny: ["Read(.env)", "Read(/vault/**)", "Read(//srv/keys/**)", "Edit(/LICENSE)", "Edit(*.lock)", "Read(a[bc])"],
      ask: ["Read(*.pem)"],
    },
  });
  deepEqual(leftOf("claude-code"), ["external_directory(//srv/**)"]);
});

test("opencode gets wildcards, the stricter ones last", () => {
  deepEqual(JSON.parse(exportRules(list, "opencode").text), {
    permission: {
      read: {
        "*.pem": "ask",
        "*.pem/*": "ask",
        "*/*.pem": "ask",
        "*/*.pem/*": "ask",
        ".env": "deny",
        ".env/*": "deny",
        "*/.env": "deny",
        "*/.env/*": "deny",
        "vault/*": "deny",
        "/srv/keys/*": "deny",
      },
      edit: {
        LICENSE: "deny",
        "LICENSE/*": "deny",
        "*.lock": "deny",
        "*.lock/*": "deny",
        "*/*.lock": "deny",
        "*/*.lock/*": "deny",
      },
    },
  });
  deepEqual(leftOf("opencode"), ["Read(a[bc])", "external_directory(//srv/**)"]);
});

test("Gemini CLI ignores files, and can neither ask nor let read only", () => {
  equal(exportRules(list, "gemini").text, "# .geminiignore\n.env\n/vault/**\na[bc]\n");
  deepEqual(leftOf("gemini"), [
    "Read(//srv/keys/**)",
    "Edit(/LICENSE)",
    "Edit(*.lock)",
    "external_directory(//srv/**)",
    "Read(*.pem)",
  ]);
});

test("Codex gets a profile", () => {
  equal(
    exportRules(list, "codex").text,
    [
      'default_permissions = "filehand"',
      "",
      "[permissions.filehand]",
      'extends = ":workspace"',
      "",
      "[permissions.filehand.filesystem]",
      '"/srv/keys/**" = "deny"',
      "",
      '[permissions.filehand.filesystem.":workspace_roots"]',
      '"**/.env" = "deny"',
      '"vault/**" = "deny"',
      '"LICENSE" = "read"',
      '"**/a[bc]" = "deny"',
      "",
    ].join("\n"),
  );
  deepEqual(leftOf("codex"), ["Edit(*.lock)", "external_directory(//srv/**)", "Read(*.pem)"]);
});
