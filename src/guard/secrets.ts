/** The default rules: files that commonly contain secrets need approval before they are read. */

import type { RuleText } from "../contract/permission.ts";

/** gitignore patterns; the last match decides, so exceptions come after their pattern. */
const patterns: readonly string[] = [
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

export const defaultRules: readonly RuleText[] = patterns.map((pattern) => ({
  verdict: "ask",
  text: `Read(${pattern})`,
  source: "default",
}));
