/** Light, dark, or the system's theme; stored in this browser. */

import { useState } from "preact/hooks";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageName = "filehand-theme";

const stored = (): Theme => themes.find((theme) => theme === localStorage.getItem(storageName)) ?? "system";

/** Applied before the first paint, so that the other theme does not flash. */
export function applyTheme(theme: Theme = stored()): void {
  document.documentElement.dataset["theme"] = theme;
  localStorage.setItem(storageName, theme);
}

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(stored);
  const choose = (next: Theme): void => {
    applyTheme(next);
    setTheme(next);
  };
  return [theme, choose];
}
