/** What a person should know of a file before they let it be changed. */

/** Undefined where there is nothing to say. A caution of which we know no words is said as it is. */
export function cautionWords(caution: unknown): string | undefined {
  switch (caution) {
    case "build":
      return "This file names commands that are run when the project is built or installed";
    case "instructions":
      return "Agents take what stands in this file for their instructions";
    default:
      return typeof caution === "string" && caution !== "" ? caution : undefined;
  }
}
