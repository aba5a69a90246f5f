/** Small parts that every view uses. */

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Shown } from "../text/shown-text.tsx";
import { plural } from "./words.ts";

/** Shown instead of an empty list, with the reason. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children !== undefined && <div class="empty-words">{children}</div>}
  </div>
);

export const Failed = ({ message }: { readonly message: string }) => (
  <div class="notice notice-bad" role="alert">
    <Shown text={message} />
  </div>
);

export const Waiting = ({ what }: { readonly what: string }) => (
  <p class="waiting" role="status">
    {what}
  </p>
);

export type Tone = "good" | "bad" | "warn" | "calm" | "accent";

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge badge-${tone}`}>{children}</span>
);

/** `+12 −3`, and the same in words. */
export const Counts = ({ additions, deletions }: { readonly additions: number; readonly deletions: number }) => (
  <span class="counts">
    <span class="counts-new">
      <span aria-hidden="true">+{additions}</span>
      <span class="hidden">{plural(additions, "line")} added, </span>
    </span>{" "}
    <span class="counts-old">
      <span aria-hidden="true">−{deletions}</span>
      <span class="hidden">{deletions} removed</span>
    </span>
  </span>
);

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChoose: (value: Value) => void;
}

/** A choice of a few visible options. Left and right move, as with radio buttons. */
export function Choice<Value extends string>({ label, value, options, onChoose }: ChoiceProps<Value>) {
  const group = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = options.findIndex(([option]) => option === value);
    const next = options[(at + step + options.length) % options.length];
    if (next === undefined) return;
    onChoose(next[0]);
    group.current?.querySelectorAll("button")[options.indexOf(next)]?.focus();
  };
  return (
    <div ref={group} class="choice" role="radiogroup" aria-label={label} onKeyDown={move}>
      {options.map(([option, words]) => (
        <button
          key={option}
          type="button"
          role="radio"
          aria-checked={option === value}
          tabIndex={option === value ? 0 : -1}
          onClick={() => onChoose(option)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}
