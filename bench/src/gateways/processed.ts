import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../database.ts';
import { BenchmarkFailed } from '../failure.ts';
import type { Metrics } from '../metrics.ts';
import type { Stage } from '../stage.ts';

/** The number of messages of devices by their status. */
export type Statuses = Readonly<Record<string, number>>;

export async function countMessages(databaseUrl: string): Promise<Statuses> {
  const rows = await query<{ status: string; n: string }>(
    databaseUrl,
    'SELECT status, count(*) AS n FROM device_messages GROUP BY status',
  );
  return Object.fromEntries(rows.map(({ status, n }) => [status, Number(n)]));
}

/** The number of messages by the status of the answer. */
export interface Answers {
  /** With 200. */
  readonly answered: number;
  /** With 503. The service may have put them on disk, and may store them later. */
  readonly refused: number;
}

/**
 * Compares the number of messages answered with 200 with the number of those stored as events. Messages answered with 503
 * may have been stored, too.
 * @returns the number of stored messages
 * @throws BenchmarkFailed when they do not match
 */
export async function checkMessages(
  who: string,
  { databaseUrl }: Stage,
  before: Statuses,
  { answered, refused }: Answers,
): Promise<number> {
  const after = await countOnceStored(databaseUrl, (before.STORED ?? 0) + answered);
  const grown = Object.entries(after)
    .map(([status, n]) => [status, n - (before[status] ?? 0)] as const)
    .filter(([, n]) => n !== 0);
  // Refused messages may have been read from the disk, and not processed yet.
  const others = grown.filter(([status]) => status !== 'STORED' && !(status === 'RECEIVED' && refused > 0));
  const stored = (after.STORED ?? 0) - (before.STORED ?? 0);
  if (others.length === 0 && stored >= answered && stored <= answered + refused) return stored;
  const found = grown.map(([status, n]) => `${n} are ${status}`).join(', ');
  throw new BenchmarkFailed(
    `${who}: ${answered} messages were answered with 200 and ${refused} with 503, but ${found || 'none is stored'}`,
  );
}

/**
 * Reads every stored image and compares it with its hash, in the files of segments as any other program finds them.
 * @param folder the folder of segments
 * @returns the number of images
 * @throws BenchmarkFailed when one is missing or different, or an event or message refers to one that is not stored
 */
export async function checkImages(databaseUrl: string, folder: string): Promise<number> {
  const segments = await query<{ id: string; name: string }>(
    databaseUrl,
    'SELECT id::text, name FROM image_segments ORDER BY id',
  );
  let images = 0;
  for (const { id, name } of segments) {
    const content = await readFile(join(folder, name));
    const rows = await query<{ sha256: string; position: number; bytes: number }>(
      databaseUrl,
      `SELECT encode(sha256, 'hex') AS sha256, position, bytes FROM images WHERE segment = ${id}`,
    );
    const wrong = rows.find(({ sha256, position, bytes }) => {
      const image = content.subarray(position, position + bytes);
      return createHash('sha256').update(image).digest('hex') !== sha256;
    });
    if (wrong)
      throw new BenchmarkFailed(`The image ${wrong.sha256} is not in segment ${name} as it was sent`);
    images += rows.length;
  }
  const [lost] = await query<{ n: string }>(
    databaseUrl,
    `SELECT count(*) AS n FROM (
       SELECT sha256 FROM event_images UNION SELECT sha256 FROM device_message_images
       EXCEPT SELECT sha256 FROM images WHERE segment IS NOT NULL) AS lost`,
  );
  if (lost?.n !== '0') throw new BenchmarkFailed(`${lost?.n} images of events or messages are not stored`);
  return images;
}

/** The counts as soon as `stored` messages are stored as events, no message is RECEIVED, or two minutes have passed. */
async function countOnceStored(databaseUrl: string, stored: number): Promise<Statuses> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const counts = await countMessages(databaseUrl);
    if ((counts.STORED ?? 0) >= stored || !counts.RECEIVED || performance.now() > deadline) return counts;
    await sleep(LOOK_MS * 10);
  }
}

/** The number of messages that were processed since the service was started, with any result. */
export function processedMessages(metrics: Metrics): number {
  let sum = 0;
  for (const [name, value] of metrics) if (name.startsWith('gantry_device_messages_total')) sum += value;
  return sum;
}

const LOOK_MS = 50;

/** Time limit in milliseconds. Messages that the service could not process at once wait for half a minute. */
const DEADLINE_MS = 120_000;

/**
 * Waits until the number of messages processed since the service was started reaches `messages`.
 * @throws BenchmarkFailed after two minutes
 */
export async function waitUntilProcessed({ gantry }: Stage, messages: number): Promise<Metrics> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const metrics = await gantry.metrics();
    const processed = processedMessages(metrics);
    if (processed >= messages) return metrics;
    if (performance.now() > deadline) {
      throw new BenchmarkFailed(`${messages - processed} messages were not processed in two minutes`);
    }
    await sleep(LOOK_MS);
  }
}
