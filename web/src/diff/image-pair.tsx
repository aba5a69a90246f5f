/** An image before and after, side by side. */

import type { ImageAsked, ImageView } from "../../../src/surfaces/inspector/wire.ts";
import { Picture } from "../code/picture.tsx";
import { post } from "../live/request.ts";
import { Failed, Waiting } from "../shell/parts.tsx";
import { useAsked } from "../shell/use-asked.ts";

interface ImagePairProps {
  readonly address: string;
  readonly before: ImageAsked["of"];
  readonly after: ImageAsked["of"];
}

export const ImagePair = ({ address, before, after }: ImagePairProps) => (
  <div class="image-pair">
    <Side address={address} of={before} label="Before" />
    <Side address={address} of={after} label="After" />
  </div>
);

interface SideProps {
  readonly address: string;
  readonly of: ImageAsked["of"];
  readonly label: "Before" | "After";
}

function Side({ address, of, label }: SideProps) {
  const asked = useAsked(`${address} ${JSON.stringify(of)}`, (signal) => post<ImageView>(address, { of }, signal));
  if (asked.is === "failed") return <Failed message={asked.message} />;
  if (asked.answer === undefined) return <Waiting what="Asking for the picture…" />;
  if (asked.answer.is === "none") {
    return (
      <p class="notice">
        {label}: {whyWords[asked.answer.why]}
      </p>
    );
  }
  return <Picture data={asked.answer.data} mimeType={asked.answer.mimeType} label={label} />;
}

const whyWords = {
  nothing: "there was no file",
  "not an image": "not a picture",
  "too large": "too large to be shown here",
  gone: "no longer kept",
  hidden: "not shown, a rule keeps it from being read",
} as const satisfies Readonly<Record<Extract<ImageView, { is: "none" }>["why"], string>>;
