/** Lets `import words from "./read.txt"` mean the file's text, for the bundler and the test runner alike. */

/**
 * @returns {{ name: string, transform(code: string, id: string): { code: string, map: null, moduleType: "js" } | undefined }}
 */
export function textFiles() {
  return {
    name: "text-files",
    transform(code, id) {
      if (!id.endsWith(".txt")) return undefined;
      return { code: `export default ${JSON.stringify(code.trimEnd())};`, map: null, moduleType: "js" };
    },
  };
}
