/** The TypeScript types of what calls may hold, made from the parameters of the tools. */

import { modes as claudeModes } from "../src/dialects/claude/tools.ts";
import type { ToolSpec } from "../src/dialects/dialect.ts";
import { modes as envelopeModes } from "../src/dialects/envelope/tools.ts";
import { dialects } from "../src/dialects/index.ts";
import type { Parameter, ParameterTable } from "../src/dialects/parameters.ts";
import { codePlace, lspChoices } from "../src/dialects/shared-tools.ts";

/** Tools whose input is the same in `claude` and `envelope`. */
const shared = ["Glob", "LS", "History", "Rewind"];

export function inputTypeFiles(): Readonly<Record<string, string>> {
  const { claude, envelope, opencode, "opencode-legacy": legacy } = dialects;
  const own = ({ name }: ToolSpec) => !shared.includes(name);
  for (const name of shared) {
    const [one, other] = [claude, envelope].map(({ specs: cards }) => cards.find((card) => card.name === name));
    if (one === undefined || other === undefined || typesIn(one.input) !== typesIn(other.input)) {
      throw new Error(`claude and envelope no longer share the input of ${name}: take it off the list of shared ones`);
    }
  }
  return {
    "src/dialects/inputs.ts": fileOf("The inputs that `claude` and `envelope` share.", [
      interfaceOf("CodePlaceInput", "How a call says which name in a file is meant.", codePlace),
      ...interfacesOf(claude.specs.filter((card) => !own(card))),
    ]),
    "src/dialects/claude/inputs.ts": fileOf(
      "The inputs of the `claude` dialect.",
      interfacesOf(claude.specs.filter(own), ["EditPart", "CodePlaceInput"]),
    ),
    "src/dialects/envelope/inputs.ts": fileOf(
      "The inputs of the `envelope` dialect.",
      interfacesOf(envelope.specs.filter(own), ["EditPart", "CodePlaceInput"]),
    ),
    "src/dialects/opencode/inputs.ts": fileOf(
      "The inputs of the `opencode` dialect, most of them those of `opencode-legacy` too.",
      interfacesOf(
        opencode.specs.map((card) => withWordsOf(legacy.specs, card)),
        ["CodePlaceInput"],
      ),
    ),
    "src/dialects/opencode/legacy-inputs.ts": fileOf(
      "The input of `opencode-legacy` that differs.",
      interfacesOf(legacy.specs.filter(({ name }) => name === "read")),
    ),
  };
}

/** Choices whose type has a name of its own, and where that comes from, seen from the folder of a dialect. */
const choiceTypes = [
  { choices: lspChoices, type: "LspOperation", name: "LspOperation", from: "../../contract/lsp.ts" },
  { choices: claudeModes, type: "OutputMode", name: "OutputMode", from: "./tools.ts" },
  { choices: envelopeModes, type: "keyof typeof modes", name: "modes", from: "./tools.ts" },
];

function fileOf(duty: string, interfaces: readonly string[]): string {
  const body = interfaces.join("\n");
  const imports = [...choiceTypes, { type: "extends CodePlaceInput", name: "CodePlaceInput", from: "../inputs.ts" }]
    .filter(({ type }) => body.includes(type))
    .map(({ name, from }) => `import type { ${name} } from "${from}";\n`);
  const head = `/** ${duty} Made by npm run generate from the tools' parameters; do not edit. */\n\n`;
  return `${head}${imports.join("")}${imports.length > 0 ? "\n" : ""}${body}`;
}

/** `bases`: interfaces that others extend which have all of their parameters. */
function interfacesOf(
  cards: readonly ToolSpec[],
  bases: readonly ("EditPart" | "CodePlaceInput")[] = [],
): readonly string[] {
  const EditPart = cards.map(({ input }) => input["edits"]?.items).find((items) => items !== undefined) ?? {};
  const parameters: Readonly<Record<string, ParameterTable>> = { EditPart, CodePlaceInput: codePlace };
  return [
    ...(Object.keys(EditPart).length === 0 ? [] : [interfaceOf("EditPart", "One replacement.", EditPart)]),
    ...cards.map(({ name, input }) => {
      const base = bases.find((one) => Object.keys(parameters[one] ?? {}).every((key) => key in input));
      const own = Object.entries(input).filter(([key]) => base === undefined || !(key in (parameters[base] ?? {})));
      const type = `${typeNames[name] ?? name.charAt(0).toUpperCase() + name.slice(1)}Input`;
      const head = base === undefined ? type : `${type} extends ${base}`;
      return interfaceOf(head, `What a call of \`${name}\` may hold.`, Object.fromEntries(own));
    }),
  ];
}

/** Both opencode dialects share their other types; the comments say where a parameter means something else in the older one. */
function withWordsOf(older: readonly ToolSpec[], card: ToolSpec): ToolSpec {
  const other = card.name === "read" ? undefined : older.find(({ name }) => name === card.name)?.input;
  const input = Object.entries(card.input).map(([name, parameter]) => {
    const words = other?.[name]?.words ?? parameter.words;
    const both = `${parameter.words}. In \`opencode-legacy\`: ${words}`;
    return [name, words === parameter.words ? parameter : { ...parameter, words: both }] as const;
  });
  return { ...card, input: Object.fromEntries(input) };
}

const typeNames: Readonly<Record<string, string>> = { LS: "Ls", multiedit: "MultiEdit" };

const interfaceOf = (head: string, duty: string, parameters: ParameterTable): string =>
  [
    `/** ${duty} */`,
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
  return [words, ...notes].join("; ").replaceAll("*/", "*\\/");
}

function propertyOf(name: string, { type, choices, required }: Parameter): string {
  const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
  return `readonly ${key}${required ? "" : "?"}: ${choices === undefined ? types[type] : choiceType(choices)};`;
}

const types = {
  string: "string",
  integer: "number",
  position: "number",
  skip: "number",
  boolean: "boolean",
  strings: "readonly string[]",
  list: "readonly EditPart[]",
} as const satisfies Record<Parameter["type"], string>;

const choiceType = (choices: NonNullable<Parameter["choices"]>): string =>
  choiceTypes.find((known) => known.choices === choices)?.type ??
  Object.keys(choices)
    .map((word) => JSON.stringify(word))
    .join(" | ");

const typesIn = (parameters: ParameterTable): string =>
  Object.entries(parameters)
    .map(([name, parameter]) => propertyOf(name, parameter))
    .join("\n");
