/** The TypeScript types of what calls may hold, made from the parameters of the tools. */

import type { ToolSpec } from "../src/dialects/dialect.ts";
import { type DialectName, dialects } from "../src/dialects/index.ts";
import type { Parameter, ParameterTable } from "../src/dialects/parameters.ts";
import { codePlace, grepModes, lspChoices } from "../src/dialects/shared-tools.ts";

/** Tools, by their names in `claude`, and the other dialects that have an input of the same type. */
const shared: Readonly<Record<string, readonly DialectName[]>> = {
  Grep: ["envelope"],
  Glob: ["envelope", "opencode", "opencode-legacy"],
  LS: ["envelope", "opencode", "opencode-legacy"],
  History: ["envelope", "opencode", "opencode-legacy"],
  Rewind: ["envelope"],
  Delete: ["envelope", "opencode", "opencode-legacy"],
  Move: ["envelope", "opencode", "opencode-legacy"],
  Copy: ["envelope", "opencode", "opencode-legacy"],
  MakeFolder: ["envelope", "opencode", "opencode-legacy"],
};

export function inputTypeFiles(): Readonly<Record<string, string>> {
  const { claude, envelope, opencode } = dialects;
  const isOwn =
    (dialect: DialectName) =>
    ({ name }: ToolSpec) =>
      !Object.entries(shared).some(([key, others]) => others.includes(dialect) && nameIn(dialect, key) === name);
  const edits = claude.specs.find(({ name }) => name === "MultiEdit")?.input["edits"]?.items ?? {};
  return {
    "src/dialects/inputs.ts": fileOf(".", "The inputs that dialects share.", [
      interfaceOf("CodePlaceInput", "How a call says which name in a file is meant.", codePlace),
      interfaceOf("EditPart", "One replacement.", edits),
      ...interfacesOf(
        claude.specs.filter(({ name }) => name in shared).map((card) => withWordsOf(shared[card.name] ?? [], card)),
      ),
    ]),
    "src/dialects/claude/inputs.ts": fileOf(
      "..",
      "The inputs of the `claude` dialect.",
      interfacesOf(
        claude.specs.filter(({ name }) => !(name in shared)),
        { EditPart: edits, CodePlaceInput: codePlace },
      ),
    ),
    "src/dialects/envelope/inputs.ts": fileOf(
      "..",
      "The inputs of the `envelope` dialect.",
      interfacesOf(envelope.specs.filter(isOwn("envelope")), { EditPart: edits, CodePlaceInput: codePlace }),
    ),
    "src/dialects/opencode/inputs.ts": fileOf(
      "..",
      "The inputs of the `opencode` dialect and of `opencode-legacy`.",
      opencodeInterfaces(
        lastOfEach(opencode.specs.filter(isOwn("opencode"))).map((card) => withWordsOf(["opencode-legacy"], card)),
      ),
    ),
  };
}

function opencodeInterfaces(cards: readonly ToolSpec[]): readonly string[] {
  const EditPart = cards.find(({ name }) => name === "multiedit")?.input["edits"]?.items ?? {};
  return [
    interfaceOf("EditPart", "One replacement.", EditPart),
    ...interfacesOf(cards, { EditPart, CodePlaceInput: codePlace }),
  ];
}

/** Of tools with the same name, of which one is offered, the last, which takes all that the others take. */
const lastOfEach = (cards: readonly ToolSpec[]): readonly ToolSpec[] =>
  cards.filter(({ name }, at) => !cards.slice(at + 1).some((later) => later.name === name));

/** The name of a tool of `claude` in another dialect. */
const nameIn = (dialect: DialectName, name: string): string =>
  dialect === "envelope" ? name : name === "LS" ? "list" : name.toLowerCase();

/** Choices whose type has a name of its own, and where that comes from, seen from `src/dialects`. */
const choiceTypes = [
  { choices: lspChoices, type: "LspOperation", from: "../contract/lsp.ts" },
  { choices: grepModes, type: "OutputMode", from: "shared-tools.ts" },
];

/** `up`: from the folder of the file to `src/dialects`. */
function fileOf(up: "." | "..", duty: string, interfaces: readonly string[]): string {
  const body = interfaces.join("\n");
  const isNeeded = (type: string) => body.includes(type) && !body.includes(`interface ${type} `);
  const bases = ["CodePlaceInput", "EditPart"].filter(isNeeded).join(", ");
  const imports = [...choiceTypes.filter(({ type }) => isNeeded(type)), { type: bases, from: "inputs.ts" }]
    .filter(({ type }) => type !== "")
    .map(({ type, from }) => `import type { ${type} } from "${up}/${from}";\n`);
  const head = `/** ${duty} Made by npm run generate from the tools' parameters; do not edit. */\n\n`;
  return `${head}${imports.join("")}${imports.length > 0 ? "\n" : ""}${body}`;
}

/** `bases`: interfaces that others extend which have all of their parameters. */
const interfacesOf = (
  cards: readonly ToolSpec[],
  bases: Readonly<Record<string, ParameterTable>> = {},
): readonly string[] =>
  lastOfEach(cards).map(({ name, input }) => {
    const [base, covered] =
      Object.entries(bases).find(([, table]) => Object.keys(table).every((key) => key in input)) ?? [];
    const own = Object.entries(input).filter(([key]) => covered === undefined || !(key in covered));
    const type = `${typeNames[name] ?? name.charAt(0).toUpperCase() + name.slice(1)}Input`;
    return interfaceOf(base === undefined ? type : `${type} extends ${base}`, undefined, Object.fromEntries(own));
  });

/** The comments say where a parameter means something else in a dialect that shares the type, which MUST be the same. */
function withWordsOf(sharers: readonly DialectName[], card: ToolSpec): ToolSpec {
  const others = sharers.flatMap((dialect) => {
    const names = [card.name, nameIn(dialect, card.name)];
    const other = dialects[dialect].specs.findLast(({ name }) => names.includes(name))?.input;
    if (other !== undefined && typesIn(other) !== typesIn(card.input)) {
      throw new Error(`${dialect} no longer shares the input of ${card.name}: take it off the list of shared ones`);
    }
    return other === undefined ? [] : [{ dialect, other }];
  });
  const input = Object.entries(card.input).map(([name, parameter]) => {
    const words = commentOf(parameter);
    const differing = others
      .map(({ dialect, other }) => ({ dialect, said: commentOf(other[name] ?? parameter) }))
      .filter(({ said }) => said !== words)
      .map(({ dialect, said }) => `. In \`${dialect}\`: ${said}`);
    const { default: _, max: __, ...rest } = parameter;
    return [name, { ...rest, words: words + differing.join("") }] as const;
  });
  return { ...card, input: Object.fromEntries(input) };
}

const typeNames: Readonly<Record<string, string>> = {
  LS: "Ls",
  multiedit: "MultiEdit",
  editlines: "EditLines",
  editfiles: "EditFiles",
};

const interfaceOf = (head: string, duty: string | undefined, parameters: ParameterTable): string =>
  [
    ...(duty === undefined ? [] : [`/** ${duty} */`]),
    `export interface ${head} {`,
    ...Object.entries(parameters).flatMap(([name, parameter]) => [
      `  /** ${commentOf(parameter)}. */`,
      `  ${propertyOf(name, parameter)}`,
    ]),
    "}",
    "",
  ].join("\n");

function commentOf({ type, words, max, default: value }: Parameter): string {
  const isPlain = value === undefined || value === false || type === "position" || type === "skip";
  const notes = [
    ...(isPlain ? [] : [`${JSON.stringify(value)} by default`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
  ];
  // A pattern such as **/*.ts must not end the comment.
  return [words, ...notes].join("; ").replaceAll(/(?<!\\)\*\//g, "*\\/");
}

function propertyOf(name: string, parameter: Parameter, indent = "  "): string {
  const { choices, required } = parameter;
  const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
  return `readonly ${key}${required ? "" : "?"}: ${choices === undefined ? typeOf(parameter, indent) : choiceType(choices)};`;
}

const types = {
  string: "string",
  integer: "number",
  position: "number",
  skip: "number",
  boolean: "boolean",
  strings: "readonly string[]",
} as const satisfies Record<Exclude<Parameter["type"], "list">, string>;

/** A list of text edits has a type with a name; the elements of other lists are written out. */
function typeOf({ type, items = {} }: Parameter, indent: string): string {
  if (type !== "list") return types[type];
  if (Object.values(items).every(({ sets }) => ["oldText", "newText", "all"].includes(sets)))
    return "readonly EditPart[]";
  const inner = `${indent}  `;
  const element = Object.entries(items).map(([name, parameter]) => inner + propertyOf(name, parameter, inner));
  return `readonly {\n${element.join("\n")}\n${indent}}[]`;
}

const choiceType = (choices: NonNullable<Parameter["choices"]>): string =>
  choiceTypes.find((known) => known.choices === choices)?.type ??
  Object.keys(choices)
    .map((word) => JSON.stringify(word))
    .join(" | ");

const typesIn = (parameters: ParameterTable): string =>
  Object.entries(parameters)
    .map(([name, parameter]) => propertyOf(name, parameter))
    .join("\n");
