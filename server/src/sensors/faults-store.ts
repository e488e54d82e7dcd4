import { worstFirst } from '@gantry/contract/fault-states';
import type { Fault, FaultDetail, ListFaultsInput, ReportFaultInput } from '@gantry/contract/faults';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { imageUrl } from '@gantry/device-formats/image';
import { type SQL, sql } from 'drizzle-orm';
import { findNames } from '../accounts/names-store.ts';
import { contains, hasTag } from '../platform/database/case-folded.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';

/** An expression for whether a sensor has a fault that is not repaired. @param sensorId the column with its id */
export function hasFault(sensorId: SQL): SQL {
  // Plan: faults_open once, hashed, and not for each sensor.
  return sql`(${sensorId} IN (SELECT open_fault.sensor_id FROM faults AS open_fault WHERE open_fault.state <> 'REPAIRED'))`;
}

/** An expression for the place of a sensor in the order "worst first", from 0 for the worst condition. */
export function worstRank(status: SQL, sensorId: SQL): SQL {
  const ranks = Object.fromEntries(worstFirst.map((each, rank) => [`${each.status} ${each.hasFault}`, rank]));
  return sql`(${JSON.stringify(ranks)}::jsonb ->> (${status} || ' ' || ${hasFault(sensorId)}::text))::integer`;
}

interface FaultRow extends Record<string, unknown> {
  readonly id: string;
  readonly sensorId: string;
  readonly sensorName: string;
  readonly place: string | null;
  readonly state: Fault['state'];
  readonly since: string;
  readonly reason: string | null;
  readonly foundAt: string;
  readonly text: string;
  readonly code: string | null;
  readonly ticket: string | null;
  readonly imageCount: number;
  readonly reportedBy: string;
  readonly updatedBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

const COLUMNS = sql.raw(`
  fault.id, fault.sensor_id AS "sensorId", coalesce(sensors.name, fault.sensor_name) AS "sensorName",
  locations.name AS place, fault.state, fault.since, fault.reason, fault.found_at AS "foundAt", fault.text, fault.code,
  fault.ticket, (SELECT count(*)::int FROM fault_images WHERE fault_id = fault.id) AS "imageCount", fault.reported_by AS "reportedBy", fault.updated_by AS "updatedBy", fault.created_at AS "createdAt",
  fault.updated_at AS "updatedAt", fault.version`);
const FROM = sql.raw(`
  faults AS fault LEFT JOIN sensors ON sensors.id = fault.sensor_id
    LEFT JOIN locations ON locations.id = sensors.location_id`);

async function toFaults(db: Executor, rows: readonly FaultRow[]): Promise<Fault[]> {
  const nameOf = await findNames(
    db,
    rows.map(({ reportedBy }) => reportedBy),
  );
  return rows.map(({ sensorId, sensorName, reportedBy, updatedBy: _, ...row }) => ({
    ...row,
    sensor: { id: sensorId, name: sensorName },
    since: new Date(row.since),
    foundAt: new Date(row.foundAt),
    createdAt: new Date(row.createdAt),
    updatedAt: new Date(row.updatedAt),
    reportedBy: nameOf(reportedBy) as Fault['reportedBy'],
  }));
}

async function selectFault(db: Executor, condition: SQL): Promise<FaultRow | undefined> {
  const { rows } = await db.execute<FaultRow>(sql`SELECT ${COLUMNS} FROM ${FROM} WHERE ${condition}`);
  return rows[0];
}

/** @throws AppError `notFound` */
export async function getFault(db: Executor, id: string): Promise<FaultDetail> {
  const row = isUuid(id) ? await selectFault(db, sql`fault.id = ${id}::uuid`) : undefined;
  if (!row) throw notFound('Fault');
  const [fault] = await toFaults(db, [row]);
  const { rows: changes } = await db.execute<{
    state: Fault['state'];
    at: string;
    userId: string;
    reason: string | null;
  }>(sql`
    SELECT state, at, user_id AS "userId", reason FROM fault_changes WHERE fault_id = ${row.id}::uuid ORDER BY id`);
  const { rows: attached } = await db.execute<{ sha256: string; at: string; userId: string }>(sql`
    SELECT encode(sha256, 'hex') AS sha256, at, user_id AS "userId" FROM fault_images
    WHERE fault_id = ${row.id}::uuid ORDER BY number`);
  const nameOf = await findNames(
    db,
    [...changes, ...attached].map(({ userId }) => userId),
  );
  const images = attached.map(({ sha256, userId, at }) => ({
    ...{ address: imageUrl(sha256), at: new Date(at), by: nameOf(userId) as Fault['reportedBy'] },
  }));
  const history = changes.map(({ userId, at, ...change }) => ({
    ...change,
    at: new Date(at),
    by: nameOf(userId) as Fault['reportedBy'],
  }));
  return { ...(fault as Fault), history, images };
}

/** What a change of a fault depends on. */
export interface LockedFault {
  readonly id: string;
  readonly sensorId: string;
  readonly state: Fault['state'];
  readonly since: Date;
  readonly version: number;
  /** Who changed it last, and who changed its state last. */
  readonly updatedBy: string;
  readonly updatedAt: Date;
  readonly setBy: string;
}

/** Locks a fault until the transaction ends. @throws AppError `notFound` */
export async function lockFault(tx: Transaction, id: string): Promise<LockedFault> {
  const { rows } = isUuid(id)
    ? await tx.execute<Omit<LockedFault, 'since' | 'updatedAt'> & Record<'since' | 'updatedAt', string>>(sql`
        SELECT id, sensor_id AS "sensorId", state, since, version, updated_by AS "updatedBy", updated_at AS "updatedAt"
        FROM faults WHERE id = ${id}::uuid FOR NO KEY UPDATE`)
    : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound('Fault');
  const { rows: last } = await tx.execute<{ userId: string }>(sql`
    SELECT user_id AS "userId" FROM fault_changes WHERE fault_id = ${row.id}::uuid ORDER BY id DESC LIMIT 1`);
  return {
    ...row,
    since: new Date(row.since),
    updatedAt: new Date(row.updatedAt),
    setBy: last[0]?.userId ?? row.updatedBy,
  };
}

/** The number of faults of a sensor that are not repaired. */
export async function countOpenFaults(tx: Transaction, sensorId: string): Promise<number> {
  const { rows } = await tx.execute<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM faults WHERE sensor_id = ${sensorId}::uuid AND state <> 'REPAIRED'`,
  );
  return rows[0]?.n ?? 0;
}

/** The fault with a code of a sensor that is not repaired, with who reported it. */
export async function findOpenByCode(
  db: Executor,
  sensorId: string,
  code: string,
): Promise<Fault | undefined> {
  const row = await selectFault(
    db,
    sql`fault.sensor_id = ${sensorId}::uuid AND fault.state <> 'REPAIRED' AND gantry_fold(fault.code) = gantry_fold(${code})`,
  );
  return row && (await toFaults(db, [row]))[0];
}

/** The fault that a user reported with an idempotency key. */
export async function findByKey(db: Executor, userId: string, key: string): Promise<Fault | undefined> {
  const row = await selectFault(
    db,
    sql`fault.reported_by = ${userId}::uuid AND fault.idempotency_key = ${key}`,
  );
  return row && (await toFaults(db, [row]))[0];
}

/** What is stored of a new fault. */
export interface NewFault extends Pick<ReportFaultInput, 'text' | 'code' | 'ticket' | 'idempotencyKey'> {
  readonly sensorId: string;
  readonly sensorName: string;
  readonly userId: string;
  /** Unix milliseconds; null: now. */
  readonly foundAt: number | null;
}

/**
 * Adds a fault, FOUND.
 * @returns its id; null if its user has used the idempotency key already, or the sensor has an open fault with the code
 */
export async function insertFault(tx: Transaction, fault: NewFault): Promise<string | null> {
  const { sensorId, sensorName, userId, foundAt, text, code, ticket, idempotencyKey = null } = fault;
  const { rows } = await tx.execute<{ id: string }>(sql`
    WITH added AS (
      INSERT INTO faults (sensor_id, sensor_name, found_at, reported_by, updated_by, text, code, ticket, idempotency_key)
      VALUES (${sensorId}::uuid, ${sensorName}, ${foundAt === null ? sql`now()` : moment(foundAt)}, ${userId}::uuid,
        ${userId}::uuid, ${text}, ${code}, ${ticket}, ${idempotencyKey})
      ON CONFLICT DO NOTHING RETURNING id, state, since
    ), recorded AS (
      INSERT INTO fault_changes (fault_id, state, at, user_id) SELECT id, state, since, ${userId}::uuid FROM added
    )
    SELECT id FROM added`);
  return rows[0]?.id ?? null;
}

/** What changes of a fault; undefined: it stays. */
export interface FaultChanges {
  readonly state?: Fault['state'] | undefined;
  readonly reason: string | null;
  readonly text?: string | undefined;
  readonly code?: string | null | undefined;
  readonly ticket?: string | null | undefined;
}

/** Changes a fault that the transaction has locked. PostgreSQL refuses a code that another open fault has (23505). */
export async function updateFaultRow(
  tx: Transaction,
  id: string,
  { state, reason, ...fields }: FaultChanges,
  userId: string,
): Promise<void> {
  const set = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => sql`${sql.identifier(name)} = ${value}, `);
  const turned =
    state === undefined
      ? sql``
      : sql`state = ${state}, reason = ${reason}, since = greatest(clock_timestamp(), since), `;
  await tx.execute(sql`
    WITH changed AS (
      UPDATE faults SET ${sql.join(set)}${turned}version = version + 1, updated_by = ${userId}::uuid,
        updated_at = greatest(clock_timestamp(), updated_at)
      WHERE id = ${id}::uuid RETURNING id, state, since, reason
    )
    INSERT INTO fault_changes (fault_id, state, at, user_id, reason)
    SELECT id, state, since, ${userId}::uuid, reason FROM changed WHERE ${state !== undefined}`);
}

/** Ends the open faults of a sensor that is being deleted. @returns their ids */
export async function endFaults(
  tx: Executor,
  sensorId: string,
  reason: string,
  userId: string,
): Promise<string[]> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    WITH ended AS (
      UPDATE faults SET state = 'REPAIRED', reason = ${reason}, since = greatest(clock_timestamp(), since),
        version = version + 1, updated_by = ${userId}::uuid, updated_at = greatest(clock_timestamp(), updated_at)
      WHERE sensor_id = ${sensorId}::uuid AND state <> 'REPAIRED' RETURNING id, state, since, reason
    ), recorded AS (
      INSERT INTO fault_changes (fault_id, state, at, user_id, reason)
      SELECT id, state, since, ${userId}::uuid, reason FROM ended
    )
    SELECT id FROM ended`);
  return rows.map(({ id }) => id);
}

/**
 * Attaches images, which are stored already, to a fault that the transaction has locked or added; those that it has stay as they are.
 * @returns how many it has then
 */
export async function attachToFault(
  tx: Transaction,
  faultId: string,
  hashes: readonly string[],
  userId: string,
): Promise<number> {
  await tx.execute(sql`
    INSERT INTO fault_images (fault_id, sha256, number, user_id)
    SELECT ${faultId}::uuid, decode(hex, 'hex'),
      n + (SELECT coalesce(max(number), 0) FROM fault_images WHERE fault_id = ${faultId}::uuid), ${userId}::uuid
    FROM unnest(${sql.param([...hashes])}::text[]) WITH ORDINALITY AS given (hex, n)
    ON CONFLICT (fault_id, sha256) DO NOTHING`);
  const { rows } = await tx.execute<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM fault_images WHERE fault_id = ${faultId}::uuid`,
  );
  return rows[0]?.n ?? 0;
}

function conditionsOf({ sensorId, locationId, tag, state, open, search }: ListFaultsInput): SQL {
  const isId = (column: SQL, id: string) => (isUuid(id) ? sql`${column} = ${id}::uuid` : sql`false`);
  const conditions = [
    sql`true`,
    ...(sensorId === undefined ? [] : [isId(sql`fault.sensor_id`, sensorId)]),
    ...(locationId === undefined ? [] : [isId(sql`sensors.location_id`, locationId)]),
    ...(tag === undefined ? [] : [hasTag(sql`sensors.tags`, tag)]),
    ...(state === undefined ? [] : [sql`fault.state = ${state}`]),
    ...(open === undefined ? [] : [open ? sql`fault.state <> 'REPAIRED'` : sql`fault.state = 'REPAIRED'`]),
    ...(search === undefined
      ? []
      : [
          sql`(${sql.join(
            ['fault.text', 'fault.code', 'fault.ticket', 'coalesce(sensors.name, fault.sensor_name)'].map(
              (column) => contains(sql.raw(column), search),
            ),
            sql` OR `,
          )})`,
        ]),
  ];
  return sql.join(conditions, sql` AND `);
}

/** A page of the faults that meet the filters. */
export async function listFaults(db: Executor, input: ListFaultsInput): Promise<Page<Fault>> {
  const wanted = conditionsOf(input);
  const key = sql.raw(input.sortBy === 'since' ? 'fault.since' : 'fault.found_at');
  const direction = sql.raw(input.sortOrder === 'asc' ? 'ASC' : 'DESC');
  const { rows } = await db.execute<FaultRow>(sql`
    SELECT ${COLUMNS} FROM ${FROM} WHERE ${wanted}
    ORDER BY ${key} ${direction}, fault.id ${direction} LIMIT ${input.take} OFFSET ${input.skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM ${FROM} WHERE ${wanted}`,
  );
  return { items: await toFaults(db, rows), total: counted[0]?.total ?? 0 };
}

/** A fault that is not repaired, in short. */
export type OpenFault = Pick<Fault, 'id' | 'state' | 'since' | 'foundAt' | 'text' | 'code' | 'ticket'>;

/** The open faults of sensors, those that were found first before the others. */
export async function listOpenFaults(
  db: Executor,
  sensorIds: readonly string[],
): Promise<ReadonlyMap<string, readonly OpenFault[]>> {
  const { rows } = await db.execute<FaultRow>(sql`
    SELECT sensor_id AS "sensorId", id, state, since, found_at AS "foundAt", text, code, ticket FROM faults
    WHERE state <> 'REPAIRED' AND sensor_id = ANY (${sql.param([...sensorIds])}::uuid[]) ORDER BY found_at, id`);
  const bySensor = new Map<string, OpenFault[]>();
  for (const { sensorId, id, state, since, foundAt, text, code, ticket } of rows) {
    const fault = { id, state, since: new Date(since), foundAt: new Date(foundAt), text, code, ticket };
    bySensor.set(sensorId, [...(bySensor.get(sensorId) ?? []), fault]);
  }
  return bySensor;
}
