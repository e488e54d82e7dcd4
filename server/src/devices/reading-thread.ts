import { parentPort } from 'node:worker_threads';
import type { MapInput, Mapped } from '@gantry/device-formats/mapper';
import { readMessage, refusalOf } from '@gantry/device-formats/read-message';
import { useOwnMessages } from '../rpc/input-messages.ts';
import type { FromThread, ReadingJob, ToThread } from './read.ts';

// The program of the thread that reads large messages, one at a time: server/dist/reading-thread.js.

/** Number of reports that are sent together. The service receives them in a few milliseconds. */
const PORTION = 500;

useOwnMessages();
const send = (message: FromThread): void => parentPort?.postMessage(message);

let onMapped: ((mapped: Mapped) => void) | undefined;
const map: MapInput = (...asked) =>
  new Promise((resolve) => {
    onMapped = resolve;
    send({ asked });
  });

async function perform(job: ReadingJob): Promise<void> {
  if ('format' in job) {
    send({ result: refusalOf(job.format, job.message) });
    return;
  }
  const { reports, ...result } = await readMessage(job.rules, job.message, { zone: job.zone, map });
  for (let from = 0; from < reports.length; from += PORTION) {
    send({ reports: reports.slice(from, from + PORTION) });
  }
  send({ result });
}

parentPort?.on('message', (sent: ToThread) => {
  if ('job' in sent) void perform(sent.job);
  else onMapped?.(sent.mapped);
});
