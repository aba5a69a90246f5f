/** Whether the kernel limits this process to its workspace, as data for the log and for `filehand doctor`. */

export interface Confined {
  readonly is: "on";
  /** The version of Landlock. */
  readonly abi: number;
  /** `open`: the command needs ports, or the kernel cannot close them. */
  readonly network: "no TCP" | "open";
  /** Paths of the rights that do not exist. */
  readonly missing: readonly string[];
}

export interface Unconfined {
  readonly is: "off";
  /** `kernel`: too old, or Landlock is switched off there. `option`: the person does not want it. */
  readonly why: "option" | "settings" | "system" | "runtime" | "koffi" | "kernel" | "processor";
}
