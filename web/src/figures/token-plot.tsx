/** Tokens over time, by tool, one on top of the other; and those that were saved. The numbers are in a table below. */

import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Figures } from "../../../src/contract/inspector.ts";
import { onTheme } from "../shell/theme.ts";
import { count, short, timeOfDay } from "../shell/words.ts";
import { Name } from "../text/shown-text.tsx";
import { type Series, seriesOf, stacked } from "./series.ts";

const plotHeight = 220;

export function TokenPlot({ figures }: { readonly figures: Figures }) {
  const place = useRef<HTMLDivElement>(null);
  const series = useMemo(() => seriesOf(figures.time), [figures]);
  useEffect(() => {
    if (place.current === null) return undefined;
    const element = place.current;
    let plot = drawn(series, element);
    const again = (): void => {
      plot.destroy();
      plot = drawn(series, element);
    };
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: plotHeight }));
    sizes.observe(element);
    const stop = onTheme(again);
    return () => {
      sizes.disconnect();
      stop();
      plot.destroy();
    };
  }, [series]);
  return (
    <section class="figure figure-wide">
      <h2>Tokens over time</h2>
      <ul class="legend">
        {series.tools.map((tool, index) => (
          <li key={tool}>
            <span class={`legend-dot layer-${index}`} aria-hidden="true" />
            <Name text={tool} />
          </li>
        ))}
        <li>
          <span class="legend-dot layer-saved" aria-hidden="true" />
          saved
        </li>
      </ul>
      <div ref={place} class="plot" aria-hidden="true" />
      <details>
        <summary>As a table</summary>
        <TokenTable series={series} />
      </details>
    </section>
  );
}

/** A colour of the style sheet, as a canvas takes it. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.className = name;
  element.append(probe);
  const { backgroundColor } = getComputedStyle(probe);
  probe.remove();
  return backgroundColor;
}

function drawn({ tools, times, given, saved }: Series, element: HTMLElement): uPlot {
  // The highest layer is drawn first, and the others over it.
  const layers = stacked(given).toReversed();
  const bars = uPlot.paths.bars?.({ size: [0.9, 24], align: 1 });
  const paths = bars === undefined ? {} : { paths: bars };
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const steps = stepped === undefined ? {} : { paths: stepped };
  const text = colourOf(element, "ink-muted");
  const grid = { stroke: colourOf(element, "ink-line"), width: 1 };
  const axis = { stroke: text, grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return new uPlot(
    {
      width: element.clientWidth || 600,
      height: plotHeight,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((seconds) => timeOfDay(seconds * 1_000)) },
        { ...axis, size: 52, values: (_, values) => values.map(short) },
      ],
      series: [
        {},
        ...layers.map((_, index) => {
          const fill = colourOf(element, `layer-${tools.length - 1 - index}`);
          return { fill, stroke: fill, width: 0, points: { show: false }, ...paths };
        }),
        { stroke: colourOf(element, "layer-saved"), width: 2, points: { show: false }, ...steps },
      ],
    },
    [[...times], ...layers.map((layer) => [...layer]), [...saved]],
    element,
  );
}

function TokenTable({ series: { tools, times, given, saved } }: { readonly series: Series }) {
  return (
    <div class="table-frame table-tall" tabIndex={0} role="region" aria-label="Tokens over time, as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {tools.map((tool) => (
              <th key={tool} scope="col" class="number">
                <Name text={tool} />
              </th>
            ))}
            <th scope="col" class="number">
              Saved
            </th>
          </tr>
        </thead>
        <tbody>
          {times.map((seconds, index) => (
            <tr key={seconds}>
              <th scope="row">{timeOfDay(seconds * 1_000)}</th>
              {given.map((layer, tool) => (
                <td key={tool} class="number">
                  {count(layer[index] ?? 0)}
                </td>
              ))}
              <td class="number">{count(saved[index] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
