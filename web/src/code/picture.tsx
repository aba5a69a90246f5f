/** An image from base64. The browser decodes it as an image, so nothing in it can run. */

import { useEffect, useState } from "preact/hooks";
import { size } from "../shell/words.ts";

/** Types that are shown. `text/html` from a server would not be. */
const types = /^image\/(?:png|jpeg|gif|webp|bmp|avif)$/;

interface PictureProps {
  readonly data: string;
  readonly mimeType: string;
  readonly label: string;
}

export function Picture({ data, mimeType, label }: PictureProps) {
  const [url, setUrl] = useState<string>();
  const [facts, setFacts] = useState("");
  useEffect(() => {
    if (!types.test(mimeType)) return undefined;
    const made = URL.createObjectURL(new Blob([bytesOf(data)], { type: mimeType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data, mimeType]);
  if (!types.test(mimeType)) return <p class="notice">A picture of the type {mimeType} is not shown here</p>;
  return (
    <figure class="picture">
      {url !== undefined && (
        <img
          src={url}
          alt={label}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setFacts(`${naturalWidth} × ${naturalHeight} pixels`)
          }
          onError={() => setFacts("cannot be decoded by this browser")}
        />
      )}
      <figcaption>
        {label} · {mimeType.slice("image/".length).toUpperCase()} · {size(Math.floor((data.length * 3) / 4))}
        {facts !== "" && ` · ${facts}`}
      </figcaption>
    </figure>
  );
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
