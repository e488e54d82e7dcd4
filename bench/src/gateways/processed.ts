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

/** The number of messages by what they were answered. */
export interface Answers {
  /** With 200. */
  readonly answered: number;
  /** With 503. The service may have put them on disk, and store them when it can. */
  readonly refused: number;
}

/**
 * Compares the number of answered messages with the number of stored ones, each of which must have become an event.
 * @returns the number of stored ones
 * @throws BenchmarkFailed when they differ
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
  // Refused messages may be on their way from the disk.
  const others = grown.filter(([status]) => status !== 'STORED' && !(status === 'RECEIVED' && refused > 0));
  const stored = (after.STORED ?? 0) - (before.STORED ?? 0);
  if (others.length === 0 && stored >= answered && stored <= answered + refused) return stored;
  const found = grown.map(([status, n]) => `${n} are ${status}`).join(', ');
  throw new BenchmarkFailed(
    `${who}: ${answered} messages were answered with 200 and ${refused} with 503, but ${found || 'none is stored'}`,
  );
}

/** The counts as soon as so many messages are stored as events, or after two minutes. */
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

/** Messages that the service could not process at once wait for half a minute. */
const DEADLINE_MS = 120_000;

/**
 * Waits until so many messages were processed since the service was started.
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
