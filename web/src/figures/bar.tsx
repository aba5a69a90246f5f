/** A number with a bar behind it, as long as its share of the largest. */

interface BarProps {
  readonly value: number;
  readonly max: number;
  readonly words: string;
}

export const Bar = ({ value, max, words }: BarProps) => (
  <span class="bar">
    <span
      class="bar-fill"
      style={{ width: `${max <= 0 ? 0 : Math.max(1, (value / max) * 100)}%` }}
      aria-hidden="true"
    />
    <span class="bar-words">{words}</span>
  </span>
);
