const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A terminal sends Ctrl-C to the whole process group, and npm forwards it once more to the process it started: signals
 * within this time of the first one (ms) are the same request.
 */
const SAME_REQUEST_MS = 2_000;

/** Exit code after a second request, as a shell reports a program that Ctrl-C ended. */
const INTERRUPTED = 130;

/**
 * Resolves with the name of the first signal that asks this process to stop. A later signal, more than two seconds
 * after the first, ends the process at once; what has to end with it hooks into the process's `exit` event.
 */
export function untilSignalled(): Promise<string> {
  return new Promise((resolve) => {
    let first: number | null = null;
    for (const name of SIGNALS) {
      // Never removed: without a handler the default action of a repeated signal would cut the shutdown short.
      process.on(name, () => {
        first ??= performance.now();
        if (performance.now() - first > SAME_REQUEST_MS) process.exit(INTERRUPTED);
        resolve(name);
      });
    }
  });
}
