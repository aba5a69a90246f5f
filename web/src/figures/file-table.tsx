/** The files that took most tokens. */

import type { FileUsage } from "../../../src/surfaces/inspector/wire.ts";
import { count, short } from "../shell/words.ts";
import { Path } from "../text/shown-text.tsx";
import { Bar } from "./bar.tsx";

export function FileTable({ files, total }: { readonly files: readonly FileUsage[]; readonly total: number }) {
  const max = files[0]?.tokensGiven ?? 0;
  return (
    <section class="figure">
      <h2 id="files-title">
        By file{" "}
        {total > files.length && (
          <span class="quiet">
            the first {files.length} of {count(total)}
          </span>
        )}
      </h2>
      <div class="table-frame table-tall" tabIndex={0} role="region" aria-labelledby="files-title">
        <table>
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col" class="number">
                Calls
              </th>
              <th scope="col">Tokens given</th>
              <th scope="col" class="number">
                Saved
              </th>
            </tr>
          </thead>
          <tbody>
            {files.map((file) => (
              <tr key={file.path}>
                <th scope="row">
                  <Path path={file.path === "" ? "./" : file.path} />
                </th>
                <td class="number">{count(file.calls)}</td>
                <td>
                  <Bar value={file.tokensGiven} max={max} words={short(file.tokensGiven)} />
                </td>
                <td class="number">{file.tokensSaved === 0 ? "" : short(file.tokensSaved)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
