/** One call in full: the reply as the model got it, the diff, the arguments. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ReplyPart } from "../../../src/contract/call.ts";
import type { CallDetailView, CallInfo, CallView } from "../../../src/surfaces/inspector/wire.ts";
import { CodeView } from "../code/code-view.tsx";
import { Picture } from "../code/picture.tsx";
import { Diff } from "../diff/diff.tsx";
import { inWorkspace } from "../live/live-state.ts";
import { get } from "../live/request.ts";
import { Badge, Choice, Empty, Failed, Waiting } from "../shell/parts.tsx";
import { Pane } from "../shell/pane.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { count, duration, fullTime, plural } from "../shell/words.ts";
import { Name, Path } from "../text/shown-text.tsx";
import { SessionName } from "./call-row.tsx";
import { outcomeWords, rangeWords, toneOf } from "./call-words.ts";
import { processWords } from "./watched-words.ts";

export function CallPane({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const asked = useAsked(String(id), (signal) => get<CallView>(inWorkspace(`calls/${id}`), signal));
  const call = asked.answer?.call;
  const title = call === undefined ? `Call ${id}` : <Title call={call} />;
  const badge = call !== undefined && <Badge tone={toneOf(call)}>{outcomeWords(call)}</Badge>;
  return (
    <Pane title={title} badge={badge} label={`Call ${id}`} closeLabel="Close the call" onClose={onClose}>
      {asked.is === "failed" && <Failed message={asked.message} />}
      {asked.is === "waiting" && <Waiting what="Asking for the call…" />}
      {asked.is === "there" && <Call view={asked.answer} />}
    </Pane>
  );
}

const Title = ({ call: { tool, path } }: { readonly call: CallInfo }) => (
  <>
    <Name text={tool} /> {path !== null && <Path path={path === "" ? "./" : path} />}
  </>
);

type Section = "reply" | "diff" | "arguments" | "programs";

function Call({ view: { call, detail, missing } }: { readonly view: CallView }) {
  const [section, setSection] = useState<Section>(call.changes.length > 0 ? "diff" : "reply");
  const sections: (readonly [Section, string])[] = [
    ["reply", "Reply"],
    ...(call.changes.length > 0 ? [["diff", "Diff"] as const] : []),
    ["arguments", "Arguments"],
    ...(detail?.structured == null ? [] : [["programs", "For programs"] as const]),
  ];
  return (
    <>
      <Facts call={call} />
      <Choice label="What to show of the call" value={section} options={sections} onChoose={setSection} />
      <div class="pane-body">
        {detail === null ? <Missing missing={missing} /> : <Shown section={section} call={call} detail={detail} />}
      </div>
    </>
  );
}

const missingTitles: Readonly<Record<NonNullable<CallView["missing"]>, string>> = {
  dropped: "The reply is no longer kept",
  "too large": "The reply was too large to be kept",
  hidden: "The reply is not shown here",
};

function Missing({ missing }: { readonly missing: CallView["missing"] }) {
  return (
    <Empty title={missingTitles[missing ?? "dropped"]}>
      {missing === "hidden"
        ? "A rule of this server denies reading that file. The process that made the call has other rules."
        : "Replies are kept in memory only, and the oldest make room for new ones."}
    </Empty>
  );
}

interface ShownProps {
  readonly section: Section;
  readonly call: CallInfo;
  readonly detail: CallDetailView;
}

function Shown({ section, call, detail }: ShownProps) {
  switch (section) {
    case "reply":
      return <ReplyParts parts={detail.content} />;
    case "diff":
      return <Diffs call={call} />;
    case "arguments":
      return (
        <CodeView text={jsonText(detail.input)} path="arguments.json" label="Arguments, as the model wrote them" />
      );
    case "programs":
      return <CodeView text={jsonText(detail.structured)} path="reply.json" label="What programs get" />;
  }
}

/** Diffs shown at first, and added per click: a patch may have a thousand. */
const diffsMax = 5;

function Diffs({ call }: { readonly call: CallInfo }) {
  const [max, setMax] = useState(diffsMax);
  const left = call.changesTotal - Math.min(max, call.changes.length);
  return (
    <div class="diffs">
      {call.changes.slice(0, max).map((_, change) => (
        <Diff key={change} of={{ call: call.id, change }} fill={call.changes.length === 1} />
      ))}
      {left > 0 && (
        <p class="diffs-more">
          {plural(left, "more file")}{" "}
          {max < call.changes.length && (
            <button type="button" class="button" onClick={() => setMax((before) => before + diffsMax)}>
              Show more
            </button>
          )}
        </p>
      )}
    </div>
  );
}

const jsonText = (value: unknown): string => JSON.stringify(value, null, 2) ?? "undefined";

function Facts({ call }: { readonly call: CallInfo }) {
  const range = rangeWords(call);
  return (
    <dl class="facts">
      <Fact name="When">{fullTime(call.startedMs)}</Fact>
      <Fact name="Took">{duration(call.elapsedMs)}</Fact>
      <Fact name="Tokens">
        {count(call.tokensGiven)}
        {call.tokensSaved > 0 && ` (${count(call.tokensSaved)} saved)`}
      </Fact>
      {range !== "" && <Fact name="Shown">{range}</Fact>}
      {call.pattern !== null && (
        <Fact name="Pattern">
          <Name text={call.pattern} />
        </Fact>
      )}
      {call.reason !== null && <Fact name={call.outcome === "ok" ? "Kind" : "Reason"}>{call.reason}</Fact>}
      <Fact name="Session">
        <SessionName id={call.session} client={call.client} />
      </Fact>
      {call.principal !== null && (
        <Fact name="Principal">
          <Name text={call.principal} />
        </Fact>
      )}
      {call.process !== null && <Fact name="Process">{processWords(call.process)}</Fact>}
      <Fact name="Dialect">{call.dialect}</Fact>
    </dl>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** Exactly what the model got: texts and images, in order. */
function ReplyParts({ parts }: { readonly parts: readonly ReplyPart[] }) {
  if (parts.length === 0) return <Empty title="The reply was empty" />;
  const [only] = parts;
  if (parts.length === 1 && only?.type === "text") {
    return <CodeView text={only.text} label="The reply, as the model got it" />;
  }
  return (
    <ol class="parts">
      {parts.map((part, index) => (
        <li key={index} class="part">
          {part.type === "text" ? (
            <>
              <p class="part-title">
                Part {index + 1} of {parts.length} · text · {plural(part.text.length, "character")}
              </p>
              <CodeView text={part.text} label={`Part ${index + 1} of the reply, as the model got it`} />
            </>
          ) : (
            <Picture
              data={part.data}
              mimeType={part.mimeType}
              label={`Part ${index + 1} of ${parts.length}, picture`}
            />
          )}
        </li>
      ))}
    </ol>
  );
}
