/** Which models get no reminder: by the model's own name, whatever provider, region, date or variant surrounds it. */

/** Models that judge malware well without a reminder. */
export const exemptModelsDefault: readonly string[] = ["claude-opus-4-6"];

export function isExemptModel(model: string | undefined, exempt = exemptModelsDefault): boolean {
  if (model === undefined) return false;
  const name = bareName(model);
  return exempt.some((one) => {
    const start = bareName(one);
    return start !== "" && name.startsWith(start) && variants.test(name.slice(start.length));
  });
}

/** `models/x`, `provider/x`, `provider:x`, `us.anthropic.x` are x; `4.6` is `4-6`. */
function bareName(model: string): string {
  const name = model.slice(-nameCharsMax).toLowerCase().trim();
  return name
    .slice(name.lastIndexOf("/") + 1)
    .replace(/^(?:[a-z_-]+[.:])+/, "")
    .replace(/(\d)\.(?=\d)/g, "$1-");
}

/** Names come from clients; a longer one is no model's name. */
const nameCharsMax = 100;

/**
 * Dates, deployment versions and running modes of the same model. Any other suffix, such as `-5` or `-mini`, makes it another
 * model.
 */
const variants =
  /^(?:[-@:_](?:\d{6,8}|\d{4}-\d\d-\d\d|v\d+(?:[:-]\d+)?|latest|preview|beta|exp|thinking|fast|free|extended|low|medium|high|xhigh|max|\d+[km])|\[\w+\])*$/;
