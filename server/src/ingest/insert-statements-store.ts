import { HOUR_MS } from '@gantry/contract/durations';
import { COUNTED_COLUMNS, countingOf, UNFOLDED } from '../events/counts/counting.ts';
import type { EventRow } from '../events/event-row.ts';
import { passageColumns } from '../events/passage-columns.ts';
import {
  type Column,
  double,
  json,
  namesOf,
  rowsOf,
  smallint,
  text,
  uuid,
  uuidArray,
} from '../platform/database/arrays.ts';

/** The number of events of a group that have the same hour and the same keys of the totals. */
interface Count {
  /** The hour in UTC, in seconds since 1970. */
  readonly hour: number;
  readonly of: EventRow;
  n: number;
}

/** Counts a group of new events by the keys of `event_totals`. */
export function tally(rows: readonly EventRow[]): Count[] {
  const counts = new Map<string, Count>();
  for (const row of rows) {
    const hour = Math.floor(row.time / HOUR_MS);
    const violationType = row.violationType ?? '';
    // Devices send any text as a type, also "null" and line breaks: the length says where the first type ends.
    const types = `${violationType.length}\n${violationType}${row.vehicleType ?? ''}`;
    const key = `${hour}\n${row.eventType}\n${row.severity}\n${types}`;
    const known = counts.get(key);
    if (known) known.n++;
    else counts.set(key, { hour: hour * 3_600, of: row, n: 1 });
  }
  return [...counts.values()];
}

/** The parameters of a statement whose text is built once and run often. */
interface Parameters<Input> {
  /**
   * Adds a parameter.
   * @param value computes its value for one run
   * @returns the reference for the text of the statement: `$1`, `$2`, …
   */
  add(value: (input: Input) => unknown): string;
  /** The values for one run, in order. */
  valuesOf(input: Input): unknown[];
}

/** Numbers the parameters of a statement in the order in which they are added. */
export function createParameters<Input>(): Parameters<Input> {
  const values: ((input: Input) => unknown)[] = [];
  return {
    add: (value) => `$${values.push(value)}`,
    valuesOf: (input) => values.map((value) => value(input)),
  };
}

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

/** A group of events as input of the statements that store it. */
interface Group {
  readonly rows: readonly EventRow[];
  /** Those of the events that must be followed up. */
  readonly followed: readonly EventRow[];
}

/** How another module stores rows of its own with events, by the statement that stores the events. */
export interface CompanionRows<Row> {
  /** Part of the name of the statement. */
  readonly name: string;
  /**
   * Common table expressions that insert the rows. The statement fails if one of them is stored already.
   * @param add as in `Parameters`
   */
  readonly inserting: (add: (encode: (rows: readonly Row[]) => unknown) => string) => readonly string[];
}

/** A row that is stored in the transaction of an event, or not at all. */
export interface Companion {
  /** How rows of its type are stored. */
  readonly rows: CompanionRows<never>;
  readonly row: unknown;
}

/** A group without stored events, so that its contribution to the counts is known. */
interface NewGroup extends Group {
  readonly companions: readonly never[];
  readonly counts: readonly Count[];
  /** The smallest and the largest id, which are in the order of time. */
  readonly ends: readonly (string | undefined)[];
}

/** A statement whose text is built once; a connection parses it on first use. */
export interface Statement<Input> {
  readonly name: string;
  readonly text: string;
  readonly valuesOf: (input: Input) => unknown[];
}

function statement<Input>(name: string, write: (add: Parameters<Input>['add']) => string): Statement<Input> {
  const { add, valuesOf } = createParameters<Input>();
  return { name, text: write(add), valuesOf };
}

function idsOf(rows: readonly EventRow[]): Buffer {
  return uuidArray(rows, ({ id }) => id);
}

/** The events as they are inserted. */
interface Inserting {
  /** The parameter of each column, by its name. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly insert: string;
}

/** Adds the columns of the events as parameters. @param passing whether to add how vehicles passed */
function addEvents(add: Parameters<Group>['add'], passing: boolean): Inserting {
  const columns = passing ? [...eventColumns, ...passageColumns] : eventColumns;
  const parameters = new Map(columns.map(({ name, encode }) => [name, add(({ rows }) => encode(rows))]));
  return {
    parameters,
    insert: `INSERT INTO events (${namesOf(columns)}) ${rowsOf(columns, [...parameters.values()])}`,
  };
}

// Prevents events that a user deleted from being stored again. Inserting the record of a deletion a second time
// violates its key, and a statement that writes to that table waits for deletions in progress before it takes its
// snapshot (events/remove-store.ts).
function refuseDeleted(ids: string): string {
  return `deleted AS (
      INSERT INTO deleted_events (event_id, content_hash)
      SELECT event_id, content_hash FROM deleted_events WHERE event_id = ANY (${ids})
    )`;
}

/** The array of a column for `traffic_unfolded`, whose readers look for passages only where there are any. */
function arrayOf(column: string, parameter: string | undefined): string | undefined {
  return column === 'passage_id'
    ? `CASE WHEN array_remove(${parameter}::text[], NULL) <> '{}' THEN ${parameter}::text[] END`
    : parameter;
}

interface Variant {
  /** Whether any of the events has an idempotency key. */
  readonly keyed: boolean;
  /** Whether any must be followed up; the statement then returns the time at which the events were stored. */
  readonly followed: boolean;
  /** Whether any says how its vehicle passed; other groups are stored without the columns for that. */
  readonly passing: boolean;
  /** What is stored with the events; null for nothing. */
  readonly companions: CompanionRows<never> | null;
}

// The common case: no event of the group is stored yet, so its contribution to the totals is known beforehand. One
// statement, so one round trip and one commit for the whole group: 40 µs an event in groups of 60, half of it for
// indexes.
function insertNew(name: string, { keyed, followed, passing, companions }: Variant): Statement<NewGroup> {
  return statement(name, (add) => {
    const { parameters, insert } = addEvents(add, passing);
    const ids = parameters.get('id') ?? '';
    const count = add(({ rows }) => rows.length);
    const counts = countColumns.map(({ encode }) => add((group) => encode(group.counts)));
    const passed = UNFOLDED.filter(({ of }) => parameters.has(of));
    const ends = [add(({ ends }) => ends[0]), add(({ ends }) => ends[1])];
    const parts = [
      `stored AS (${insert})`,
      `arrived AS (INSERT INTO event_arrivals (hour, n) SELECT date_trunc('hour', now()::timestamptz(3), 'UTC'), ${count})`,
      `recorded AS (INSERT INTO changes (topic, event_ids) VALUES ('events', ${ids}))`,
      `passed AS (
        INSERT INTO traffic_unfolded (${passed.map(({ as }) => as).join(', ')}, first_id, last_id)
        VALUES (${[...passed.map(({ of }) => arrayOf(of, parameters.get(of))), ...ends].join(', ')})
      )`,
      ...(keyed ? [refuseDeleted(ids)] : []),
      ...(companions?.inserting((encode) => add((group) => encode(group.companions))) ?? []),
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
}

const built = new Map<string, Statement<NewGroup>>();

/** The statement for new events. */
export function insertNewOf(variant: Variant): Statement<NewGroup> {
  const { keyed, followed, passing, companions } = variant;
  const name = [
    'insert-new',
    ...(keyed ? ['keyed'] : []),
    ...(passing ? ['passing'] : []),
    'events',
    ...(followed ? ['followed'] : []),
    ...(companions ? ['with', companions.name] : []),
  ].join('-');
  const insert = built.get(name) ?? insertNew(name, variant);
  built.set(name, insert);
  return insert;
}

const ofStored = countingOf('stored', 1);

// The other case: some events have an idempotency key that was used before. Only new events are counted.
export const INSERT_MISSING = statement<Group>('insert-missing-events', (add) => {
  const { parameters, insert } = addEvents(add, true);
  const noted = add(({ followed }) => idsOf(followed));
  return `
    WITH stored AS (
      ${insert} ON CONFLICT DO NOTHING
      RETURNING ${COUNTED_COLUMNS}
    ), arrived AS (${ofStored.arrivals}), counted AS (${ofStored.totals}), passed AS (${ofStored.traffic}), recorded AS (
      INSERT INTO changes (topic, event_ids) SELECT 'events', array_agg(id) FROM stored HAVING count(*) > 0
    ), noted AS (
      INSERT INTO events_to_follow_up (event_id)
      SELECT id FROM stored WHERE id = ANY (${noted}::uuid[])
    ), ${refuseDeleted(parameters.get('id') ?? '')}
    SELECT id, created_at AS at FROM stored`;
});
