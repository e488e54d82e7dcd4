const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm passes Ctrl-C on to a process that the terminal told already: signals this close (ms) are one. */
const SAME_PRESS_MS = 1_000;

/** A signal that aborts when the process is asked to end; asked a second time, the process ends at once. */
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
