/** Replay: recorded conversations and what the same calls cost and did with Filehand and another server. */

import type { Counts, ReplayResult, ReplayScore } from "../../../src/contract/replay.ts";
import type { LiveState } from "../live/live-state.ts";
import { get } from "../live/request.ts";
import { Empty, Failed, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { count, short } from "../shell/words.ts";
import { Name } from "../text/shown-text.tsx";
import { Bar, type Column, Table } from "./tables.tsx";
import { percent, Tile } from "./figure-view.tsx";

export function ReplayView({ live }: { readonly live: LiveState }) {
  const isThere = live.hello?.replay === true;
  const asked = useAsked(isThere ? "replay" : undefined, (signal) => get<ReplayResult>("/api/replay", signal));
  return (
    <div class="figures">
      <div class="filters">
        <h1>Replay</h1>
      </div>
      {!isThere ? (
        <Empty title="No replay is loaded">
          Run <code>filehand replay ~/.claude/projects --json &gt; result.json</code>, then{" "}
          <code>filehand inspect --replay result.json</code>.
        </Empty>
      ) : asked.is === "failed" ? (
        <Failed message={asked.message} />
      ) : asked.answer === undefined ? (
        <Waiting what="Asking for the replay…" />
      ) : (
        <Shown result={asked.answer} />
      )}
    </div>
  );
}

function Shown({ result }: { readonly result: ReplayResult }) {
  const { calls, shell, scores } = result;
  const [own] = scores;
  if (own === undefined) return <Empty title="Nothing was replayed">The file has no score.</Empty>;
  const { lineEdits: byLine } = result;
  const [before, after] = [sum(own.tools, recorded), sum(own.tools, made)];
  const failed = own.failures.reduce((total, one) => total + one.calls, 0);
  const applied = own.failures.reduce((total, one) => total + one.applied, 0);
  return (
    <>
      <dl class="tiles">
        <Tile name="Calls" value={count(calls.total)} note={`${count(calls.replayed)} made again`} />
        <Tile
          name="Tokens"
          value={before === 0 ? "–" : percent(after / before)}
          note={`${short(after)} with Filehand, ${short(before)} recorded`}
        />
        <Tile name="Changes refused" value={count(own.changes.refused)} note={`of ${count(own.changes.calls)}`} />
        <Tile name="Wrong bytes" value={count(own.changes.wrongBytes)} note={`of ${count(own.changes.calls)}`} />
        <Tile name="Failures that apply now" value={count(applied)} note={`of ${count(failed)}`} />
        <Tile
          name="Edits by line"
          value={byLine.recordedWritten === 0 ? "–" : percent(byLine.tokensWritten / byLine.recordedWritten)}
          note={`of the tokens that the model wrote for ${count(byLine.calls)} edits`}
        />
        <Tile
          name="Shell changes"
          value={count(shell.changing)}
          note={`${count(shell.undoable)} of them could be undone`}
        />
      </dl>
      <div class="figure-columns">
        {scores.map((score) => (
          <TokenTable key={score.name} score={score} />
        ))}
        <FormatTable formats={result.formats} />
        {scores.map((score) => (
          <CountTable
            key={score.name}
            title={`Changes, ${score.name}`}
            counts={changeWords(score)}
            none="No change was made again"
          />
        ))}
        {scores.map((score) => (
          <CountTable
            key={score.name}
            title={`Refused changes by reason, ${score.name}`}
            counts={score.changes.refusals}
            none="No change was refused"
          />
        ))}
        {scores.map((score) => (
          <FailureBars key={score.name} score={score} />
        ))}
        <CountTable title="Shell commands by what they change" counts={shell.kinds} none="No command changes files" />
        <CountTable
          title="Calls that were not made again"
          counts={calls.notReplayed}
          none="All calls were made again"
        />
      </div>
    </>
  );
}

type Compared = ReplayScore["tools"][number];
const recorded = (tool: Compared): number => tool.recordedWritten + tool.recordedAnswered;
const made = (tool: Compared): number => tool.tokensWritten + tool.tokensAnswered;
const sum = (tools: readonly Compared[], of: (tool: Compared) => number): number =>
  tools.reduce((total, tool) => total + of(tool), 0);

const idOf = (title: string): string => `replay-${title.replaceAll(/\W+/g, "-")}`;

function Figure<Row>({
  title,
  rows,
  keyOf,
  columns,
  none,
  wide = false,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly none: string;
  readonly wide?: boolean;
}) {
  return (
    <section class={`figure ${wide ? "figure-wide" : ""}`}>
      <h2 id={idOf(title)}>
        <Name text={title} />
      </h2>
      {rows.length === 0 ? (
        <p class="quiet">{none}.</p>
      ) : (
        <Table rows={rows} keyOf={keyOf} columns={columns} label={{ "aria-labelledby": idOf(title) }} />
      )}
    </section>
  );
}

/** Two bars for each tool, as long as their tokens. */
function TokenTable({ score }: { readonly score: ReplayScore }) {
  const max = Math.max(0, ...score.tools.flatMap((tool) => [recorded(tool), made(tool)]));
  const columns: readonly Column<Compared>[] = [
    ["Tool", ({ tool }) => <Name text={tool} />],
    ["Calls", ({ calls }) => count(calls), "number"],
    ["Tokens recorded", (tool) => <Bar value={recorded(tool)} max={max} words={short(recorded(tool))} />],
    ["Tokens now", (tool) => <Bar value={made(tool)} max={max} words={short(made(tool))} />],
    ["Share", (tool) => (recorded(tool) === 0 ? "–" : percent(made(tool) / recorded(tool))), "number"],
  ];
  return (
    <Figure
      title={`Tokens by tool, ${score.name}`}
      rows={score.tools}
      keyOf={({ tool }) => tool}
      columns={columns}
      none="No call was made again with success"
      wide
    />
  );
}

function FormatTable({ formats }: { readonly formats: ReplayResult["formats"] }) {
  const rows = [{ dialect: "as recorded", tokensAnswered: formats.recordedAnswered }, ...formats.dialects];
  const max = Math.max(...rows.map(({ tokensAnswered }) => tokensAnswered));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ["Format", ({ dialect }) => <Name text={dialect} />],
    ["Tokens", ({ tokensAnswered }) => <Bar value={tokensAnswered} max={max} words={short(tokensAnswered)} />],
  ];
  return (
    <Figure
      title="Tokens of reads by format"
      rows={formats.reads === 0 ? [] : rows}
      keyOf={({ dialect }) => dialect}
      columns={columns}
      none="No read was made again in every dialect"
    />
  );
}

const changeWords = ({ changes }: ReplayScore): Counts => ({
  "Recorded bytes": changes.sameBytes,
  "As the call says": changes.byTheLetter,
  "Wrong bytes": changes.wrongBytes,
  Refused: changes.refused,
  "No tool for it": changes.noTool,
});

interface CountTableProps {
  readonly title: string;
  readonly counts: Counts;
  readonly none: string;
}

function CountTable({ title, counts, none }: CountTableProps) {
  const rows = Object.entries(counts).filter(([, times]) => times > 0);
  const max = Math.max(0, ...rows.map(([, times]) => times));
  const columns: readonly Column<(typeof rows)[number]>[] = [
    ["What", ([name]) => <Name text={name} />],
    ["How often", ([, times]) => <Bar value={times} max={max} words={count(times)} />],
  ];
  return <Figure title={title} rows={rows} keyOf={([name]) => name} columns={columns} none={none} />;
}

function FailureBars({ score }: { readonly score: ReplayScore }) {
  const max = Math.max(0, ...score.failures.map(({ calls }) => calls));
  const columns: readonly Column<ReplayScore["failures"][number]>[] = [
    ["Failed as", ({ kind }) => <Name text={kind} />],
    ["Recorded", ({ calls }) => <Bar value={calls} max={max} words={count(calls)} />],
    ["Apply now", ({ applied }) => <Bar value={applied} max={max} words={count(applied)} />],
    ["Confirmed", ({ confirmed }) => count(confirmed), "number"],
  ];
  return (
    <Figure
      title={`Failed edits, ${score.name}`}
      rows={score.failures}
      keyOf={({ kind }) => kind}
      columns={columns}
      none="No recorded edit had failed where the file is known"
    />
  );
}
