/** Why a tool may or may not read and change a path. */

import type { Explained, ExplanationView } from "../../../src/surfaces/inspector/wire.ts";
import { Pane } from "../shell/pane.tsx";
import { inWorkspace } from "../live/live-state.ts";
import { post } from "../live/request.ts";
import { Badge, Failed, type Tone, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";
import { Path, Shown } from "../text/shown-text.tsx";

export function ExplainPane({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const asked = useAsked(path, (signal) => post<Explained>(inWorkspace("explain"), { path }, signal));
  return (
    <Pane title={<Path path={path} />} label={`Why ${path} may be read or not`} onClose={onClose}>
      <div class="pane-body explain">
        {asked.is === "failed" && <Failed message={asked.message} />}
        {asked.is === "waiting" && asked.answer === undefined && <Waiting what="Asking the rules…" />}
        {asked.answer !== undefined && (
          <>
            <Why title="Read" view={asked.answer.read} />
            <Why title="Change" view={asked.answer.edit} />
          </>
        )}
      </div>
    </Pane>
  );
}

const verdictWords = { allow: "allowed", ask: "asks first", deny: "denied" } as const;
const tones: Readonly<Record<keyof typeof verdictWords, Tone>> = { allow: "good", ask: "warn", deny: "bad" };

function Why({ title, view: { explanation, lines } }: { readonly title: string; readonly view: ExplanationView }) {
  return (
    <section class="why" aria-label={title}>
      <h3>
        {title} <Badge tone={tones[explanation.verdict]}>{verdictWords[explanation.verdict]}</Badge>
      </h3>
      {lines.map((line, index) => (
        <p key={index}>
          <Shown text={line} />
        </p>
      ))}
    </section>
  );
}
