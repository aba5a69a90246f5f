/** When nobody takes what is printed any more: who ends by it, and who works on. */

interface Streams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly exit: (code: 0 | 1) => void;
}

/** What it returns is called by commands whose work is not what they print. */
export function watchReaders({ stdout, stderr, exit }: Streams): () => void {
  let worksOn = false;
  stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (worksOn) return;
    // A reader that has seen enough (`| head`) is no error.
    if (code === "EPIPE") return exit(0);
    const why = code === "ENOSPC" ? "no space is left where it goes" : `the system says ${code}`;
    stderr.write(`filehand: Cannot print the answer: ${why}, send stdout elsewhere\n`, () => exit(1));
  });
  // What is said beside the work, a server's log above all, ends nothing if nobody hears it.
  stderr.on("error", () => undefined);
  return () => {
    worksOn = true;
  };
}
