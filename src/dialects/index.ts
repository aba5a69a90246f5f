/** Every dialect. A new one is a folder and a line here. */

import type { Tools as ClaudeTools } from "./claude/index.ts";
import { claude } from "./claude/index.ts";
import type { Dialect } from "./dialect.ts";
import type { Tools as EnvelopeTools } from "./envelope/index.ts";
import { envelope } from "./envelope/index.ts";
import type { Tools as OpencodeTools } from "./opencode/index.ts";
import { opencode } from "./opencode/index.ts";
import { opencodeLegacy, type Tools as OpencodeLegacyTools } from "./opencode/legacy.ts";

export interface DialectTools {
  readonly claude: ClaudeTools;
  readonly opencode: OpencodeTools;
  readonly "opencode-legacy": OpencodeLegacyTools;
  readonly envelope: EnvelopeTools;
}

export type DialectName = keyof DialectTools;

export const dialects: { readonly [Name in DialectName]: Dialect } = {
  claude,
  opencode,
  "opencode-legacy": opencodeLegacy,
  envelope,
};

export const defaultDialect = "claude" satisfies DialectName;

export const dialectNames = Object.keys(dialects) as readonly DialectName[]; // the keys of the literal above
