/** Selects the items of an outline to show: as many levels as fit; the rest is counted. */

import type { OutlineItem } from "../contract/outline.ts";

export type WholeItem = Omit<OutlineItem, "hidden">;

/** Leaves out whole levels, the deepest first; only the first is truncated. `depthShown`: set if there are more. */
export function chooseItems(all: readonly WholeItem[], depth: number, itemsMax: number) {
  const perLevel: number[] = [];
  for (const item of all) perLevel[item.depth] = (perLevel[item.depth] ?? 0) + 1;
  let levels = 0;
  let count = 0;
  while (levels < perLevel.length && levels < depth) {
    const more = count + (perLevel[levels] ?? 0);
    if (levels > 0 && more > itemsMax) break;
    count = more;
    levels += 1;
  }
  const items: OutlineItem[] = [];
  let hidden = 0;
  for (const item of all.toReversed()) {
    if (item.depth >= levels) {
      hidden += 1;
      continue;
    }
    items.push({ ...item, hidden: item.depth === levels - 1 ? hidden : 0 });
    hidden = 0;
  }
  const depthShown = levels < perLevel.length ? levels : undefined;
  return { items: items.reverse().slice(0, itemsMax) as readonly OutlineItem[], depthShown };
}
