/** Notifications of the browser about questions, for a person who looks elsewhere. Off until the person switches them on. */

import type { QuestionInfo } from "../../../src/surfaces/inspector/wire.ts";
import { createStore, useStore } from "../live/store.ts";
import { addressOf } from "./router.ts";

export interface NotifyState {
  /** What the person wants; the browser may still refuse. */
  readonly wanted: boolean;
  /** `denied`: the person refused in the browser, where only the person can change it. `none`: this browser has none. */
  readonly allowed: NotificationPermission | "none";
}

const storageName = "filehand-notify";
const permissionNow = (): NotifyState["allowed"] => ("Notification" in globalThis ? Notification.permission : "none");

export const notify = createStore<NotifyState>({
  wanted: localStorage.getItem(storageName) === "on",
  allowed: permissionNow(),
});

/** A browser asks the person only after a click. */
export async function setNotify(wanted: boolean): Promise<void> {
  localStorage.setItem(storageName, wanted ? "on" : "off");
  if (wanted && permissionNow() === "default") await Notification.requestPermission();
  notify.set({ wanted, allowed: permissionNow() });
}

const shown = new Map<string, Notification>();
const seen = new Set<string>();

/** Shows one notification for each new question while the page is not in front, and takes it back when it is answered. */
export function notifyAbout(open: readonly QuestionInfo[], words: (question: QuestionInfo) => string): void {
  const ids = new Set(open.map(({ id }) => id));
  for (const [id, notification] of shown) {
    if (ids.has(id)) continue;
    notification.close();
    shown.delete(id);
  }
  for (const id of seen) if (!ids.has(id)) seen.delete(id);
  const { wanted, allowed } = notify.get();
  for (const question of open) {
    const isNew = !seen.has(question.id);
    seen.add(question.id);
    if (!isNew || !wanted || allowed !== "granted" || document.hasFocus()) continue;
    const notification = new Notification(words(question), { body: "A call waits for your answer", tag: question.id });
    notification.addEventListener("click", () => {
      window.focus();
      location.hash = addressOf("approvals");
      notification.close();
    });
    shown.set(question.id, notification);
  }
}

/** Switches them on and off. */
export function NotifySwitch() {
  const { wanted, allowed } = useStore(notify);
  if (allowed === "none") return null;
  const isOn = wanted && allowed === "granted";
  return (
    <p class="notify">
      <label class="check">
        <input
          type="checkbox"
          checked={isOn}
          disabled={allowed === "denied"}
          onChange={(event) => void setNotify(event.currentTarget.checked)}
        />
        Notify me when a question comes and this page is not in front
      </label>
      {allowed === "denied" && <span class="quiet"> Your browser denies notifications of this page</span>}
    </p>
  );
}
