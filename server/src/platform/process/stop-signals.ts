const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A terminal sends Ctrl-C to the whole process group, and npm forwards it once more to its child. Signals within this
 * time after the first one (ms) are the same request.
 */
const SAME_REQUEST_MS = 2_000;

/** Exit code after a second request, as a shell reports for a program ended by Ctrl-C. */
const INTERRUPTED = 130;

/**
 * Resolves with the name of the first signal that asks this process to stop. A later signal, more than two seconds
 * after the first, ends the process at once; use the process's `exit` event for cleaning up.
 */
export function untilSignalled(): Promise<string> {
  return new Promise((resolve) => {
    let first: number | null = null;
    for (const name of SIGNALS) {
      // Never removed: without a handler, a repeated signal would end the process during shutdown.
      process.on(name, () => {
        first ??= performance.now();
        if (performance.now() - first > SAME_REQUEST_MS) process.exit(INTERRUPTED);
        resolve(name);
      });
    }
  });
}
