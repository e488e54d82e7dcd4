import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { readingThread } from '../platform/installation.ts';
import type { FormatName, Reading, Report } from './format.ts';
import type { MapInput, Mapped } from './mapper.ts';
import type { Interpretable, ReadingMeans, ReadingRules } from './read-message.ts';

/**
 * Messages with more text than this are read in a thread of their own, because the event loop would stand still meanwhile:
 * for seconds with 10 MB. In characters.
 */
const LARGE = 200_000;

/** After this time a thread is ended. It is many times what the largest message takes. */
const LIMIT_MS = 120_000;

/** A thread that has read nothing for this long is ended, so that its memory is free. */
const IDLE_MS = 60_000;

/** Large messages are read one at a time, because 10 MB take some 300 MB of memory meanwhile. */
const turns = pLimit(1);

/** It starts with the first large message. */
let thread: Worker | undefined;
let idle: NodeJS.Timeout | undefined;

/** What a thread does: `refusalNow` or `readNow`. */
export type ReadingJob = { readonly message: Interpretable } & (
  | { readonly format: FormatName }
  | { readonly rules: ReadingRules; readonly zone: string }
);

/** What a thread is sent: a message to read, and the mapping that it asked for. */
export type ToThread = { readonly job: ReadingJob } | { readonly mapped: Mapped };

/** What a thread sends: reports, in portions; a mapping to evaluate; and last its result, for a reading without the reports. */
export type FromThread =
  | { readonly reports: readonly Report[] }
  | { readonly asked: Parameters<MapInput> }
  | { readonly result: string | null | Omit<Reading, 'reports'> };

/** Whether a message is read in a thread. Its pictures do not count. */
export function isLarge({ parts }: Pick<Interpretable, 'parts'>): boolean {
  return parts.reduce((sum, { text }) => sum + (text?.length ?? 0), 0) > LARGE;
}

/** As `refusalNow`, in a thread. @throws Error when the thread ends early: the message should be tried again */
export async function refusalInThread(format: FormatName, message: Interpretable): Promise<string | null> {
  return (await run<string | null>({ format, message: copyOf(message) })).result;
}

/** As `readNow`, in a thread. @throws Error as `refusalInThread` and `map` do */
export async function readInThread(
  { format, timeZone, options }: ReadingRules,
  message: Interpretable,
  { zone, map }: ReadingMeans,
): Promise<Reading> {
  const job = { rules: { format, timeZone, options }, message: copyOf(message), zone };
  const { result, reports } = await run<Omit<Reading, 'reports'>>(job, map);
  return { ...result, reports };
}

/** Only what is sent to the thread. */
function copyOf({ parts, path, topic, headers, receivedAt }: Interpretable): Interpretable {
  return { parts, path, topic, headers, receivedAt };
}

function run<Result>(job: ReadingJob, map?: MapInput): Promise<{ result: Result; reports: Report[] }> {
  return turns(async () => {
    clearTimeout(idle);
    thread ??= new Worker(readingThread);
    const used = thread;
    used.ref();
    const reports: Report[] = [];
    try {
      const messages = on(used, 'message', { close: ['exit'], signal: AbortSignal.timeout(LIMIT_MS) });
      used.postMessage({ job });
      for await (const [message] of messages) {
        const sent: FromThread = message;
        if ('reports' in sent) reports.push(...sent.reports);
        else if ('asked' in sent) used.postMessage({ mapped: await map?.(...sent.asked) });
        else {
          idle = setTimeout(endThread, IDLE_MS).unref();
          return { result: sent.result as Result, reports };
        }
      }
      throw new Error('the thread that reads large messages ended early');
    } catch (error) {
      endThread();
      throw error;
    } finally {
      used.unref();
    }
  });
}

function endThread(): void {
  void thread?.terminate();
  thread = undefined;
}
