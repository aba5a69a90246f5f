/** Where a rule goes that the person at the terminal wants for good: into the settings of the project or their own. */

import type { RuleKeeper } from "../../contract/ask.ts";
import { settingsFiles } from "../../settings/settings.ts";
import { escapeName } from "../../text/escape.ts";
import type { Host } from "./command.ts";

/** `trusted`: roots whose own settings may allow something; elsewhere such a rule would not count. */
export function ruleKeeper(trusted: readonly string[], host: Host): RuleKeeper {
  const { env, platform, home } = host;
  return async (rule, where) => {
    const files = settingsFiles({ roots: trusted, env, platform, home });
    const file = files.find(({ source }) => source === (where === "user" ? "user settings" : "project settings"));
    const failed =
      file === undefined ? { why: "there is no home folder to keep it in" } : await put(file.path, rule, where);
    const place = file === undefined ? `${where} settings` : escapeName(file.path);
    host.stderr.write(
      failed === undefined
        ? `Kept in ${place}: ${escapeName(rule)}\n`
        : `Cannot keep the rule in ${place}: ${failed.why}, it holds for this run\n`,
    );
    return failed;
  };
}

async function put(path: string, rule: string, where: "project" | "user"): ReturnType<RuleKeeper> {
  // Its parser costs start-up time, and rules are seldom kept.
  const { keepRule } = await import("../../settings/keep-rule.ts");
  // A project comes from strangers, and its link may lead to anything that its reader can write.
  return keepRule(path, rule, where === "user" ? "follow" : "refuse");
}
