import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { where } from '../counts/totals.ts';
import { firstIdAt } from '../id.ts';
import type { IdRange } from './hours.ts';
import type { Source } from './page.ts';
import type { Reading } from './plan.ts';

// On a cluster, OFFSET sends everything that it skips from every shard to the coordinator. Therefore the shards count
// their events by short ranges of time, and send only the counts: in an hour of 73,000 events on one machine, this
// reduced the time from 52 ms to 35 ms.

/** Up to this offset the events that it skips are sent. */
const NEAR = 1_000;

/** A place to read, and how. */
interface Place {
  readonly source: Source;
  readonly reading: Reading;
}

/** Replaces hours by the part of them that contains the page, so that little is skipped. */
export function narrow(db: Executor, place: Place): Promise<Place> | Place {
  const { source, reading } = place;
  if (reading.skip <= NEAR) return place;
  if (reading.sortBy === 'createdAt') return narrowByArrival(db, source.conditions, reading);
  const [range, ...further] = source.ranges ?? [];
  return range === undefined || further.length > 0 ? place : narrowByTime(db, range, source, reading);
}

/** The first hexadecimal digits of an id: 36 of the 48 bits of its time, so four seconds. */
const SLICE = sql.raw(`left(id::text, 10)`);
const SLICE_MS = 2 ** 12;

/** The number of events in a short range of time. */
interface Slice {
  /** Unix milliseconds. */
  readonly start: number;
  readonly n: number;
}

async function narrowByTime(
  db: Executor,
  range: IdRange,
  { conditions }: Source,
  reading: Reading,
): Promise<Place> {
  const within = [sql`id >= ${range.from}::uuid`, sql`id < ${range.until}::uuid`, ...conditions];
  const { rows } = await db.execute<{ digits: string; n: number }>(sql`
    SELECT ${SLICE} AS digits, count(*) AS n FROM events ${where(within)} GROUP BY 1`);
  const slices = rows.map(({ digits, n }) => ({
    start: Number.parseInt(digits.replace('-', ''), 16) * SLICE_MS,
    n,
  }));
  const found = findPage(slices, SLICE_MS, reading);
  if (found === null) return { source: { conditions, ranges: [range] }, reading };
  const [from, until] = [firstIdAt(found.from), firstIdAt(found.until)];
  const narrowed = {
    from: from > range.from ? from : range.from,
    until: until < range.until ? until : range.until,
  };
  return {
    source: { conditions, ranges: [narrowed] },
    reading: { ...reading, skip: reading.skip - found.before },
  };
}

const SECOND_MS = 1_000;

async function narrowByArrival(db: Executor, conditions: readonly SQL[], reading: Reading): Promise<Place> {
  // Plan: an index-only scan of events_by_creation in each shard.
  const { rows } = await db.execute<{ second: number; n: number }>(sql`
    SELECT floor(date_part('epoch', created_at)) AS second, count(*) AS n FROM events ${where(conditions)} GROUP BY 1`);
  const slices = rows.map(({ second, n }) => ({ start: second * SECOND_MS, n }));
  const found = findPage(slices, SECOND_MS, reading);
  if (found === null) return { source: { conditions }, reading };
  const at = (ms: number): SQL => sql`to_timestamp(${ms / SECOND_MS}::float8)`;
  const within = [sql`created_at >= ${at(found.from)}`, sql`created_at < ${at(found.until)}`];
  return {
    source: { conditions: [...conditions, ...within] },
    reading: { ...reading, skip: reading.skip - found.before },
  };
}

/** The range of time that contains the page, and the number of events that precede it in the direction of reading. */
function findPage(
  slices: readonly Slice[],
  lengthMs: number,
  { direction, skip, take }: Reading,
): (Interval & { readonly before: number }) | null {
  const inOrder = [...slices].sort((a, b) => (direction === 'asc' ? a.start - b.start : b.start - a.start));
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
