/** Recognises the language of a file by its name or first line, and says how its items are found: by a grammar, or by a scanner. */

import * as nodePath from "node:path";
import { type OutlineScanner, scanHtml, scanJson, scanMarkdown, scanSql, scanToml, scanYaml } from "../../text/text.ts";

export interface SymbolRule {
  /** Empty: no declaration, unless `by` says otherwise. */
  readonly kind: string;
  /** The field with the name ("name" by default), or `head`: the text before the body. */
  readonly name?: string;
  /** The node type that the name must have. */
  readonly nameType?: string;
  /** A field that a declaration must have: a class with a body is one, a mention of it is not. */
  readonly has?: string;
  /** Another kind, by the node type of a field. */
  readonly by?: { readonly field: string; readonly kinds: Readonly<Record<string, string>> };
  /** The kind if the declarator is a function's. */
  readonly functionKind?: string;
  /** The field with the type that a method belongs to. */
  readonly owner?: string;
  /** The kinds it may be nested in, unless `by` gave it its own kind: a variable inside a function is not listed. */
  readonly within?: readonly string[];
  /** Calls with a text first and a function last. */
  readonly calls?: true;
}

export interface Grammar {
  readonly wasm: string;
  readonly rules: Readonly<Record<string, SymbolRule>>;
  /** Nodes that are part of the declaration inside them. */
  readonly wrappers: readonly string[];
}

const namespaces = ["namespace", "module"];

const functions = { arrow_function: "function", function_expression: "function", generator_function: "function" };

/** Nodes that are declarations with a name and nothing else to say: `node:kind`, separated by spaces. */
const plain = (...nodes: readonly string[]): Readonly<Record<string, SymbolRule>> =>
  Object.fromEntries(
    nodes
      .join(" ")
      .split(" ")
      .map((node) => {
        const [type = "", kind = ""] = node.split(":");
        return [type, { kind }];
      }),
  );

const javascript = {
  ...plain(
    "class_declaration:class function_declaration:function",
    "generator_function_declaration:function method_definition:method",
  ),
  field_definition: {
    kind: "",
    name: "property",
    by: { field: "value", kinds: { arrow_function: "method", function_expression: "method" } },
  },
  variable_declarator: {
    kind: "variable",
    nameType: "identifier",
    by: { field: "value", kinds: { ...functions, class: "class" } },
    within: namespaces,
  },
  call_expression: { kind: "call", calls: true, within: [...namespaces, "call"] },
} as const satisfies Grammar["rules"];

const typescript = {
  ...javascript,
  ...plain(
    "abstract_class_declaration:class interface_declaration:interface type_alias_declaration:type",
    "enum_declaration:enum internal_module:namespace module:module function_signature:function",
    "method_signature:method abstract_method_signature:method",
  ),
  public_field_definition: {
    kind: "",
    by: { field: "value", kinds: { arrow_function: "method", function_expression: "method" } },
  },
} as const satisfies Grammar["rules"];

const scriptWrappers = ["export_statement", "lexical_declaration", "variable_declaration", "ambient_declaration"];

/**
 * By the language id of language servers. PowerShell is in the package but not here: V8 takes some twenty seconds to
 * optimise its parser.
 */
export const grammars = {
  typescript: { wasm: "typescript", rules: typescript, wrappers: scriptWrappers },
  typescriptreact: { wasm: "tsx", rules: typescript, wrappers: scriptWrappers },
  javascript: { wasm: "javascript", rules: javascript, wrappers: scriptWrappers },
  python: {
    wasm: "python",
    rules: {
      ...plain("class_definition:class function_definition:function"),
      assignment: { kind: "variable", name: "left", nameType: "identifier", within: [] },
      type_alias_statement: { kind: "type", name: "left", within: [] },
    },
    wrappers: ["decorated_definition"],
  },
  go: {
    wasm: "go",
    rules: {
      function_declaration: { kind: "function" },
      method_declaration: { kind: "method", owner: "receiver" },
      method_elem: { kind: "method" },
      type_spec: { kind: "type", by: { field: "type", kinds: { struct_type: "struct", interface_type: "interface" } } },
      type_alias: { kind: "type" },
      const_spec: { kind: "constant", within: [] },
      var_spec: { kind: "variable", within: [] },
    },
    wrappers: [],
  },
  rust: {
    wasm: "rust",
    rules: {
      ...plain("mod_item:module struct_item:struct union_item:union enum_item:enum trait_item:trait"),
      impl_item: { kind: "implementation", name: "head" },
      ...plain("function_item:function function_signature_item:function type_item:type"),
      const_item: { kind: "constant", within: ["module", "trait", "implementation"] },
      static_item: { kind: "variable", within: ["module"] },
      macro_definition: { kind: "macro" },
    },
    wrappers: [],
  },
  java: {
    wasm: "java",
    rules: {
      ...plain(
        "module_declaration:module class_declaration:class interface_declaration:interface",
        "enum_declaration:enum record_declaration:record annotation_type_declaration:annotation",
        "method_declaration:method constructor_declaration:constructor",
        "compact_constructor_declaration:constructor",
      ),
    },
    wrappers: [],
  },
  cpp: {
    wasm: "cpp",
    rules: {
      namespace_definition: { kind: "namespace" },
      class_specifier: { kind: "class", has: "body" },
      struct_specifier: { kind: "struct", has: "body" },
      union_specifier: { kind: "union", has: "body" },
      enum_specifier: { kind: "enum", has: "body" },
      ...plain("concept_definition:concept alias_declaration:type"),
      type_definition: { kind: "type", name: "declarator" },
      function_definition: { kind: "function", name: "declarator" },
      field_declaration: { kind: "", name: "declarator", functionKind: "method" },
      declaration: { kind: "variable", name: "declarator", functionKind: "function", within: ["namespace"] },
      preproc_function_def: { kind: "macro" },
    },
    wrappers: ["template_declaration"],
  },
  csharp: {
    wasm: "c-sharp",
    rules: {
      ...plain(
        "namespace_declaration:namespace file_scoped_namespace_declaration:namespace",
        "class_declaration:class struct_declaration:struct record_declaration:record",
        "interface_declaration:interface enum_declaration:enum delegate_declaration:delegate",
        "method_declaration:method constructor_declaration:constructor property_declaration:property",
        "local_function_statement:function",
      ),
    },
    wrappers: [],
  },
  ruby: {
    wasm: "ruby",
    rules: {
      ...plain("module:module class:class method:method singleton_method:method"),
      assignment: { kind: "constant", name: "left", nameType: "constant", within: ["module", "class"] },
    },
    wrappers: [],
  },
  php: {
    wasm: "php",
    rules: {
      ...plain(
        "namespace_definition:namespace class_declaration:class interface_declaration:interface",
        "trait_declaration:trait enum_declaration:enum function_definition:function",
        "method_declaration:method",
      ),
    },
    wrappers: [],
  },
  shellscript: { wasm: "bash", rules: { function_definition: { kind: "function" } }, wrappers: [] },
  css: {
    wasm: "css",
    rules: {
      rule_set: { kind: "rule", name: "head" },
      media_statement: { kind: "rule", name: "head" },
      supports_statement: { kind: "rule", name: "head" },
      keyframes_statement: { kind: "rule", name: "head" },
      at_rule: { kind: "rule", name: "head" },
    },
    wrappers: [],
  },
  ini: { wasm: "ini", rules: { section: { kind: "section", name: "head" } }, wrappers: [] },
} as const satisfies Readonly<Record<string, Grammar>>;

/** Languages without a grammar in the package: a scanner of our own finds their items, without a worker. */
export const scanners = {
  markdown: scanMarkdown,
  json: scanJson,
  yaml: scanYaml,
  toml: scanToml,
  sql: scanSql,
  html: scanHtml,
} as const satisfies Readonly<Record<string, OutlineScanner>>;

export type ScannedLanguage = keyof typeof scanners;
export type OutlineLanguage = keyof typeof grammars | ScannedLanguage;

export const isScanned = (language: OutlineLanguage): language is ScannedLanguage => language in scanners;

const extensions: Readonly<Record<OutlineLanguage, readonly string[]>> = {
  typescript: [".ts", ".mts", ".cts"],
  typescriptreact: [".tsx"],
  javascript: [".js", ".mjs", ".cjs", ".jsx", ".es6"],
  python: [".py", ".pyi", ".pyw"],
  go: [".go"],
  rust: [".rs"],
  java: [".java"],
  // The grammar of C++ also parses C.
  cpp: [".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".ino"],
  csharp: [".cs", ".csx"],
  ruby: [".rb", ".rake", ".gemspec", ".ru"],
  php: [".php", ".phtml", ".php5", ".inc"],
  shellscript: [".sh", ".bash", ".ksh", ".bats"],
  css: [".css"],
  ini: [".ini", ".cfg", ".conf"],
  markdown: [".md", ".markdown", ".mdx"],
  json: [".json", ".jsonc", ".json5", ".webmanifest", ".geojson"],
  yaml: [".yaml", ".yml"],
  toml: [".toml"],
  sql: [".sql", ".ddl", ".pgsql"],
  html: [".html", ".htm", ".xhtml"],
};

const byName: ReadonlyMap<string, OutlineLanguage> = new Map([
  ["rakefile", "ruby"],
  ["gemfile", "ruby"],
  ["vagrantfile", "ruby"],
  ["podfile", "ruby"],
  [".bashrc", "shellscript"],
  [".bash_profile", "shellscript"],
  [".profile", "shellscript"],
  [".editorconfig", "ini"],
  [".gitconfig", "ini"],
  ["cargo.lock", "toml"],
  ["poetry.lock", "toml"],
  ["uv.lock", "toml"],
  ["pipfile", "toml"],
  ["pipfile.lock", "json"],
  ["composer.lock", "json"],
]);

const interpreters: readonly (readonly [RegExp, OutlineLanguage])[] = [
  [/^(?:ba|da|k)?sh$/, "shellscript"],
  [/^(?:python|pypy)[\d.]*$/, "python"],
  [/^(?:node|nodejs|bun)$/, "javascript"],
  [/^(?:deno|tsx|ts-node)$/, "typescript"],
  [/^ruby[\d.]*$/, "ruby"],
  [/^php[\d.]*$/, "php"],
];

const byExtension: ReadonlyMap<string, OutlineLanguage> = new Map(
  Object.entries(extensions).flatMap(
    ([language, endings]) => endings.map((ending) => [ending, language as OutlineLanguage] as const), // the keys of the table
  ),
);

/** By name, which is certain; else by the first line. */
export function outlineLanguageOf(path: string, firstLine: string): OutlineLanguage | undefined {
  const name = nodePath.basename(path).toLowerCase();
  return byName.get(name) ?? byExtension.get(nodePath.extname(name)) ?? languageOfShebang(firstLine);
}

function languageOfShebang(firstLine: string): OutlineLanguage | undefined {
  const words = /^#!\s*(\S+)((?:\s+\S+){0,4})/.exec(firstLine);
  if (words === null) return undefined;
  const [, path = "", rest = ""] = words;
  // `env -S node --flag`: the program is the first word that is neither an option nor a variable.
  const named =
    nodePath.posix.basename(path) === "env" ? rest.split(/\s+/).find((word) => /^[^-=]+$/.test(word)) : path;
  const program = nodePath.posix.basename(named ?? "");
  return interpreters.find(([pattern]) => pattern.test(program))?.[1];
}
