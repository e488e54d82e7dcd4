import { fork } from 'node:child_process';
import type { RoadsReport } from '@gantry/contract/map';
import { mapProgram } from '../platform/installation.ts';
import type { RoadsOrigin } from './make-roads.ts';
import { RoadsRefused } from './road-file.ts';

/** Size of the JavaScript heap of the process, in megabytes. The points of roads are outside of it. */
const HEAP_MB = 512;

/** The message that starts the process. */
export interface RoadsJob {
  readonly path: string;
  readonly target: string;
  readonly origin: RoadsOrigin;
}

/** A message from that process. A refusal is a sentence for users. */
export type RoadsMessage =
  | { readonly progress: number }
  | { readonly report: RoadsReport }
  | { readonly refusal: string }
  | { readonly failure: string };

/**
 * Makes the tiles of roads in a process of its own, so that nothing waits for it and its memory is bounded.
 * @throws RoadsRefused, or an Error when the signal ended the process
 */
export function makeRoadsInProcess(
  job: RoadsJob,
  { onProgress, signal }: { readonly onProgress: (share: number) => void; readonly signal: AbortSignal },
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
              `The process that read the file ended early (${name ?? code}), perhaps for lack of memory: leave out minor roads, or choose a smaller area`,
            ),
      );
    });
    child.send(job, (error) => {
      if (error) reject(error);
    });
  });
}
