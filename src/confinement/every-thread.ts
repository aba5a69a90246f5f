/**
 * Makes one system call in every thread of this process. The kernel restricts threads, not processes, and Node has started V8's and
 * its own before our first line runs, so they must be reached from outside: by a signal whose handler makes the call. libpsx of
 * libcap works in the same way. Handlers run in threads that cannot run JavaScript, so the handler is machine code, 79 bytes of it.
 */

import { readdirSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type * as Koffi from "koffi";

/** Processors whose handler is written below. */
export const hasEveryThread = process.arch === "x64";

/** `syscall` of the C library; the errno, negative, for a failure. */
export type Syscall = (number: number, ...args: readonly (number | bigint)[]) => number;

/** What the call returned in each thread, by thread id; a negative errno for a failure. */
export type PerThread = ReadonlyMap<number, number>;

export class ThreadsUnreached extends Error {
  override readonly name = "ThreadsUnreached";
}

/** Numbers of x64. */
const call = { rtSigaction: 13, tgkill: 234 } as const;
/**
 * The C library uses this signal for the same purpose (setuid in all threads) and lets no thread block it; Node's own thread for
 * SIGUSR1 blocks all others. Its handler is put back afterwards.
 */
const signalNumber = 33;
/** SA_RESTORER and SA_RESTART: system calls that the signal interrupts go on. */
const handlerFlags = 0x1400_0000n;
const pageBytes = 4_096;
const dataBytes = 65_536;
/** Where the results begin, in words of 8 bytes: pairs of thread id and result. Before: the number, six arguments, the count. */
const resultsAt = 9;
/** Local: as many as the memory below has room for. */
const threadsMax = (dataBytes / 8 - resultsAt) / 2;
/** How long a thread may take to answer; one that waits for a broken disk cannot. */
const answerMsMax = 2_000;
const noSuchProcess = -3;

/** The address of the data follows the first piece. */
const handlerCode = [
  [0xf3, 0x0f, 0x1e, 0xfa], // endbr64
  [0x48, 0xbb], // mov rbx, data
  "data",
  [0x48, 0x8b, 0x03], // mov rax, [rbx]        the number of the call
  [0x48, 0x8b, 0x7b, 0x08], // mov rdi, [rbx+8]    its arguments
  [0x48, 0x8b, 0x73, 0x10], // mov rsi, [rbx+16]
  [0x48, 0x8b, 0x53, 0x18], // mov rdx, [rbx+24]
  [0x4c, 0x8b, 0x53, 0x20], // mov r10, [rbx+32]
  [0x4c, 0x8b, 0x43, 0x28], // mov r8, [rbx+40]
  [0x4c, 0x8b, 0x4b, 0x30], // mov r9, [rbx+48]
  [0x0f, 0x05], // syscall
  [0x49, 0x89, 0xc4], // mov r12, rax
  [0xb8, 0xba, 0, 0, 0], // mov eax, gettid
  [0x0f, 0x05], // syscall
  [0xb9, 1, 0, 0, 0], // mov ecx, 1
  [0xf0, 0x48, 0x0f, 0xc1, 0x4b, 0x38], // lock xadd [rbx+56], rcx    the next free place
  [0x48, 0xc1, 0xe1, 0x04], // shl rcx, 4
  [0x4c, 0x89, 0x64, 0x0b, 0x50], // mov [rbx+rcx+80], r12    the result
  [0x48, 0x89, 0x44, 0x0b, 0x48], // mov [rbx+rcx+72], rax    the thread id, last: it says that the result is there
  [0xc3], // ret
] as const;
const restorerAt = 256;
/** endbr64; mov eax, rt_sigreturn; syscall */
const restorerCode = [0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05];

export function bindSyscall(koffi: typeof Koffi): Syscall {
  const raw = koffi.load(null).func("syscall", "int64_t", ["int64_t", ...Array<string>(6).fill("int64_t")]);
  return (number, ...args) => {
    const result = Number(raw(number, ...args, ...Array<number>(6 - args.length).fill(0)));
    return result === -1 ? -koffi.errno() : result;
  };
}

export const addressOf = (koffi: typeof Koffi, bytes: Uint8Array): bigint => BigInt(koffi.address(bytes));

/** Throws ThreadsUnreached if a thread does not answer; the call may have been made in others by then. */
export async function inEveryThread(
  koffi: typeof Koffi,
  syscall: Syscall,
  number: number,
  ...args: readonly (number | bigint)[]
): Promise<PerThread> {
  const pages = openPages(koffi);
  const old = new Uint8Array(32);
  const action = Buffer.alloc(32);
  action.writeBigUInt64LE(pages.codeAt, 0);
  action.writeBigUInt64LE(handlerFlags, 8);
  action.writeBigUInt64LE(pages.codeAt + BigInt(restorerAt), 16);
  action.fill(0xff, 24); // no other signal meanwhile
  const setAction = (next: Uint8Array, previous?: Uint8Array): number =>
    syscall(
      call.rtSigaction,
      signalNumber,
      addressOf(koffi, next),
      previous === undefined ? 0 : addressOf(koffi, previous),
      8,
    );
  pages.data.set([number, ...args].map(BigInt));
  const fault = setAction(action, old);
  if (fault !== 0) throw new ThreadsUnreached(`no handler can be set, errno ${-fault}`);
  const signalled = new Set<number>();
  const endMs = performance.now() + answerMsMax;
  for (;;) {
    const threads = readdirSync("/proc/self/task").map(Number);
    if (threads.length > threadsMax) throw new ThreadsUnreached(`there are ${threads.length} threads`);
    for (const thread of threads) {
      if (signalled.has(thread)) continue;
      const sent = syscall(call.tgkill, process.pid, thread, signalNumber);
      if (sent !== 0 && sent !== noSuchProcess) throw new ThreadsUnreached(`no signal can be sent, errno ${-sent}`);
      signalled.add(thread);
    }
    const results = resultsIn(pages.data);
    // Threads may have come or gone since: only a round that finds none without a result is the last.
    if (readdirSync("/proc/self/task").every((thread) => results.has(Number(thread)))) {
      setAction(old);
      pages.close();
      return results;
    }
    // The handler stays: a thread that answers late must not be ended by the signal.
    if (performance.now() > endMs) throw new ThreadsUnreached("a thread does not answer");
    await setTimeout(1);
  }
}

function resultsIn(data: BigInt64Array): PerThread {
  const results = new Map<number, number>();
  for (let at = resultsAt; at + 1 < data.length && data[at] !== 0n; at += 2) {
    results.set(Number(data[at]), Number(data[at + 1]));
  }
  return results;
}

/** One page for the handler, which is not writable when it runs, and some for its data. */
function openPages(koffi: typeof Koffi) {
  const library = koffi.load(null);
  const map = library.func("void *mmap(void *at, size_t bytes, int protection, int flags, int fd, int64_t offset)");
  const protect = library.func("int mprotect(void *at, size_t bytes, int protection)");
  const unmap = library.func("int munmap(void *at, size_t bytes)");
  const [readWrite, readExecute, privateAnonymous] = [3, 5, 0x22];
  const code: unknown = map(null, pageBytes, readWrite, privateAnonymous, -1, 0);
  const data: unknown = map(null, dataBytes, readWrite, privateAnonymous, -1, 0);
  const [codeAt, dataAt] = [code, data].map((page) => BigInt(koffi.address(page)));
  if (codeAt === undefined || dataAt === undefined || codeAt === mapFailed || dataAt === mapFailed) {
    throw new ThreadsUnreached("there is no memory");
  }
  const dataAddress = Buffer.alloc(8);
  dataAddress.writeBigUInt64LE(dataAt);
  const bytes = handlerCode.flatMap((piece) => (piece === "data" ? [...dataAddress] : [...piece]));
  const page = new Uint8Array(koffi.view(code, pageBytes));
  page.set(bytes);
  page.set(restorerCode, restorerAt);
  if (protect(code, pageBytes, readExecute) !== 0) throw new ThreadsUnreached("memory cannot be made executable");
  return {
    codeAt,
    data: new BigInt64Array(koffi.view(data, dataBytes)),
    close: (): void => {
      unmap(code, pageBytes);
      unmap(data, dataBytes);
    },
  };
}

const mapFailed = 0xffff_ffff_ffff_ffffn;
