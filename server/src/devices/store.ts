import type {
  Connection,
  ConnectionOptions,
  ListConnectionsInput,
  MessageStatus,
} from '@gantry/contract/connections';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import type { FormatName } from '@gantry/device-formats/format';
import { type SQL, sql } from 'drizzle-orm';
import { timeOfUpdate } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import type { StoredSecrets } from './secrets.ts';

/** A connection as it is kept in memory. Hashes are hexadecimal. */
export interface KnownConnection {
  readonly id: string;
  readonly sensorId: string;
  readonly format: FormatName;
  readonly timeZone: string | null;
  readonly options: ConnectionOptions;
  readonly username: string;
  readonly tokenHash: string;
  readonly passwordHash: string;
  readonly digestMd5: string;
  readonly digestSha256: string;
  readonly signingKey: string | null;
}

const KNOWN = sql.raw(`id, sensor_id AS "sensorId", format, time_zone AS "timeZone", options, username,
  encode(token_hash, 'hex') AS "tokenHash", encode(password_hash, 'hex') AS "passwordHash",
  encode(digest_md5, 'hex') AS "digestMd5", encode(digest_sha256, 'hex') AS "digestSha256",
  signing_key AS "signingKey"`);

type KnownRow = { [Field in keyof KnownConnection]: KnownConnection[Field] };

/** All connections that are not deleted. */
export async function listKnownConnections(db: Executor): Promise<KnownConnection[]> {
  const { rows } = await db.execute<KnownRow>(sql`SELECT ${KNOWN} FROM connections WHERE deleted_at IS NULL`);
  return rows;
}

/** The connection with the token of this hash; null when there is none. */
export function findByTokenHash(db: Executor, tokenHash: Buffer): Promise<KnownConnection | null> {
  return findKnown(db, sql`token_hash = ${tokenHash}`);
}

/** The connection with the user name; null when there is none. */
export function findByUsername(db: Executor, username: string): Promise<KnownConnection | null> {
  return findKnown(db, sql`username = ${username}`);
}

/** The connection with the id; null when there is none. */
export async function findConnection(db: Executor, id: string): Promise<KnownConnection | null> {
  return isUuid(id) ? findKnown(db, sql`id = ${id}::uuid`) : null;
}

async function findKnown(db: Executor, wanted: SQL): Promise<KnownConnection | null> {
  const { rows } = await db.execute<KnownRow>(
    sql`SELECT ${KNOWN} FROM connections WHERE deleted_at IS NULL AND ${wanted}`,
  );
  return rows[0] ?? null;
}

interface ListedRow extends Record<string, unknown> {
  id: string;
  sensor_id: string;
  device_id: string | null;
  format: FormatName;
  time_zone: string | null;
  options: ConnectionOptions;
  username: string;
  created_at: string;
  updated_at: string;
  last_at: string | null;
  last_status: MessageStatus | null;
  limited_messages: number;
  limited_at: string | null;
  lost_messages: number;
  lost_at: string | null;
}

// Plan: the last message of each connection is read from the index on the messages of a connection.
const LISTED =
  sql.raw(`connections.id, sensor_id, format, time_zone, options, username, created_at, updated_at,
  (SELECT device_id FROM sensors WHERE sensors.id = connections.sensor_id) AS device_id,
  limited_messages, limited_at, lost_messages, lost_at, last.received_at AS last_at, last.status AS last_status
  FROM connections LEFT JOIN LATERAL (
    SELECT received_at, status FROM device_messages WHERE connection_id = connections.id ORDER BY id DESC LIMIT 1
  ) AS last ON true`);

/** A connection as it is listed, with the device ID of its sensor. */
export type ListedConnection = Omit<Connection, 'topicsWarning'> & { readonly deviceId: string };

function asConnection(row: ListedRow): ListedConnection {
  return {
    deviceId: row.device_id ?? '',
    id: row.id,
    sensorId: row.sensor_id,
    format: row.format,
    timeZone: row.time_zone,
    options: row.options,
    username: row.username,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
    lastMessageAt: row.last_at === null ? null : new Date(row.last_at),
    lastMessageStatus: row.last_status,
    limitedMessages: row.limited_messages,
    lastLimitedAt: row.limited_at === null ? null : new Date(row.limited_at),
    lostMessages: row.lost_messages,
    lastLostAt: row.lost_at === null ? null : new Date(row.lost_at),
  };
}

/** Connections, the oldest first. */
export async function listConnections(
  db: Executor,
  { sensorId, format, skip, take }: ListConnectionsInput,
): Promise<Page<ListedConnection>> {
  if (sensorId !== undefined && !isUuid(sensorId)) return { items: [], total: 0 };
  const wanted = sql`deleted_at IS NULL
    AND ${sensorId === undefined ? sql`true` : sql`sensor_id = ${sensorId}::uuid`}
    AND ${format === undefined ? sql`true` : sql`format = ${format}`}`;
  const { rows } = await db.execute<ListedRow>(
    sql`SELECT ${LISTED} WHERE ${wanted} ORDER BY created_at, connections.id LIMIT ${take} OFFSET ${skip}`,
  );
  const counted = await db.execute<{ n: number }>(sql`SELECT count(*) AS n FROM connections WHERE ${wanted}`);
  return { items: rows.map(asConnection), total: counted.rows[0]?.n ?? 0 };
}

/** @throws AppError `notFound` */
export async function getConnection(db: Executor, id: string): Promise<ListedConnection> {
  const { rows } = isUuid(id)
    ? await db.execute<ListedRow>(
        sql`SELECT ${LISTED} WHERE deleted_at IS NULL AND connections.id = ${id}::uuid`,
      )
    : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound('Connection');
  return asConnection(row);
}

/** The fields of a connection to store. */
export interface NewConnection {
  readonly sensorId: string;
  readonly format: FormatName;
  readonly timeZone: string | null;
  readonly options: ConnectionOptions;
  readonly secrets: StoredSecrets;
}

/** Inserts a connection. @returns its id */
export async function insertConnection(
  tx: Executor,
  { sensorId, format, timeZone, options, secrets }: NewConnection,
): Promise<string> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    INSERT INTO connections
      (sensor_id, format, time_zone, options, username, token_hash, password_hash, digest_md5, digest_sha256, signing_key)
    VALUES (${sensorId}::uuid, ${format}, ${timeZone}, ${JSON.stringify(options)}::jsonb, ${secrets.username},
      ${secrets.tokenHash}, ${secrets.passwordHash}, ${secrets.digestMd5}, ${secrets.digestSha256},
      ${secrets.signingKey})
    RETURNING id`);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL did not return the inserted connection');
  return row.id;
}

/** A connection that a transaction has locked. */
export interface LockedConnection extends KnownConnection {
  /** Unix milliseconds */
  readonly updatedAt: number;
}

/** Locks a connection until the transaction ends. @throws AppError `notFound` */
export async function lockConnection(tx: Executor, id: string): Promise<LockedConnection> {
  const { rows } = isUuid(id)
    ? await tx.execute<KnownRow & { updated_at: string }>(sql`
        SELECT ${KNOWN}, updated_at FROM connections WHERE deleted_at IS NULL AND id = ${id}::uuid
        FOR NO KEY UPDATE`)
    : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound('Connection');
  const { updated_at, ...known } = row;
  return { ...known, updatedAt: new Date(updated_at).getTime() };
}

/** Sets how messages of the connection are read. */
export async function updateConnectionRow(
  tx: Executor,
  id: string,
  { timeZone, options }: { readonly timeZone: string | null; readonly options: ConnectionOptions },
): Promise<void> {
  await tx.execute(sql`
    UPDATE connections SET time_zone = ${timeZone}, options = ${JSON.stringify(options)}::jsonb,
      updated_at = ${timeOfUpdate()}
    WHERE id = ${id}::uuid`);
}

/** Replaces the secrets of a connection; the previous ones become invalid. */
export async function replaceSecrets(tx: Executor, id: string, secrets: StoredSecrets): Promise<void> {
  await tx.execute(sql`
    UPDATE connections SET token_hash = ${secrets.tokenHash}, password_hash = ${secrets.passwordHash},
      digest_md5 = ${secrets.digestMd5}, digest_sha256 = ${secrets.digestSha256},
      signing_key = ${secrets.signingKey}, updated_at = ${timeOfUpdate()}
    WHERE id = ${id}::uuid`);
}

/** Marks a connection as deleted. `removeOldDeviceData` removes its messages later. */
export async function markDeleted(tx: Executor, id: string): Promise<void> {
  await tx.execute(sql`
    UPDATE connections SET deleted_at = now(), signing_key = NULL WHERE id = ${id}::uuid AND deleted_at IS NULL`);
}

/** Records that a counter was used with a nonce. @returns false if it, or a higher one, was used before */
export async function useNonce(
  db: Executor,
  nonce: string,
  counter: number,
  expiresAt: Date,
): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    INSERT INTO digest_nonces AS known (nonce, used, expires_at)
    VALUES (${nonce}, ${counter}, ${expiresAt.toISOString()}::timestamptz)
    ON CONFLICT (nonce) DO UPDATE SET used = excluded.used WHERE known.used < excluded.used`);
  return (rowCount ?? 0) > 0;
}

/** Removes nonces that cannot be used any more. @returns their number */
export async function removeExpiredNonces(db: Executor, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM digest_nonces WHERE nonce IN (
      SELECT nonce FROM digest_nonces WHERE expires_at < now() ORDER BY expires_at LIMIT ${most})`);
  return rowCount ?? 0;
}
