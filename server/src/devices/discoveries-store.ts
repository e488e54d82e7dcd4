import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { sql } from 'drizzle-orm';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';

/** A device of an NVR that is not assigned to a sensor. */
export interface Discovered {
  readonly id: string;
  readonly connectionId: string;
  readonly device: string;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly messages: number;
}

interface Row extends Record<string, unknown> {
  id: string;
  connection_id: string;
  device: string;
  first_seen: string;
  last_seen: string;
  messages: number;
}

const COLUMNS = sql.raw(
  'found.id, found.connection_id, found.device, found.first_seen, found.last_seen, found.messages',
);
const FOUND = sql.raw(`device_discoveries AS found JOIN connections
  ON connections.id = found.connection_id AND connections.deleted_at IS NULL`);

function asDiscovered(row: Row): Discovered {
  return {
    id: row.id,
    connectionId: row.connection_id,
    device: row.device,
    firstSeen: new Date(row.first_seen),
    lastSeen: new Date(row.last_seen),
    messages: row.messages,
  };
}

/** Devices that are not assigned to a sensor, the most recently seen first. */
export async function listDiscoveries(
  db: Executor,
  { connectionId, skip, take }: { connectionId?: string | undefined; skip: number; take: number },
): Promise<Page<Discovered>> {
  if (connectionId !== undefined && !isUuid(connectionId)) return { items: [], total: 0 };
  const wanted = connectionId === undefined ? sql`true` : sql`found.connection_id = ${connectionId}::uuid`;
  const { rows } = await db.execute<Row>(sql`
    SELECT ${COLUMNS} FROM ${FOUND} WHERE ${wanted} ORDER BY found.last_seen DESC, found.id
    LIMIT ${take} OFFSET ${skip}`);
  const counted = await db.execute<{ n: number }>(sql`SELECT count(*) AS n FROM ${FOUND} WHERE ${wanted}`);
  return { items: rows.map(asDiscovered), total: counted.rows[0]?.n ?? 0 };
}

/** @throws AppError `notFound` */
export async function getDiscovery(db: Executor, id: string): Promise<Discovered> {
  const { rows } = isUuid(id)
    ? await db.execute<Row>(sql`SELECT ${COLUMNS} FROM ${FOUND} WHERE found.id = ${id}::uuid`)
    : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound('Discovery');
  return asDiscovered(row);
}

/**
 * Removes the discoveries of a device that is assigned to a sensor now.
 * @returns the names under which it was listed, which may differ in case and in leading and trailing blanks; none if
 * somebody else has assigned it
 */
export async function forgetDiscoveries(
  tx: Executor,
  connectionId: string,
  device: string,
): Promise<string[]> {
  const { rows } = await tx.execute<{ device: string }>(sql`
    DELETE FROM device_discoveries WHERE connection_id = ${connectionId}::uuid
      AND lower(btrim(device)) = lower(btrim(${device}))
    RETURNING device`);
  return rows.map((row) => row.device);
}

/** Notes a device of an NVR that is not assigned to a sensor. */
export async function noteDiscovery(
  db: Executor,
  { connectionId, device, at }: { connectionId: string; device: string; at: number },
): Promise<void> {
  await db.execute(sql`
    INSERT INTO device_discoveries AS known (connection_id, device, first_seen, last_seen)
    VALUES (${connectionId}::uuid, ${device}, to_timestamp(${at / 1_000}::float8), to_timestamp(${at / 1_000}::float8))
    ON CONFLICT (connection_id, device) DO UPDATE SET messages = known.messages + 1,
      last_seen = greatest(known.last_seen, excluded.last_seen)`);
}
