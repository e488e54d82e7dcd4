import { sql } from 'drizzle-orm';
import { type Column, double, namesOf, rowsOf, text, uuid } from '../platform/database/arrays.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, WITHOUT_WAITING } from '../platform/database/transaction.ts';

/** The first report with a key, which decides on the time of its event. */
export interface ReportTime {
  readonly connectionId: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly keyHash: string;
  /** Unix milliseconds; null when the time of receipt counts. */
  readonly believedAt: number | null;
  /** Unix milliseconds */
  readonly receivedAt: number;
}

/** The first report with a key, and whether it was recorded before. */
export interface FirstReport extends ReportTime {
  readonly isKnown: boolean;
}

const reportColumns: readonly Column<ReportTime>[] = [
  uuid('connection_id', ({ connectionId }) => connectionId),
  { ...text<ReportTime>('key_hash', ({ keyHash }) => keyHash), as: `decode(key_hash, 'hex')` },
  double(
    'believed_at',
    ({ believedAt }) => (believedAt === null ? null : believedAt / 1_000),
    'to_timestamp(believed_at)',
  ),
  double('received_at', ({ receivedAt }) => receivedAt / 1_000, 'to_timestamp(received_at)'),
];

const TIMES = `connection_id AS "connectionId", encode(key_hash, 'hex') AS "keyHash",
    extract(epoch FROM believed_at)::float8 * 1000 AS "believedAt",
    extract(epoch FROM received_at)::float8 * 1000 AS "receivedAt"`;

// The commit does not wait for the disk: that of an event, which comes later, includes it.
// Most reports of a snapshot that is sent every minute are known, and write nothing. The update changes nothing either: its
// purpose is that the row of a first report that another process records at the same time is returned.
const FIRST_REPORTS = `
  WITH given (${namesOf(reportColumns)}) AS MATERIALIZED (${rowsOf(
    reportColumns,
    reportColumns.map((_, index) => `$${index + 1}`),
  )}), known AS MATERIALIZED (
    SELECT device_reports.* FROM given JOIN device_reports USING (connection_id, key_hash)
  ), recorded AS (
    INSERT INTO device_reports AS first (${namesOf(reportColumns)})
    SELECT given.* FROM given
    WHERE NOT EXISTS (
      SELECT FROM known WHERE known.connection_id = given.connection_id AND known.key_hash = given.key_hash)
    ORDER BY 1, 2
    ON CONFLICT (connection_id, key_hash) DO UPDATE SET received_at = first.received_at
    RETURNING *
  )
  SELECT ${TIMES}, true AS "isKnown", ${WITHOUT_WAITING} FROM known
  UNION ALL SELECT ${TIMES}, false, ${WITHOUT_WAITING} FROM recorded`;

/**
 * The common table expression that records reports, each with a key that was not used before.
 * @param add adds the parameter of a column
 */
export function recordingReports(
  add: (encode: (reports: readonly ReportTime[]) => Buffer) => string,
): string {
  const parameters = reportColumns.map(({ encode }) => add(encode));
  return `recorded_reports AS (
      INSERT INTO device_reports (${namesOf(reportColumns)}) ${rowsOf(reportColumns, parameters)} ORDER BY 1, 2)`;
}

/** Records reports that are the first with their key. @returns the first report of each key, in the order given */
export async function firstReports(db: Database, reports: readonly ReportTime[]): Promise<FirstReport[]> {
  const keyOf = ({ connectionId, keyHash }: ReportTime): string => `${connectionId} ${keyHash}`;
  const unique = [...new Map([...reports].reverse().map((report) => [keyOf(report), report])).values()];
  const { rows } = await db.$client.query<FirstReport>({
    name: 'first-device-reports',
    text: FIRST_REPORTS,
    values: reportColumns.map(({ encode }) => encode(unique)),
  });
  const first = new Map(
    rows.map(({ connectionId, keyHash, believedAt, receivedAt, isKnown }) => {
      const report = {
        connectionId,
        keyHash,
        believedAt: believedAt === null ? null : Math.round(believedAt),
        receivedAt: Math.round(receivedAt),
        isKnown,
      };
      return [keyOf(report), report];
    }),
  );
  return reports.map((report) => first.get(keyOf(report)) ?? { ...report, isKnown: false });
}

/** A report without a key of its maker. */
export interface UnkeyedReport extends Omit<ReportTime, 'keyHash'> {
  /** SHA-256 of the whole message and the position of the report in it, hexadecimal. */
  readonly bodyHash: string;
  /** Within how many milliseconds, before or after it, the same body is the same report. */
  readonly windowMs: number;
}

/**
 * Number of bytes of the hash of the body in a key. The time of receipt follows, so that a range of times is a range of
 * keys.
 */
const HASH_BYTES = 24;

/** Returns the first report with the same body within the window. If there is none, records this one and returns it. */
export async function firstRepetition(
  db: Database,
  report: UnkeyedReport,
): Promise<Omit<ReportTime, 'keyHash'>> {
  const { connectionId, bodyHash, believedAt, receivedAt, windowMs } = report;
  const hash = bodyHash.slice(0, 2 * HASH_BYTES);
  const keyAt = (time: number) => sql`decode(${`${hash}${time.toString(16).padStart(16, '0')}`}, 'hex')`;
  return inTransaction(db, async (tx) => {
    // The same message may be read by two processes at the same time.
    await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${connectionId} ${hash}`}, 0))`);
    const { rows } = await tx.execute<{ believed_at: number | null; received_at: number }>(sql`
      SELECT extract(epoch FROM believed_at)::float8 * 1000 AS believed_at,
        extract(epoch FROM received_at)::float8 * 1000 AS received_at
      FROM device_reports WHERE connection_id = ${connectionId}::uuid
        AND key_hash BETWEEN ${keyAt(Math.max(0, receivedAt - windowMs))} AND ${keyAt(receivedAt + windowMs)}
      ORDER BY key_hash LIMIT 1`);
    const [first] = rows;
    if (first) {
      return {
        connectionId,
        believedAt: first.believed_at === null ? null : Math.round(first.believed_at),
        receivedAt: Math.round(first.received_at),
      };
    }
    await tx.execute(sql`
      INSERT INTO device_reports (connection_id, key_hash, believed_at, received_at)
      VALUES (${connectionId}::uuid, ${keyAt(receivedAt)},
        to_timestamp(${believedAt === null ? null : believedAt / 1_000}::float8),
        to_timestamp(${receivedAt / 1_000}::float8))`);
    return { connectionId, believedAt, receivedAt };
  });
}
