/** How long the calls of each tool took: 50 %, 90 % and 99 % of them, on a logarithmic scale. The numbers are in the table of tools. */

import { useRef } from "preact/hooks";
import type { Percentiles, ToolUsage } from "../../../src/surfaces/inspector/wire.ts";
import { duration } from "../shell/words.ts";
import { shownText } from "../text/shown.ts";
import { powersAround, shareByPower } from "./scale.ts";
import { useWidth } from "./use-width.ts";

const toolsMax = 12;
const rowHeight = 26;
const edge = { left: 104, right: 24, top: 8, bottom: 22 } as const;
const tickWidth = 52;
const nameCharsMax = 14;
/** Anything faster is shown as "<1 ms". */
const leastMs = 0.1;

/** Distinguished by shape, not by colour alone. */
const marks = [
  { of: "p50", words: "half of the calls", shape: "circle" },
  { of: "p90", words: "90 %", shape: "square" },
  { of: "p99", words: "99 %", shape: "triangle" },
] as const satisfies readonly { of: keyof Percentiles; words: string; shape: string }[];

export function LatencyPlot({ tools }: { readonly tools: readonly ToolUsage[] }) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const shown = tools.slice(0, toolsMax);
  const height = edge.top + shown.length * rowHeight + edge.bottom;
  const all = shown.flatMap(({ elapsedMs }) => [elapsedMs.p50, elapsedMs.p99]).map((ms) => Math.max(leastMs, ms));
  const ticks = powersAround(Math.min(...all), Math.max(...all));
  const inner = Math.max(0, width - edge.left - edge.right);
  const x = (ms: number): number => edge.left + inner * shareByPower(Math.max(leastMs, ms), ticks);
  /** With little room only every second power is labelled. */
  const every = inner / ticks.length < tickWidth ? 2 : 1;
  const words = shown.map(({ tool, elapsedMs }) => `${shownText(tool)} ${latencyWords(elapsedMs)}`).join("; ");
  return (
    <section class="figure" aria-labelledby="latency-title">
      <h2 id="latency-title">
        How long calls took{" "}
        {tools.length > toolsMax && <span class="quiet">the {toolsMax} tools with the most calls</span>}
      </h2>
      <div ref={place} class="plot">
        <svg width={width || "100%"} height={height} role="img" aria-label={`How long calls took. ${words}`}>
          {inner > 0 &&
            ticks.map((tick, index) => (
              <g key={tick}>
                <line class="plot-grid" x1={x(tick)} x2={x(tick)} y1={edge.top} y2={height - edge.bottom} />
                {index % every === 0 && (
                  <text class="plot-text" x={x(tick)} y={height - 6} text-anchor="middle">
                    {tickWords(tick)}
                  </text>
                )}
              </g>
            ))}
          {inner > 0 &&
            shown.map(({ tool, elapsedMs }, index) => {
              const y = edge.top + index * rowHeight + rowHeight / 2;
              return (
                <g key={tool}>
                  <title>{`${shownText(tool)}: ${latencyWords(elapsedMs)}`}</title>
                  <text class="plot-text plot-name" x={edge.left - 12} y={y + 4} text-anchor="end">
                    {cut(shownText(tool))}
                  </text>
                  <line class="plot-span" x1={x(elapsedMs.p50)} x2={x(elapsedMs.p99)} y1={y} y2={y} />
                  {marks.toReversed().map(({ of, shape }) => (
                    <path key={of} class={`mark-${of}`} d={shapeAt(shape, x(elapsedMs[of]), y)} />
                  ))}
                </g>
              );
            })}
        </svg>
      </div>
      <ul class="legend">
        {marks.map(({ of, words: name, shape }) => (
          <li key={of}>
            <svg width="12" height="12" aria-hidden="true">
              <path class={`mark-${of}`} d={shapeAt(shape, 6, 6)} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
      <p class="quiet">
        took no longer. What a person took to answer a question is part of it; the numbers are in the table by tool.
      </p>
    </section>
  );
}

const latencyWords = ({ p50, p90, p99 }: Percentiles): string =>
  `half within ${duration(p50)}, 90 % within ${duration(p90)}, 99 % within ${duration(p99)}`;

const tickWords = (ms: number): string => (ms < 1 ? `${ms} ms` : ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`);

const cut = (name: string): string => (name.length <= nameCharsMax ? name : `${name.slice(0, nameCharsMax - 1)}…`);

function shapeAt(shape: (typeof marks)[number]["shape"], x: number, y: number): string {
  switch (shape) {
    case "circle":
      return `M${x - 4.5} ${y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z`;
    case "square":
      return `M${x - 4} ${y - 4}h8v8h-8z`;
    case "triangle":
      return `M${x - 5} ${y + 4}h10l-5 -9z`;
  }
}
