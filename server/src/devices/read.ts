import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { formatNamed } from '@gantry/device-formats';
import type { FormatName, Reading, Report } from '@gantry/device-formats/format';
import type { MapInput, Mapped } from '@gantry/device-formats/mapper';
import {
  type ReadingMeans,
  type ReadingRules,
  readMessage,
  refusalOf as refusalHere,
  type StoredMessage,
} from '@gantry/device-formats/read-message';
import pLimit from 'p-limit';
import { readingThread } from '../platform/installation.ts';

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

/** What a thread does: `refusalOf` or `readMessage`. */
export type ReadingJob = { readonly message: StoredMessage } & (
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

/**
 * Reads a message in the format of its connection, a large one in a thread.
 * @throws Error when that is not possible now
 */
export function interpret(
  rules: ReadingRules,
  message: StoredMessage,
  means: ReadingMeans,
): Promise<Reading> {
  return (isLarge(message) ? readInThread : readMessage)(rules, message, means);
}

/**
 * Why a message will not be read, of a format that says so in its answer (`Format.refusalOf`); null if it will.
 * @throws Error as `interpret` does
 */
export async function refusalOf(format: FormatName, message: StoredMessage): Promise<string | null> {
  if (formatNamed(format).refusalOf === undefined) return null;
  return (isLarge(message) ? refusalInThread : refusalHere)(format, message);
}

/** Whether a message is read in a thread. Its images do not count. */
function isLarge({ parts }: Pick<StoredMessage, 'parts'>): boolean {
  return parts.reduce((sum, { text }) => sum + (text?.length ?? 0), 0) > LARGE;
}

/** As `refusalOf`, in a thread. @throws Error when the thread ends early: the message should be tried again */
async function refusalInThread(format: FormatName, message: StoredMessage): Promise<string | null> {
  return (await run<string | null>({ format, message: copyOf(message) })).result;
}

/** As `interpret`, in a thread. @throws Error as `refusalInThread` and `map` do */
export async function readInThread(
  { format, timeZone, options }: ReadingRules,
  message: StoredMessage,
  { zone, map }: ReadingMeans,
): Promise<Reading> {
  const job = { rules: { format, timeZone, options }, message: copyOf(message), zone };
  const { result, reports } = await run<Omit<Reading, 'reports'>>(job, map);
  return { ...result, reports };
}

/** Only what is sent to the thread. */
function copyOf({ parts, path, topic, headers, receivedAt }: StoredMessage): StoredMessage {
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
