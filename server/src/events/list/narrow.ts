import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { firstIdAt } from '../id.ts';
import { where } from './filters.ts';
import type { Reading } from './page.ts';
import type { IdRange } from './seek.ts';

// On a cluster, OFFSET sends everything that it skips from every shard to the coordinator. Therefore the shards count
// their events by short ranges of time, and send only the counts: in an hour of 73,000 events on one machine, this
// reduced the time from 52 ms to 35 ms.

/** The first hexadecimal digits of an id: 36 of the 48 bits of its time, so four seconds. */
const STRETCH = sql.raw(`left(id::text, 10)`);
const STRETCH_MS = 2 ** 12;

/** The number of events in a short range of time. */
interface Stretch {
  /** Unix milliseconds. */
  readonly start: number;
  readonly n: number;
}

/** A range of ids and what to read in it. */
export interface Narrowed {
  readonly range: IdRange;
  readonly reading: Reading;
}

/** Replaces a range of ids by the part of it that contains the page, so that little is skipped. */
export async function narrow(
  db: Executor,
  { range, conditions }: { readonly range: IdRange; readonly conditions: readonly SQL[] },
  reading: Reading,
): Promise<Narrowed> {
  const within = [sql`id >= ${range.from}::uuid`, sql`id < ${range.until}::uuid`, ...conditions];
  const { rows } = await db.execute<{ digits: string; n: number }>(sql`
    SELECT ${STRETCH} AS digits, count(*) AS n FROM events ${where(within)} GROUP BY 1`);
  const stretches = rows.map(({ digits, n }) => ({
    start: Number.parseInt(digits.replace('-', ''), 16) * STRETCH_MS,
    n,
  }));
  const found = findPage(stretches, STRETCH_MS, reading);
  if (found === null) return { range, reading };
  const [from, until] = [firstIdAt(found.from), firstIdAt(found.until)];
  return {
    range: {
      from: from > range.from ? from : range.from,
      until: until < range.until ? until : range.until,
    },
    reading: { ...reading, skip: reading.skip - found.before },
  };
}

const SECOND_MS = 1_000;

/** The same for a page in the order of creation. @returns further conditions, and the number of events to skip */
export async function narrowByCreation(
  db: Executor,
  conditions: readonly SQL[],
  reading: Omit<Reading, 'isReversed'>,
): Promise<{ readonly conditions: readonly SQL[]; readonly skip: number }> {
  // Plan: an index-only scan of events_by_creation in each shard.
  const { rows } = await db.execute<{ second: number; n: number }>(sql`
    SELECT floor(date_part('epoch', created_at)) AS second, count(*) AS n FROM events ${where(conditions)} GROUP BY 1`);
  const stretches = rows.map(({ second, n }) => ({ start: second * SECOND_MS, n }));
  const found = findPage(stretches, SECOND_MS, reading);
  if (found === null) return { conditions: [], skip: reading.skip };
  const at = (ms: number): SQL => sql`to_timestamp(${ms / SECOND_MS}::float8)`;
  return {
    conditions: [sql`created_at >= ${at(found.from)}`, sql`created_at < ${at(found.until)}`],
    skip: reading.skip - found.before,
  };
}

/** The range of time that contains the page, and the number of events that precede it in the direction of reading. */
function findPage(
  stretches: readonly Stretch[],
  lengthMs: number,
  { direction, skip, take }: Omit<Reading, 'isReversed'>,
): (Interval & { readonly before: number }) | null {
  const inOrder = [...stretches].sort((a, b) =>
    direction === 'asc' ? a.start - b.start : b.start - a.start,
  );
  const starts: number[] = [];
  let before = 0;
  let counted = 0;
  for (const { start, n } of inOrder) {
    if (counted >= skip + take) break;
    counted += n;
    if (counted > skip) starts.push(start);
    else before = counted;
  }
  if (starts.length === 0) return null;
  return { from: Math.min(...starts), until: Math.max(...starts) + lengthMs, before };
}
