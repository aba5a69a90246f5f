import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "vitest";
import { compileRules } from "./rules.ts";
import { defaultRules } from "./protected.ts";

const rules = compileRules(defaultRules, { home: undefined });

describe("a secret is asked about", () => {
  for (const path of [
    ".env",
    ".ENV",
    "packages/api/.env",
    ".env.local",
    ".env.production.local",
    ".env_prod",
    ".env~",
    ".envrc",
    ".env.example.local",
    "id_rsa",
    "id_rsa.bak",
    "keys/id_ed25519",
    "id_work",
    ".ssh/config",
    "home/.ssh/keys/work",
    "server.pem",
    "public.pem",
    "config/master.key",
    "a.p12",
    "a.PFX",
    "a.jks",
    "release.keystore",
    "passwords.kdbx",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".aws/credentials",
    "x/.docker/config.json",
    ".kube/config",
    "credentials.json",
    "secrets.json",
    "deploy/secrets.yaml",
    "secrets.yml",
    "service-account.json",
    "my-service-account.json",
    "serviceAccountKey.json",
    ".config/gcloud/credentials.db",
    "a\nb/.env",
  ]) {
    test(JSON.stringify(path), () => {
      for (const relative of [path, undefined]) {
        equal(rules.decide("read", [{ absolute: `/root/${path}`, relative }]).verdict, "ask");
      }
    });
  }
});

describe("what only looks like a secret is not", () => {
  for (const path of [
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    ".env.local.example",
    "apps/web/.ENV.Example",
    "environment.ts",
    "env.ts",
    ".environment/x",
    "src/env/index.ts",
    ".env/lib/python3/site.py",
    "keyboard.key.ts",
    "key.ts",
    "id_rsa.pub",
    ".ssh/work.pub",
    "id_map.ts",
    "id_service/main.py",
    "valid_names",
    "config.json",
    "secrets.ts",
    "secrets/readme.md",
    ".aws/task-definition.json",
    "src/credentials.ts",
    "package.json",
    "npmrc.md",
  ]) {
    test(JSON.stringify(path), () => {
      equal(rules.decide("read", [{ absolute: `/root/${path}`, relative: path }]).rule, undefined);
    });
  }
});

test("the default rules have no faults and ask about reading only", () => {
  deepEqual(rules.faults, []);
  equal(rules.decide("edit", [{ absolute: "/root/.env", relative: ".env" }]).rule, undefined);
});
