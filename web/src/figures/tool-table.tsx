/** Calls, tokens and times of each tool. */

import type { ToolUsage } from "../../../src/surfaces/inspector/wire.ts";
import { count, duration, short } from "../shell/words.ts";
import { Name } from "../text/shown-text.tsx";
import { Bar } from "./bar.tsx";

export function ToolTable({ tools }: { readonly tools: readonly ToolUsage[] }) {
  const tokensMax = Math.max(...tools.map(({ tokensGiven }) => tokensGiven));
  const slowest = Math.max(...tools.map(({ elapsedMs }) => elapsedMs.p99));
  return (
    <section class="figure figure-wide">
      <h2 id="tools-title">By tool</h2>
      <div class="table-frame" tabIndex={0} role="region" aria-labelledby="tools-title">
        <table>
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col" class="number">
                Failed
              </th>
              <th scope="col">Tokens given</th>
              <th scope="col" class="number">
                Saved
              </th>
              <th scope="col" class="number">
                Half within
              </th>
              <th scope="col" class="number">
                90 % within
              </th>
              <th scope="col">99 % within</th>
              <th scope="col" class="number">
                Longest
              </th>
            </tr>
          </thead>
          <tbody>
            {tools.map((tool) => (
              <tr key={tool.tool}>
                <th scope="row">
                  <Name text={tool.tool} />
                </th>
                <td class="number">{count(tool.calls)}</td>
                <td class={`number ${tool.failures > 0 ? "bad" : ""}`}>{count(tool.failures)}</td>
                <td>
                  <Bar value={tool.tokensGiven} max={tokensMax} words={short(tool.tokensGiven)} />
                </td>
                <td class="number">{tool.tokensSaved === 0 ? "" : short(tool.tokensSaved)}</td>
                <td class="number">{duration(tool.elapsedMs.p50)}</td>
                <td class="number">{duration(tool.elapsedMs.p90)}</td>
                <td>
                  <Bar value={tool.elapsedMs.p99} max={slowest} words={duration(tool.elapsedMs.p99)} />
                </td>
                <td class="number">{duration(tool.elapsedMs.max)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
