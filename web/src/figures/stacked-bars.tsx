/** Bars over time as SVG: one per interval, a colour for each layer. */

import type { WorkspaceUsage } from "../../../src/surfaces/inspector/wire.ts";
import { short, time } from "../shell/words.ts";
import { ticksUpTo } from "./scale.ts";
import { heightsOf, type Layer, layerClass } from "./series.ts";

interface StackedBarsProps {
  readonly layers: readonly Layer[];
  readonly figures: Pick<WorkspaceUsage, "time" | "toMs">;
  readonly width: number;
  readonly isWhole: boolean;
  readonly at: number | undefined;
  readonly onAt: (part: number) => void;
}

const height = 180;
const edge = { left: 46, right: 10, top: 10, bottom: 22 } as const;
const barMax = 26;

export function StackedBars({ layers, figures, width, isWhole, at, onAt }: StackedBarsProps) {
  const parts = figures.time.length;
  const inner = { width: Math.max(0, width - edge.left - edge.right), height: height - edge.top - edge.bottom };
  const ticks = ticksUpTo(Math.max(...heightsOf(layers)), isWhole);
  const top = ticks.at(-1) ?? 1;
  const step = inner.width / parts;
  const bar = Math.min(barMax, Math.max(1, step * 0.82));
  const x = (part: number): number => edge.left + part * step;
  const y = (value: number): number => edge.top + inner.height * (1 - value / top);
  if (inner.width === 0) return <svg width="100%" height={height} aria-hidden="true" />;
  return (
    <svg
      width={width}
      height={height}
      aria-hidden="true"
      onPointerMove={(event) => {
        const { left } = event.currentTarget.getBoundingClientRect();
        const part = Math.floor((event.clientX - left - edge.left) / step);
        onAt(Math.min(parts - 1, Math.max(0, part)));
      }}
    >
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="plot-grid" x1={edge.left} x2={width - edge.right} y1={y(tick)} y2={y(tick)} />
          <text class="plot-text" x={edge.left - 8} y={y(tick) + 4} text-anchor="end">
            {short(tick)}
          </text>
        </g>
      ))}
      {at !== undefined && (
        <rect class="plot-at" x={x(at)} y={edge.top} width={Math.max(2, step)} height={inner.height} />
      )}
      {layers.map((layer, index) => (
        <path
          key={layer.name}
          class={layerClass(layer, index)}
          d={layer.values
            .map((value, part) => {
              const base = layer.base[part] ?? 0;
              const left = x(part) + (step - bar) / 2;
              // At least one pixel, so that small values are visible.
              const high = Math.max(1, y(base) - y(base + value));
              return value === 0 ? "" : `M${left} ${y(base)}h${bar}v${-high}h${-bar}z`;
            })
            .join("")}
        />
      ))}
      <Times figures={figures} x={x} width={inner.width} />
    </svg>
  );
}

interface TimesProps {
  readonly figures: Pick<WorkspaceUsage, "time" | "toMs">;
  readonly x: (part: number) => number;
  readonly width: number;
}

/** Labels for the beginning and the end, and between them if there is room. */
function Times({ figures, x, width }: TimesProps) {
  const parts = figures.time.length;
  const between = width > 420 ? 3 : width > 280 ? 1 : 0;
  const places = Array.from({ length: between + 2 }, (_, index) => (index / (between + 1)) * parts);
  return (
    <>
      {places.map((part, index) => (
        <text
          key={part}
          class="plot-text"
          x={x(part)}
          y={height - 6}
          text-anchor={index === 0 ? "start" : index === places.length - 1 ? "end" : "middle"}
        >
          {time(figures.time[Math.round(part)]?.fromMs ?? figures.toMs)}
        </text>
      ))}
    </>
  );
}
