import { BenchmarkFailed } from './failure.ts';

/** A signal that is given when somebody asks the process to stop, so that what was started is stopped in order. */
export const stopOnSignals = (): AbortSignal => {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(name, () =>
      controller.abort(new BenchmarkFailed('Stopped before the end: nothing is kept.')),
    );
  }
  return controller.signal;
};
