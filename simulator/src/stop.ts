const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * npm forwards Ctrl-C to a process that has already received it from the terminal, so signals within this time, in
 * milliseconds, count as one.
 */
const SAME_PRESS_MS = 1_000;

/** A signal that is aborted when the process is asked to stop. On a second request the process ends at once. */
export function stopOnSignals(): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  let asked = Number.POSITIVE_INFINITY;
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (performance.now() - asked > SAME_PRESS_MS) process.exit(130);
      asked = Math.min(asked, performance.now());
      stop();
    });
  }
  return { signal: controller.signal, stop };
}
