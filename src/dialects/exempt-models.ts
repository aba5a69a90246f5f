/** Which models are not reminded: by the name of the model itself, however a provider, a region, a date or a variant is put around it. */

/** Models that judge malware well enough without being reminded. */
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

const nameCharsMax = 100;

/**
 * Dates, versions of a deployment and ways of running one and the same model. Anything else behind a name, such as `-5` or
 * `-mini`, makes it another model.
 */
const variants =
  /^(?:[-@:_](?:\d{6,8}|\d{4}-\d\d-\d\d|v\d+(?:[:-]\d+)?|latest|preview|beta|exp|thinking|fast|free|extended|low|medium|high|xhigh|max|\d+[km])|\[\w+\])*$/;
