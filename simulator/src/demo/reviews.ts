import type { GantryClient } from '@gantry/client';
import { MAX_TAKE } from '@gantry/contract/page';
import type { TimeRange } from '../history.ts';
import { draw } from './draw.ts';
import { inBatches } from './in-batches.ts';

type Events = GantryClient['api']['events'];

/** The fractions of old violations that are processed, and archived. */
const PROCESSED = 0.7;
const ARCHIVED = 0.3;

/** Marks a fraction of the violations in a period as processed, and some of those as archived. */
export async function reviewViolations(
  events: Events,
  during: TimeRange,
  signal: AbortSignal,
): Promise<{ processed: number; archived: number }> {
  const ids = await listViolations(events, during);
  const processed = ids.filter((id) => draw(id) < PROCESSED);
  const archived = ids.filter((id) => draw(id) < ARCHIVED);
  await inBatches(processed, signal, (id) => events.markAsProcessed.mutate({ id }));
  await inBatches(archived, signal, (id) => events.markAsArchived.mutate({ id }));
  return { processed: processed.length, archived: archived.length };
}

async function listViolations(events: Events, during: TimeRange): Promise<string[]> {
  const range = { startDate: new Date(during.from), endDate: new Date(during.to) };
  const ids: string[] = [];
  for (const eventType of ['TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION'] as const) {
    for (let skip = 0; ; skip += MAX_TAKE) {
      const page = await events.getAll.query({ ...range, eventType, skip, take: MAX_TAKE });
      ids.push(...page.events.map(({ id }) => id));
      if (skip + MAX_TAKE >= page.total) break;
    }
  }
  return ids;
}
