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

/**
 * Compares the number of answered messages with the number of stored ones, each of which must have become an event.
 * @throws BenchmarkFailed when they differ
 */
export function checkMessages(who: string, answered: number, before: Statuses, after: Statuses): void {
  const grown = Object.entries(after)
    .map(([status, n]) => [status, n - (before[status] ?? 0)] as const)
    .filter(([, n]) => n !== 0);
  if (grown.every(([status]) => status === 'STORED') && (grown[0]?.[1] ?? 0) === answered) return;
  const told = grown.map(([status, n]) => `${n} are ${status}`).join(', ');
  throw new BenchmarkFailed(`${who}: ${answered} messages were answered with 200, but ${told}`);
}

/** Messages that were processed since the service was started, whatever became of them. */
export function processedMessages(metrics: Metrics): number {
  let sum = 0;
  for (const [name, value] of metrics) if (name.startsWith('gantry_device_messages_total')) sum += value;
  return sum;
}

const LOOK_MS = 50;

/** Messages that the service could not process at once wait for half a minute. */
const DEADLINE_MS = 120_000;

/**
 * Waits until so many messages were processed since the service was started, and none waits on disk.
 * @throws BenchmarkFailed after two minutes
 */
export async function waitUntilProcessed({ gantry }: Stage, messages: number): Promise<Metrics> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const metrics = await gantry.metrics();
    const processed = processedMessages(metrics);
    if (processed >= messages && (metrics.get('gantry_spooled_messages') ?? 0) === 0) return metrics;
    if (performance.now() > deadline) {
      throw new BenchmarkFailed(`${messages - processed} messages were not processed in two minutes`);
    }
    await sleep(LOOK_MS);
  }
}
