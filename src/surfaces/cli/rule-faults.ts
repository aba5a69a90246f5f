/** Rules that are not in force, told on stderr; many for one reason are told together. */

import type { RuleFault } from "../../contract/rule.ts";
import { escapeName } from "../../text/escape.ts";
import type { Host } from "./command.ts";

const toldMax = 3;

export function reportRuleFaults(faults: readonly RuleFault[], host: Host): void {
  const byReason = new Map<string, RuleFault[]>();
  for (const fault of faults) {
    const reason = `${fault.source}: ${fault.why}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), fault]);
  }
  for (const alike of byReason.values()) {
    for (const { text, source, why } of alike.slice(0, toldMax)) {
      host.stderr.write(`filehand: the rule ${escapeName(text)} (${source}) is not in force: ${why}\n`);
    }
    if (alike.length <= toldMax) continue;
    host.stderr.write(`filehand: and ${alike.length - toldMax} more for this reason, see filehand permissions list\n`);
  }
}
