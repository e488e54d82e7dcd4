import { fork } from 'node:child_process';
import { MINUTE_MS } from '@gantry/contract/durations';
import type { RoadsReport } from '@gantry/contract/map';
import { mapProgram } from '../platform/installation.ts';
import type { RoadsOrigin } from './make-roads.ts';
import { type OnProgress, RoadsRefused } from './road-file.ts';

/** Size of the JavaScript heap of the process, in megabytes. The points of roads are outside of it. */
const HEAP_MB = 512;

/** The default for the processor time of the process, in milliseconds. A file of 200 MB takes some 40 s. */
const CPU_MS = 30 * MINUTE_MS;

/** The signal with which the process ends itself when it has taken more. */
export const OUT_OF_TIME = 'SIGXCPU';

/** The message that starts the process. */
export interface RoadsJob {
  readonly path: string;
  readonly target: string;
  readonly origin: RoadsOrigin;
  /** Maximum processor time, in milliseconds. */
  readonly cpuMs: number;
}

/** A message from that process. A refusal is a sentence for users. */
export type RoadsMessage =
  | { readonly progress: number }
  | { readonly report: RoadsReport }
  | { readonly refusal: string }
  | { readonly failure: string };

interface ProcessOptions {
  readonly onProgress: OnProgress;
  /** Ends the process. */
  readonly signal: AbortSignal;
  /** Maximum processor time, in milliseconds. */
  readonly cpuMs?: number;
}

/**
 * Makes the tiles of roads in a process of its own, so that nothing waits for it, it can be ended, and its memory and time are
 * bounded.
 * @throws RoadsRefused, or an Error when the signal ended the process
 */
export function makeRoadsInProcess(
  job: Omit<RoadsJob, 'cpuMs'>,
  { onProgress, signal, cpuMs = CPU_MS }: ProcessOptions,
): Promise<RoadsReport> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error('stopped'));
    const child = fork(mapProgram, {
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const end = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', end, { once: true });
    child.on('message', (message: RoadsMessage) => {
      if ('progress' in message) onProgress(message.progress);
      else if ('report' in message) resolve(message.report);
      else reject('refusal' in message ? new RoadsRefused(message.refusal) : new Error(message.failure));
    });
    child.once('error', reject);
    child.once('exit', (code, name) => {
      signal.removeEventListener('abort', end);
      // This has no effect after the last message, which has settled the promise.
      reject(
        signal.aborted
          ? new Error('stopped')
          : new RoadsRefused(
              name === OUT_OF_TIME
                ? `Reading the file took more than ${cpuMs / MINUTE_MS} minutes: leave out minor roads, or choose a smaller area; store a view of a GeoPackage as a table`
                : `The process that read the file ended early (${name ?? code}), perhaps for lack of memory: leave out minor roads, or choose a smaller area`,
            ),
      );
    });
    child.send({ ...job, cpuMs } satisfies RoadsJob, (error) => {
      if (error) reject(error);
    });
  });
}
