/** Raw arguments, then their meaning: Node's own parser splits them, the command's table says what they are. */

import { parseArgs } from "node:util";
import { nearest } from "../../dialects/nearest.ts";
import { type Command, type Given, type Options, UsageError } from "./command.ts";
import { commonOptions } from "./common-options.ts";

export function parseCommandLine(command: Command, argv: readonly string[]): Given {
  const options: Options = { ...commonOptions, ...command.options };
  const { tokens, positionals: marked } = parseArgs({
    args: markTurns(command, options, argv),
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [
        name,
        { type: type === "flag" ? "boolean" : "string", ...(short === undefined ? {} : { short }) } as const,
      ]),
    ),
  });

  const positionals = marked.map((text) => (text.startsWith(turnMark) ? text.slice(turnMark.length) : text));
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (option === undefined) throw unknownOption(token.rawName, options, command);
    if (option.type === "flag" ? token.value !== undefined : token.value === undefined) {
      const wants = option.type === "flag" ? "takes no value" : `needs a value, ${option.value ?? "VALUE"}`;
      throw new UsageError(`${token.rawName} ${wants}`);
    }
    if (option.empty === "refused" && token.value === "") throw new UsageError(`${token.rawName} must not be empty`);
    const earlier = values.get(token.name) ?? [];
    if (earlier.length > 0 && option.type !== "list" && option.type !== "flag") {
      throw new UsageError(`${token.rawName} is given twice`);
    }
    values.set(token.name, [...earlier, token.value ?? ""]);
  }

  checkParameters(command, positionals, values.has("help"));
  return {
    parameters: positionals,
    flag: (name) => values.has(name),
    text: (name) => values.get(name)?.[0],
    integer: (name) => {
      const text = values.get(name)?.[0];
      return text === undefined ? undefined : integerOf(text, `--${name}`);
    },
    list: (name) => values.get(name) ?? [],
  };
}

/** No argument of a process can hold this character. */
const turnMark = "\0";

/** Turns can be counted from the newest, as `-1`: for Node's parser that is an option, unless something stands before it. */
function markTurns(command: Command, options: Options, argv: readonly string[]): string[] {
  if (!command.parameters.some((parameter) => parameter.includes("<turn>"))) return [...argv];
  const takesNext = (text: string | undefined): boolean => {
    const name = text?.startsWith("--") === true ? text.slice(2) : "";
    return Object.hasOwn(options, name) && options[name]?.type !== "flag";
  };
  return argv.map((text, at) => (/^-\d/.test(text) && !takesNext(argv[at - 1]) ? turnMark + text : text));
}

export function integerOf(text: string, name: string): number {
  if (!/^[+-]?\d{1,15}$/.test(text.trim())) throw new UsageError(`${name} must be a whole number, not "${text}"`);
  return Number(text);
}

function unknownOption(name: string, options: Options, command: Command): UsageError {
  const near = nearest(name.replace(/^-+/, ""), Object.keys(options));
  const hint = near === undefined ? `see filehand ${command.name} --help` : `did you mean --${near}`;
  return new UsageError(`There is no option ${name}, ${hint}`);
}

function checkParameters(command: Command, given: readonly string[], helpWanted: boolean): void {
  if (helpWanted) return;
  const needed = command.parameters.filter((parameter) => parameter.startsWith("<"));
  const missing = needed[given.length];
  if (missing !== undefined)
    throw new UsageError(`${missing} is missing: filehand ${command.name} ${command.parameters.join(" ")}`);
  if (command.parameters.at(-1)?.includes("...") === true) return;
  if (given.length > command.parameters.length) {
    throw new UsageError(
      `"${given[command.parameters.length]}" is one argument too many, quote paths that have spaces`,
    );
  }
}
