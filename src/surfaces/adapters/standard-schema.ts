/** Filehand's tools with inputs as Standard Schema v1 objects, which also give their JSON Schema. No package is needed. */

import type { Session } from "../../options.ts";
import type { JsonSchema, Reply } from "../../contract/call.ts";
import { FilehandError, Problem } from "../../contract/problem.ts";
import { argumentFault, dialects, requestOf, type ToolSpec } from "../../dialects/dialects.ts";
import { type FileToolOptions, offered } from "./offered.ts";

export type { FileToolOptions } from "./offered.ts";

export interface InputIssue {
  readonly message: string;
  readonly path: readonly string[];
}

/** Both interfaces of the standard: validation, and conversion to JSON Schema. */
export interface InputSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "filehand";
    readonly validate: (value: unknown) => { readonly value: unknown } | { readonly issues: readonly InputIssue[] };
    readonly jsonSchema: {
      /** Throws for an unknown target. */
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

export interface FileTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly readOnly: boolean;
  execute(input: unknown, options?: { readonly signal?: AbortSignal }): Promise<Reply>;
}

export function fileTools(session: Session, options: FileToolOptions = {}): FileTool[] {
  const dialect = dialects[session.dialect];
  return offered(session, options).map((definition) => {
    const spec = dialect.specs.find(({ name }) => name === definition.name);
    if (spec === undefined) throw new Error("an offered tool has a spec");
    const check = (input: unknown) => requestOf(spec, input, dialect, dialect.profile);
    return { ...definition, inputSchema: schemaOf(definition.inputSchema, check) };
  });
}

function schemaOf(schema: JsonSchema, check: (input: unknown) => ReturnType<ToolSpec["toRequest"]>): InputSchema {
  const jsonSchema = ({ target }: { readonly target: string }): Record<string, unknown> => {
    const dialect = dialectsOfSchema[target];
    if (dialect === undefined) {
      throw new FilehandError(
        "INVALID_PARAM",
        `Cannot make a schema for "${target}": use ${Object.keys(dialectsOfSchema).join(" or ")}`,
      );
    }
    return { $schema: dialect, ...schema };
  };
  const validate = (value: unknown) => {
    const issues = issuesOf(() => check(value));
    return issues === undefined ? { value } : { issues };
  };
  return {
    "~standard": { version: 1, vendor: "filehand", validate, jsonSchema: { input: jsonSchema, output: jsonSchema } },
  };
}

/** The keywords that the tools' schemas use mean the same in both. */
const dialectsOfSchema: Readonly<Record<string, string>> = {
  "draft-2020-12": "https://json-schema.org/draft/2020-12/schema",
  "draft-07": "http://json-schema.org/draft-07/schema#",
};

/** Only faults of arguments; the call itself reports faults of files. */
function issuesOf(check: () => unknown): readonly InputIssue[] | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { data } = error;
    if (data.code !== "INVALID_PARAM" || data.reason !== "arguments") return undefined;
    return data.issues.map((issue) => ({ message: argumentFault(issue), path: issue.name.split(".") }));
  }
}
