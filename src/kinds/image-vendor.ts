/** What the vendor of a model makes of a picture before it counts its tokens. */

import type { Size } from "./image-formats/head.ts";

/** Patches of 28 pixels, each a token; both limits hold. The tiers are those of the vendor's models. */
const patchPixels = 28;
const tiers = {
  standard: { longEdgeMax: 1_568, tokensMax: 1_568 },
  high: { longEdgeMax: 2_576, tokensMax: 4_784 },
} as const;

/** The size to which the vendor scales an image before it counts: the largest in the same proportion that is allowed. */
export function vendorSize(
  width: number,
  height: number,
  tier: keyof typeof tiers = "standard",
): Size & { readonly tokens: number } {
  const { longEdgeMax, tokensMax } = tiers[tier];
  const longEdge = Math.max(width, height);
  const sized = (edge: number): Size & { readonly tokens: number } => {
    const side = (length: number): number =>
      length === longEdge ? edge : Math.max(1, roundHalfToEven((length * edge) / longEdge));
    const [wide, high] = [side(width), side(height)];
    return { width: wide, height: high, tokens: Math.ceil(wide / patchPixels) * Math.ceil(high / patchPixels) };
  };
  let edge = Math.min(longEdge, longEdgeMax);
  while (edge > 1 && sized(edge).tokens > tokensMax) edge -= 1;
  return sized(edge);
}

/** As the vendor rounds: 2000×1500 becomes 1270×952 (952.5), and 8000×100 becomes 1568×20 (19.6). */
function roundHalfToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
}
