import { fork } from 'node:child_process';
import type { Logger } from 'pino';
import type { Config } from '../../platform/config.ts';
import { backupProgram } from '../../platform/installation.ts';
import type { BackupResult } from './make.ts';
import { BackupRefused } from './refusal.ts';

/** Size of the JavaScript heap of the process, in megabytes. Little suffices, because data is passed on in pieces. */
const HEAP_MB = 128;

/** The process was ended before the backup was finished. */
export class BackupStopped extends Error {
  override readonly name = 'BackupStopped';
}

/**
 * Makes a backup in a process of its own, so that compressing does not delay answers.
 * @throws BackupRefused, {@link BackupStopped}, or an Error whose message may be stored
 */
export function makeInProcess(
  job: BackupJob,
  { log, onProgress, signal }: { log: Logger; onProgress: (done: number) => void; signal: AbortSignal },
): Promise<BackupResult> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new BackupStopped());
    const child = fork(backupProgram, {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const end = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', end, { once: true });
    child.on('message', (message: BackupMessage) => {
      if ('progress' in message) onProgress(message.progress);
      else if ('warning' in message) log.warn(message.details, message.warning);
      else if ('made' in message) resolve(message.made);
      else reject('refusal' in message ? new BackupRefused(message.refusal) : new Error(message.failure));
    });
    child.once('error', reject);
    child.once('exit', (code, name) => {
      signal.removeEventListener('abort', end);
      // This has no effect after the last message, which has settled the promise.
      reject(
        signal.aborted
          ? new BackupStopped()
          : new Error(`the process of the backup ended with ${name ?? code}`),
      );
    });
    child.send(job, (error) => {
      if (error) reject(error);
    });
  });
}

/** The message that starts the process that makes a backup. */
export interface BackupJob {
  readonly config: Config;
  readonly connectionString: string;
  readonly folder: string;
  readonly keep: number;
  readonly recipients: readonly string[];
}

/** A message from that process. A refusal is a sentence for users; a failure is a text that may be stored. */
export type BackupMessage =
  | { readonly progress: number }
  | { readonly warning: string; readonly details: object }
  | { readonly made: BackupResult }
  | { readonly refusal: string }
  | { readonly failure: string };
