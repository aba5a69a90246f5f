/**
 * A stacked plot over time, by name. Keys and the pointer move through the intervals, whose values are given in words; a table has
 * all of them.
 */

import { useMemo, useRef, useState } from "preact/hooks";
import type { WorkspaceUsage } from "../../../src/surfaces/inspector/wire.ts";
import { count, plural, time } from "../shell/words.ts";
import { Name, Path } from "../text/shown-text.tsx";
import { shownText } from "../text/shown.ts";
import { partAfterKey } from "./part-after-key.ts";
import { heightsOf, type Layer, layerClass, layersOf, sumOf } from "./series.ts";
import { StackedBars } from "./stacked-bars.tsx";
import { TimeTable } from "./tables.tsx";
import { useWidth } from "./use-width.ts";

export interface OverTimeProps {
  readonly of: "givenByTool" | "givenByFile" | "savedByFile" | "failedByReason";
  readonly title: string;
  readonly figures: WorkspaceUsage;
  /** What is counted: `token`, `failure`. */
  readonly noun: string;
  /** What the names are: `file`. Files are shown as paths. */
  readonly names: string;
  /** Shown instead of a plot without values. */
  readonly none: string;
}

export function OverTime({ of, title, figures, noun, names, none }: OverTimeProps) {
  const series = figures[of];
  const layers = useMemo(() => layersOf(series, (many) => plural(many, `other ${names}`)), [series, names]);
  /** The selected interval. */
  const [looked, setAt] = useState<number>();
  const at = looked === undefined || looked >= figures.time.length ? undefined : looked;
  const heights = heightsOf(layers);
  return (
    <section class="figure" aria-labelledby={of}>
      <h2>
        <span id={of}>{title}</span>{" "}
        {layers.length > 0 && (
          <span class="quiet">
            {plural(at === undefined ? sumOf(heights) : (heights[at] ?? 0), noun)}
            {at !== undefined && `, ${spanWords(figures, at)}`}
          </span>
        )}
      </h2>
      {layers.length === 0 ? (
        <p class="plot plot-none quiet">{none}.</p>
      ) : (
        <Plot
          title={title}
          layers={layers}
          figures={figures}
          noun={noun}
          isPath={names === "file"}
          at={at}
          onAt={setAt}
        />
      )}
    </section>
  );
}

interface PlotProps extends Pick<OverTimeProps, "title" | "figures" | "noun"> {
  readonly layers: readonly Layer[];
  readonly isPath: boolean;
  readonly at: number | undefined;
  readonly onAt: (part: number | undefined) => void;
}

function Plot({ title, layers, figures, noun, isPath, at, onAt }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const parts = figures.time.length;
  const words = at === undefined ? totalWords(layers, noun) : partWords(layers, figures, at, noun);
  const move = (event: KeyboardEvent): void => {
    const next = partAfterKey(event.key, at, parts);
    if (next === at && event.key !== "Escape") return;
    event.preventDefault();
    onAt(next);
  };
  return (
    <>
      <div
        ref={place}
        class="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${title}: go through the time with the arrow keys`}
        aria-valuemin={0}
        aria-valuemax={parts}
        aria-valuenow={at === undefined ? 0 : at + 1}
        aria-valuetext={words}
        onKeyDown={move}
        onPointerLeave={() => onAt(undefined)}
      >
        <StackedBars layers={layers} figures={figures} width={width} isWhole={noun !== "token"} at={at} onAt={onAt} />
      </div>
      <ul class="legend">
        {layers.map((layer, index) => (
          <li key={layer.name}>
            <span class={`legend-dot ${layerClass(layer, index)}`} aria-hidden="true" />
            {isPath && !layer.isRest ? (
              <Path path={layer.name === "" ? "./" : layer.name} />
            ) : (
              <Name text={layer.name} />
            )}
            <span class="legend-value">{count(at === undefined ? sumOf(layer.values) : (layer.values[at] ?? 0))}</span>
          </li>
        ))}
      </ul>
      <details>
        <summary>As a table</summary>
        <TimeTable title={title} layers={layers} figures={figures} />
      </details>
    </>
  );
}

const spanWords = ({ time: parts, toMs }: OverTimeProps["figures"], at: number): string =>
  `${time(parts[at]?.fromMs ?? toMs)} to ${time(parts[at + 1]?.fromMs ?? toMs)}`;

const totalWords = (layers: readonly Layer[], noun: string): string =>
  `In all ${plural(sumOf(heightsOf(layers)), noun)}: ${list(layers.map(({ name, values }) => [name, sumOf(values)]))}`;

const partWords = (layers: readonly Layer[], figures: OverTimeProps["figures"], at: number, noun: string): string => {
  const here = layers.map(({ name, values }) => [name, values[at] ?? 0] as const).filter(([, value]) => value > 0);
  const sum = sumOf(here.map(([, value]) => value));
  return `${spanWords(figures, at)}: ${sum === 0 ? "nothing" : `${plural(sum, noun)}: ${list(here)}`}`;
};

const list = (values: readonly (readonly [string, number])[]): string =>
  values.map(([name, value]) => `${shownText(name)} ${count(value)}`).join(", ");
