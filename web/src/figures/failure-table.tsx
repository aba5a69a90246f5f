/** What failed, and how often. */

import type { FailureUsage } from "../../../src/surfaces/inspector/wire.ts";
import { count } from "../shell/words.ts";
import { Name } from "../text/shown-text.tsx";
import { Bar } from "./bar.tsx";

interface FailureTableProps {
  readonly title: string;
  readonly failures: readonly FailureUsage[];
  readonly none: string;
}

export function FailureTable({ title, failures, none }: FailureTableProps) {
  const id = `failures-${title.replaceAll(/\W+/g, "-")}`;
  const max = failures[0]?.count ?? 0;
  return (
    <section class="figure">
      <h2 id={id}>{title}</h2>
      {failures.length === 0 ? (
        <p class="quiet">{none}.</p>
      ) : (
        <div class="table-frame table-tall" tabIndex={0} role="region" aria-labelledby={id}>
          <table>
            <thead>
              <tr>
                <th scope="col">Tool</th>
                <th scope="col">Why</th>
                <th scope="col">How often</th>
              </tr>
            </thead>
            <tbody>
              {failures.map(({ tool, code, reason, count: times }) => (
                <tr key={`${tool} ${code} ${reason}`}>
                  <th scope="row">
                    <Name text={tool} />
                  </th>
                  <td>
                    <code>{code}</code> {reason !== null && <span class="quiet">{reason}</span>}
                  </td>
                  <td>
                    <Bar value={times} max={max} words={count(times)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
