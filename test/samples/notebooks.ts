/** Notebooks for tests, made when asked: ordinary, large and hostile ones. Nothing of it is kept as a file. */

export interface NotebookSample {
  readonly name: string;
  readonly text: string;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function notebook4(cells: readonly Json[], more: { readonly [key: string]: Json } = {}): string {
  return `${JSON.stringify({ cells, metadata: { language_info: { name: "python" } }, nbformat: 4, nbformat_minor: 5, ...more }, null, 1)}\n`;
}

export function notebook3(cells: readonly Json[]): string {
  return JSON.stringify({ metadata: { name: "" }, nbformat: 3, nbformat_minor: 0, worksheets: [{ cells }] }, null, 1);
}

export function codeCell(
  source: Json,
  outputs: readonly Json[] = [],
  more: { readonly [key: string]: Json } = {},
): Json {
  return { cell_type: "code", execution_count: 1, id: "one", metadata: {}, outputs, source, ...more };
}

export const stream = (text: Json, name = "stdout"): Json => ({ output_type: "stream", name, text });

/** The smallest PNG there is: one pixel. */
export const onePixelPng =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** 500 cells, one of them with an output of 5 MB. */
export function largeNotebook(): string {
  const log = Array.from(
    { length: 62_500 },
    (_, line) => `step ${line}: loss ${(1 / (line + 1)).toFixed(9)} ${"x".repeat(54)}\n`,
  );
  return notebook4(
    Array.from({ length: 500 }, (_, index) =>
      codeCell([`x = ${index}\n`, "print(x)"], [stream(index === 250 ? log : [`${index}\n`])], { id: `c${index}` }),
    ),
  );
}

/** None may make the reader throw, hang or grow. */
export function hostileNotebooks(): readonly NotebookSample[] {
  const deep = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const withOutput = (output: string): string =>
    `{"nbformat":4,"cells":[{"cell_type":"code","source":"","outputs":[${output}]}]}`;
  return [
    { name: "a million open brackets", text: "[".repeat(1_000_000) },
    { name: "a million levels of lists", text: deep(1_000_000) },
    { name: "a source of a million levels", text: `{"cells":[{"cell_type":"code","source":${deep(1_000_000)}}]}` },
    {
      name: "an output of a million levels",
      text: withOutput(`{"output_type":"display_data","data":{"application/json":${deep(1_000_000)}}}`),
    },
    { name: "two million empty cells", text: `{"cells":[${"0,".repeat(2_000_000)}0]}` },
    { name: "a million outputs", text: withOutput(`${"{},".repeat(1_000_000)}{}`) },
    {
      name: "a million streams",
      text: withOutput(`${'{"output_type":"stream","text":"a\\r"},'.repeat(200_000)}{}`),
    },
    { name: "every made id taken", text: notebook4(takenIds(20_000)) },
    {
      name: "a line overwritten a million times",
      text: notebook4([codeCell("", [stream("long line\r".repeat(1_000_000))])]),
    },
    {
      name: "a long line overwritten by short ones",
      text: notebook4([codeCell("", [stream("x".repeat(1e6) + "\ry".repeat(1e6))])]),
    },
    { name: "a million backspaces", text: notebook4([codeCell("", [stream("ab\b".repeat(1_000_000))])]) },
    { name: "a million escapes that never end", text: notebook4([codeCell("", [stream("\x1b[".repeat(1_000_000))])]) },
    { name: "a string escape that never ends", text: notebook4([codeCell("", [stream("\x1b]0;".repeat(1_000_000))])]) },
    {
      name: "one escape with a million parameters",
      text: notebook4([codeCell("", [stream(`\x1b[${"1;".repeat(1e6)}`)])]),
    },
    {
      name: "keys that name the prototype",
      text: '{"__proto__":{"cells":[]},"constructor":1,"cells":[{"__proto__":null}]}',
    },
    { name: "a string that never ends", text: `{"cells":["${"a".repeat(5_000_000)}` },
    {
      name: "an image of ten million characters that is none",
      text: withOutput(`{"output_type":"display_data","data":{"image/png":"${"A".repeat(1e7)}!"}}`),
    },
  ];
}

/** Half of the cells have no id, and the others have those that would be made for them. */
function takenIds(count: number): readonly Json[] {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? { cell_type: "raw", source: "" } : { cell_type: "raw", source: "", id: `cell-${index - 1}` },
  );
}
