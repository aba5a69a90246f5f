/** The reply exactly as the model got it: texts and images, in order. */

import type { ReplyPart } from "../../../src/contract/call.ts";
import { CodeView } from "../code/code-view.tsx";
import { Picture } from "../code/picture.tsx";
import { Empty } from "../shell/parts.tsx";
import { plural } from "../shell/words.ts";

export function ReplyParts({ parts }: { readonly parts: readonly ReplyPart[] }) {
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
