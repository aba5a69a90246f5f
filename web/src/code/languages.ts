/** Languages for syntax colouring: how comments and strings begin and end, and the keywords. */

export interface Language {
  readonly name: string;
  /** Comments up to the end of the line. */
  readonly lineComments: readonly string[];
  /** Comments with an end of their own. */
  readonly blockComments: readonly (readonly [string, string])[];
  /** Longest first. `lines`: may continue in the next line. `escapes`: a backslash escapes the next character. */
  readonly strings: readonly StringForm[];
  readonly keywords: ReadonlySet<string>;
  readonly constants: ReadonlySet<string>;
  /** Tags and attributes instead of words. */
  readonly markup?: true;
  /** Names before a colon or an equals sign are keys. */
  readonly keys?: true;
  /** Headings, fences and emphasis. */
  readonly prose?: true;
  /** No colours at all. */
  readonly plain?: true;
}

export interface StringForm {
  readonly open: string;
  readonly close: string;
  readonly lines: boolean;
  readonly escapes: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));
const none: ReadonlySet<string> = new Set();
const quote = (mark: string, lines = false, escapes = true): StringForm => ({
  open: mark,
  close: mark,
  lines,
  escapes,
});
const double = quote('"');
const single = quote("'");
const backtick = quote("`", true);
const slashes = { lineComments: ["//"], blockComments: [["/*", "*/"]] } as const;
const literals = words("true false null undefined NaN Infinity nil None True False NULL nullptr this self super");

const plain: Language = {
  name: "plain text",
  plain: true,
  lineComments: [],
  blockComments: [],
  strings: [],
  keywords: none,
  constants: none,
};

const script: Language = {
  ...slashes,
  name: "JavaScript",
  strings: [backtick, double, single],
  keywords: words(
    "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let module namespace new of override private protected public readonly require return satisfies set static switch throw try type typeof unique using var void while with yield any bigint boolean never number object string symbol unknown",
  ),
  constants: literals,
};

const braces: Language = {
  ...slashes,
  name: "C and its like",
  strings: [quote('"""', true), double, single],
  keywords: words(
    "abstract actor alignas as assert async auto await base bool boolean break byte case catch char checked class companion const consteval constexpr continue data decltype def default defer delegate delete do double dynamic else enum event explicit export extends extension extern fallthrough final finally fixed float for foreach friend fun func function get goto guard if implements implicit import in init inline inout instanceof int interface internal internal is it lateinit lazy let long match mutable namespace native new noexcept object open operator out override package params private protected protocol public readonly record ref register reified require return sealed set short signed sizeof static strictfp string struct suspend switch synchronized template throw throws trait transient try typealias typedef typeid typename uint union unsafe unsigned using val var virtual void volatile when where while with yield",
  ),
  constants: literals,
};

const go: Language = {
  ...slashes,
  name: "Go",
  strings: [quote("`", true, false), double, single],
  keywords: words(
    "any bool break byte case chan comparable const continue default defer else error fallthrough float32 float64 for func go goto if import int int32 int64 interface map package range return rune select string struct switch type uint uint32 uint64 var",
  ),
  constants: words("true false nil iota"),
};

const rust: Language = {
  ...slashes,
  name: "Rust",
  // No single quotes: in Rust they also begin lifetimes.
  strings: [{ open: 'r#"', close: '"#', lines: true, escapes: false }, quote('"', true)],
  keywords: words(
    "as async await bool box break char const continue crate dyn else enum extern f32 f64 fn for i32 i64 i8 if impl in isize let loop macro match mod move mut pub ref return static str struct super trait type u32 u64 u8 union unsafe use usize where while yield String Vec Option Result",
  ),
  constants: words("true false self Self None Some Ok Err"),
};

const python: Language = {
  name: "Python",
  lineComments: ["#"],
  blockComments: [],
  strings: [quote('"""', true), quote("'''", true), double, single],
  keywords: words(
    "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try type while with yield",
  ),
  constants: words("True False None self cls NotImplemented"),
};

const ruby: Language = {
  name: "Ruby",
  lineComments: ["#"],
  blockComments: [["=begin", "=end"]],
  strings: [double, single],
  keywords: words(
    "alias and begin break case class def defined do else elsif end ensure extend for if in include module next not or private protected public raise redo require rescue retry return super then undef unless until when while yield attr_accessor attr_reader",
  ),
  constants: words("true false nil self"),
};

const shell: Language = {
  name: "Shell",
  lineComments: ["#"],
  blockComments: [],
  strings: [quote('"', true), quote("'", true, false)],
  keywords: words(
    "case do done elif else esac export fi for function if in local readonly return select set shift source then trap unset until while FROM RUN COPY ADD ENV ARG WORKDIR CMD ENTRYPOINT EXPOSE USER LABEL VOLUME",
  ),
  constants: words("true false"),
};

const sql: Language = {
  name: "SQL",
  lineComments: ["--"],
  blockComments: [["/*", "*/"]],
  strings: [quote("'", true, false), double],
  keywords: words(
    "add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with",
  ),
  constants: words("true false null"),
};

const lua: Language = {
  name: "Lua",
  lineComments: ["--"],
  blockComments: [["--[[", "]]"]],
  strings: [{ open: "[[", close: "]]", lines: true, escapes: false }, double, single],
  keywords: words("and break do else elseif end for function goto if in local not or repeat return then until while"),
  constants: words("true false nil self"),
};

const style: Language = {
  name: "CSS",
  lineComments: [],
  blockComments: [["/*", "*/"]],
  strings: [double, single],
  keywords: words("important media supports import layer container keyframes from to and not only"),
  constants: words("auto none inherit initial unset transparent"),
  keys: true,
};

const json: Language = {
  ...slashes,
  name: "JSON",
  strings: [double],
  keywords: none,
  constants: words("true false null"),
  keys: true,
};

const config: Language = {
  name: "YAML and its like",
  lineComments: ["#"],
  blockComments: [],
  strings: [quote('"""', true), double, quote("'", false, false)],
  keywords: none,
  constants: words("true false null yes no on off"),
  keys: true,
};

const markup: Language = {
  name: "HTML",
  lineComments: [],
  blockComments: [["<!--", "-->"]],
  strings: [],
  keywords: none,
  constants: none,
  markup: true,
};

const prose: Language = {
  name: "Markdown",
  lineComments: [],
  blockComments: [],
  strings: [],
  keywords: none,
  constants: none,
  prose: true,
};

const byEnding: readonly (readonly [Language, string])[] = [
  [script, "js jsx mjs cjs ts tsx mts cts vue svelte"],
  [braces, "c h cc cpp cxx hpp hh java kt kts cs swift scala dart php groovy gradle proto zig m mm"],
  [go, "go mod"],
  [rust, "rs"],
  [python, "py pyi pyx"],
  [ruby, "rb rake gemspec gemfile rakefile"],
  [shell, "sh bash zsh fish dockerfile makefile mk env"],
  [sql, "sql"],
  [lua, "lua"],
  [style, "css scss less"],
  [json, "json jsonc json5 ipynb webmanifest"],
  [config, "yml yaml toml ini conf cfg properties editorconfig gitignore gitattributes npmrc"],
  [markup, "html htm xml svg xhtml plist"],
  [prose, "md markdown mdx"],
];

const endings = new Map(byEnding.flatMap(([language, list]) => list.split(" ").map((ending) => [ending, language])));

/** By the extension of the file, or by its whole name (`Makefile`). */
export function languageOf(path: string): Language {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return endings.get(name.slice(name.lastIndexOf(".") + 1)) ?? plain;
}
