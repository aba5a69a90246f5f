/** The numbers of a plot over time. Intervals without values are left out. */

import type { Figures } from "../../../src/surfaces/inspector/wire.ts";
import { count, time } from "../shell/words.ts";
import { Name } from "../text/shown-text.tsx";
import { heightsOf, type Layer } from "./series.ts";

interface TimeTableProps {
  readonly title: string;
  readonly layers: readonly Layer[];
  readonly figures: Pick<Figures, "time">;
}

export function TimeTable({ title, layers, figures }: TimeTableProps) {
  const heights = heightsOf(layers);
  const shown = figures.time.map(({ fromMs }, at) => ({ fromMs, at })).filter(({ at }) => (heights[at] ?? 0) > 0);
  return (
    <div class="table-frame table-tall" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {layers.map(({ name }) => (
              <th key={name} scope="col" class="number">
                <Name text={name === "" ? "./" : name} />
              </th>
            ))}
            <th scope="col" class="number">
              Together
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ fromMs, at }) => (
            <tr key={at}>
              <th scope="row">{time(fromMs)}</th>
              {layers.map(({ name, values }) => (
                <td key={name} class="number">
                  {count(values[at] ?? 0)}
                </td>
              ))}
              <td class="number">{count(heights[at] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
