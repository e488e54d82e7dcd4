import type { QueryConfig } from 'pg';
import { COUNTED_COLUMNS, countingOf } from '../events/counts/counting.ts';
import type { EventRow } from '../events/event-row.ts';
import { uuidArray } from '../platform/database/arrays.ts';
import {
  type Column,
  double,
  json,
  namesOf,
  rowsOf,
  smallint,
  text,
  uuid,
} from '../platform/database/columns.ts';
import { isUniqueViolation } from '../platform/database/failure.ts';
import type { KeptClient } from '../platform/database/kept-client.ts';
import { channels } from '../platform/database/notify.ts';
import { createParameters, type Parameters } from '../platform/database/parameters.ts';
import { type Count, tally } from './tally.ts';

/** Longest wait for one group's commit, in milliseconds. */
const COMMIT_TIMEOUT_MS = 10_000;

const eventColumns: readonly Column<EventRow>[] = [
  uuid('id', (row) => row.id),
  text('event_type', (row) => row.eventType),
  text('violation_type', (row) => row.violationType),
  text('vehicle_type', (row) => row.vehicleType),
  smallint('severity', (row) => row.severity),
  uuid('sensor_id', (row) => row.sensorId),
  text('sensor_name', (row) => row.sensorName),
  uuid('location_id', (row) => row.locationId),
  text('location_name', (row) => row.locationName),
  text('plate', (row) => row.plate),
  text('plate_key', (row) => row.plateKey),
  double('vehicle_speed', (row) => row.vehicleSpeed),
  text('description', (row) => row.description),
  json('location', (row) => row.locationJson),
  json('metadata', (row) => row.metadataJson),
  json('images', (row) => row.imagesJson),
  json('tags', (row) => row.tagsJson),
  uuid('content_hash', (row) => row.contentHash),
];

const countColumns: readonly Column<Count>[] = [
  double('hour', ({ hour }) => hour, 'to_timestamp(hour)'),
  text('event_type', ({ of }) => of.eventType),
  text('violation_type', ({ of }) => of.violationType ?? ''),
  text('vehicle_type', ({ of }) => of.vehicleType ?? ''),
  smallint('severity', ({ of }) => of.severity ?? 0),
  double('n', ({ n }) => n),
];

/** One message for the whole group, because NOTIFY takes a lock of the whole server at its commit. */
const NOTIFY = `pg_notify('${channels.changes}', '')`;

/** A group of events as the statements that store it take it. */
interface Group {
  readonly rows: readonly EventRow[];
  /** Those of the events that have to be followed up. */
  readonly followed: readonly EventRow[];
}

/** A group of which no event is stored yet, so that what it adds to the counts is known. */
interface NewGroup extends Group {
  readonly counts: readonly Count[];
  /** The first and the last of the ids, by the order of time. */
  readonly ends: readonly (string | undefined)[];
}

/** A statement whose text is put together once, here: a connection parses it when it first runs it. */
interface Statement<Input> {
  readonly name: string;
  readonly text: string;
  readonly valuesOf: (input: Input) => unknown[];
}

const statement = <Input>(
  name: string,
  write: (add: Parameters<Input>['add']) => string,
): Statement<Input> => {
  const { add, valuesOf } = createParameters<Input>();
  return { name, text: write(add), valuesOf };
};

const idsOf = (rows: readonly EventRow[]): Buffer => uuidArray(rows, ({ id }) => id);

/** Adds the columns of the events as parameters. @returns them by the names of their columns */
const addEvents = (add: Parameters<Group>['add']): ReadonlyMap<string, string> =>
  new Map(eventColumns.map(({ name, encode }) => [name, add(({ rows }) => encode(rows))]));

const insertOf = (events: ReadonlyMap<string, string>): string =>
  `INSERT INTO events (${namesOf(eventColumns)}) ${rowsOf(eventColumns, [...events.values()])}`;

/** The columns that say which vehicle passed where, as the arrays of one row of `traffic_unfolded` name them. */
const trafficColumns = ['id', 'event_type', 'sensor_id', 'location_id', 'vehicle_type', 'vehicle_speed'];
const TRAFFIC =
  'traffic_unfolded (event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds, first_id, last_id)';

// An event that a person deleted stays deleted. Writing what is known of its deletion once more violates the key of that table,
// and a statement that writes to it waits for deletions under way before it sees anything (events/remove-store.ts).
const refuseDeleted = (ids: string): string => `deleted AS (
      INSERT INTO deleted_events (event_id, content_hash)
      SELECT event_id, content_hash FROM deleted_events WHERE event_id = ANY (${ids})
    )`;

interface Variant {
  /** Whether any of the events has an idempotency key. */
  readonly keyed: boolean;
  /** Whether any has to be followed up; then the statement answers when the events were stored. */
  readonly followed: boolean;
}

// The common case: no event of the group is stored yet, so what it adds to the totals is known beforehand.
// One statement, so one round trip and one commit for the whole group: 40 µs an event in groups of 60, half of it for indexes.
const insertNew = (name: string, { keyed, followed }: Variant): Statement<NewGroup> =>
  statement(name, (add) => {
    const events = addEvents(add);
    const ids = events.get('id') ?? '';
    const count = add(({ rows }) => rows.length);
    const counts = countColumns.map(({ encode }) => add((group) => encode(group.counts)));
    const passed = [
      ...trafficColumns.map((column) => events.get(column)),
      add(({ ends }) => ends[0]),
      add(({ ends }) => ends[1]),
    ];
    const parts = [
      `stored AS (${insertOf(events)})`,
      `arrived AS (INSERT INTO event_arrivals (hour, n) SELECT date_trunc('hour', now()::timestamptz(3), 'UTC'), ${count})`,
      `told AS (INSERT INTO changes (topic, event_ids) VALUES ('events', ${ids}) RETURNING ${NOTIFY})`,
      `passed AS (INSERT INTO ${TRAFFIC} VALUES (${passed.join(', ')}))`,
      ...(keyed ? [refuseDeleted(ids)] : []),
    ];
    const counting = `INSERT INTO event_totals (${namesOf(countColumns)}) ${rowsOf(countColumns, counts)}`;
    if (!followed) return `WITH ${parts.join(', ')} ${counting}`;
    const noted = add((group) => idsOf(group.followed));
    parts.push(
      `noted AS (INSERT INTO events_to_follow_up (event_id) SELECT unnest(${noted}::uuid[]))`,
      `counted AS (${counting})`,
    );
    return `WITH ${parts.join(', ')} SELECT now()::timestamptz(3) AS at`;
  });

const INSERT_NEW = {
  unkeyed: {
    alone: insertNew('insert-new-events', { keyed: false, followed: false }),
    followed: insertNew('insert-new-events-followed', { keyed: false, followed: true }),
  },
  keyed: {
    alone: insertNew('insert-new-keyed-events', { keyed: true, followed: false }),
    followed: insertNew('insert-new-keyed-events-followed', { keyed: true, followed: true }),
  },
};

const ofStored = countingOf('stored', 1);

// The other case: some have an idempotency key that was used before. Only those that are new are counted.
const INSERT_MISSING = statement<Group>('insert-missing-events', (add) => {
  const events = addEvents(add);
  const noted = add(({ followed }) => idsOf(followed));
  return `
    WITH stored AS (
      ${insertOf(events)} ON CONFLICT DO NOTHING
      RETURNING ${COUNTED_COLUMNS}
    ), arrived AS (${ofStored.arrivals}), counted AS (${ofStored.totals}), passed AS (${ofStored.traffic}), told AS (
      INSERT INTO changes (topic, event_ids) SELECT 'events', array_agg(id) FROM stored HAVING count(*) > 0
      RETURNING ${NOTIFY}
    ), noted AS (
      INSERT INTO events_to_follow_up (event_id)
      SELECT id FROM stored WHERE id = ANY (${noted}::uuid[])
    ), ${refuseDeleted(events.get('id') ?? '')}
    SELECT id, created_at AS at FROM stored`;
});

const hasKeys = (rows: readonly EventRow[]): boolean => rows.some(({ contentHash }) => contentHash !== null);

/** Events with a key may be sent to several processes at once: in one order, so that these wait but do not deadlock. */
const inLockOrder = (rows: readonly EventRow[]): readonly EventRow[] =>
  hasKeys(rows) ? [...rows].sort((a, b) => (a.id < b.id ? -1 : 1)) : rows;

/** The first and the last of the ids, by the order of time. */
const endsOf = (rows: readonly EventRow[]): (string | undefined)[] => {
  let [first, last] = [rows[0]?.id, rows[0]?.id];
  for (const { id } of rows) {
    if (first === undefined || id < first) first = id;
    if (last === undefined || id > last) last = id;
  }
  return [first, last];
};

/** The statement, waited for no longer than that. pg takes a time-out for each query, but its types do not name it. */
const within = (query: QueryConfig): QueryConfig =>
  ({ ...query, query_timeout: COMMIT_TIMEOUT_MS }) as QueryConfig;

const queryOf = <Input>({ name, text, valuesOf }: Statement<Input>, input: Input): QueryConfig =>
  within({ name, text, values: valuesOf(input) });

/** The content hashes of those of the events that a person deleted, by id. */
const findDeleted = async (
  client: Pick<KeptClient, 'query'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await client.query<{ event_id: string; content_hash: string }>(
    within({
      text: 'SELECT event_id, content_hash FROM deleted_events WHERE event_id = ANY($1::uuid[])',
      values: [ids],
    }),
  );
  return new Map(rows.map((row) => [row.event_id, row.content_hash]));
};

const INSERT_MISSING_ATTEMPTS = 3;
const NONE: ReadonlySet<string> = new Set();

/** What became of a group. */
export interface Inserted {
  /** The ids of those that were stored before, or that a person deleted since; they are left as they are. */
  readonly known: ReadonlySet<string>;
  /** When the others were stored; null when there are none, and when nothing follows from any of the group. */
  readonly at: Date | null;
}

/** Stores those of the events that are new. */
const insertMissing = async (
  client: KeptClient,
  rows: readonly EventRow[],
  followed: readonly EventRow[],
): Promise<Inserted> => {
  const known = new Set(rows.map(({ id }) => id));
  let left = rows;
  for (let attempt = 1; ; attempt++) {
    try {
      const { rows: stored } = await client.query<{ id: string; at: Date }>(
        queryOf(INSERT_MISSING, { rows: left, followed }),
      );
      for (const { id } of stored) known.delete(id);
      return { known, at: stored[0]?.at ?? null };
    } catch (error) {
      if (!isUniqueViolation(error) || attempt === INSERT_MISSING_ATTEMPTS) throw error;
      const deleted = await findDeleted(
        client,
        left.map(({ id }) => id),
      );
      left = left.filter(({ id }) => !deleted.has(id));
      if (left.length === 0) return { known, at: null };
    }
  }
};

/**
 * Stores a group of events and counts them, in one transaction.
 * @param followed those of the events from which more follows: they are noted to be followed up
 * @param expectsKnown whether some are likely to be stored already: the statement that allows for it is tried first
 */
export const insertEvents = async (
  client: KeptClient,
  rows: readonly EventRow[],
  followed: readonly EventRow[],
  expectsKnown: boolean,
): Promise<Inserted> => {
  const ordered = inLockOrder(rows);
  if (expectsKnown) return insertMissing(client, ordered, followed);
  const variants = INSERT_NEW[hasKeys(rows) ? 'keyed' : 'unkeyed'];
  const insert = followed.length === 0 ? variants.alone : variants.followed;
  const group = { rows: ordered, followed, counts: tally(ordered), ends: endsOf(rows) };
  try {
    const { rows: stored } = await client.query<{ at: Date }>(queryOf(insert, group));
    return { known: NONE, at: stored[0]?.at ?? null };
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
  }
  return insertMissing(client, ordered, followed);
};

/** The content hashes of those of the events that are stored, or that a person deleted, by id. */
export const findContentHashes = async (
  client: Pick<KeptClient, 'query'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> => {
  const { rows } = await client.query<{ id: string; content_hash: string | null }>(
    within({ text: 'SELECT id, content_hash FROM events WHERE id = ANY($1::uuid[])', values: [ids] }),
  );
  const stored = new Map(rows.map((row) => [row.id, row.content_hash]));
  // After the events, so that one that is deleted meanwhile is found here.
  const others = ids.filter((id) => !stored.has(id));
  if (others.length === 0) return stored;
  return new Map([...stored, ...(await findDeleted(client, others))]);
};
