/** Which optional packages are installed. The native one is loaded: it may be installed without its binary. */

import { createRequire } from "node:module";
import type { OptionalPart, PartState } from "../contract/checkup.ts";

export const optionalPartNames = ["sharp", "libheif-js", "@embedpdf/pdfium"] as const satisfies readonly OptionalPart[];

export async function optionalParts(): Promise<ReadonlyMap<OptionalPart, PartState>> {
  const states = optionalPartNames.map(async (name) => [name, await stateOf(name)] as const);
  return new Map(await Promise.all(states));
}

async function stateOf(name: OptionalPart): Promise<PartState> {
  try {
    createRequire(import.meta.url).resolve(name);
  } catch (error) {
    // `require.resolve` finds an ESM-only package and refuses it with this code.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") return "missing";
  }
  if (name !== "sharp") return "there";
  try {
    await import("sharp");
    return "there";
  } catch {
    return "broken";
  }
}
