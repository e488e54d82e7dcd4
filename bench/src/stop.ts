import { stopOnSignals as whenSignalled } from '@gantry/simulator/src/stop.ts';
import { BenchmarkFailed } from './failure.ts';

/**
 * A signal that is aborted when the process is asked to stop, so that everything that was started is stopped in
 * order.
 */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  whenSignalled().signal.addEventListener('abort', () =>
    controller.abort(new BenchmarkFailed('Interrupted: no results were saved.')),
  );
  return controller.signal;
}
