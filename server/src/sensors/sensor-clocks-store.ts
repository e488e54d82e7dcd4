import { isUuid } from '@gantry/contract/id';
import type { ClockHint, ClockState, SensorClock } from '@gantry/contract/sensors';
import { clockStates } from '@gantry/contract/values';
import { sql } from 'drizzle-orm';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { notFound } from '../platform/error.ts';
import { CLOCK_REPORTS, type ClockNotes, judgeClock } from './sensor-clocks.ts';

/** Adds what was noted about the clocks of sensors, and judges them. Deleted sensors are skipped. */
export async function writeClocks(db: Database, notes: readonly ClockNotes[]): Promise<void> {
  // Rows are locked in the order of their ids, so that several processes can write at the same time.
  const given = [...notes]
    .sort((a, b) => (a.sensorId < b.sensorId ? -1 : 1))
    .map(({ sensorId, lags, unusableTimes, unusableAt }) => ({
      id: sensorId,
      arrivals: lags.map(({ arrivedAt }) => Math.round(arrivedAt)),
      lags: lags.map(({ lagMs }) => Math.round(lagMs)),
      unusable: unusableTimes,
      unusable_at: unusableAt === null ? null : new Date(unusableAt).toISOString(),
    }));
  const last = (name: string) =>
    sql.raw(`(known.${name} || excluded.${name})[greatest(1,
      cardinality(known.${name}) + cardinality(excluded.${name}) - ${CLOCK_REPORTS - 1}):]`);
  await inTransaction(db, async (tx) => {
    const { rows } = await tx.execute<{ id: string; arrivals: string[]; lags: string[] }>(sql`
      INSERT INTO sensor_clocks AS known (sensor_id, arrivals, lags, unusable_times, unusable_at)
      SELECT id, given.arrivals, given.lags, unusable, given.unusable_at
      FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given
        (id uuid, arrivals bigint[], lags bigint[], unusable bigint, unusable_at timestamptz)
      WHERE id IN (SELECT id FROM sensors)
      ORDER BY id
      ON CONFLICT (sensor_id) DO UPDATE SET
        arrivals = ${last('arrivals')}, lags = ${last('lags')},
        unusable_times = known.unusable_times + excluded.unusable_times,
        unusable_at = greatest(known.unusable_at, excluded.unusable_at)
      RETURNING sensor_id AS id, arrivals, lags`);
    const judged = rows.map(({ id, arrivals, lags }) => {
      const { state, hint, offsetMs } = judgeClock(
        arrivals.map((at, index) => ({ arrivedAt: Number(at), lagMs: Number(lags[index]) })),
      );
      return { id, state, hint, offset_ms: offsetMs };
    });
    await tx.execute(sql`
      UPDATE sensor_clocks SET state = judged.state, hint = judged.hint, offset_ms = judged.offset_ms
      FROM jsonb_to_recordset(${JSON.stringify(judged)}::jsonb) AS judged
        (id uuid, state text, hint text, offset_ms bigint)
      WHERE sensor_id = judged.id`);
  });
}

/** What is known of the clock of a sensor. @throws AppError `notFound` */
export async function getClock(db: Executor, sensorId: string): Promise<SensorClock> {
  const { rows } = isUuid(sensorId)
    ? await db.execute<{
        state: ClockState | null;
        hint: ClockHint | null;
        offset_ms: string | null;
        reports: number;
        last_arrival: string | null;
        unusable_times: string;
        unusable_at: string | null;
      }>(sql`
        SELECT state, hint, offset_ms, coalesce(cardinality(lags), 0) AS reports,
          (SELECT max(at) FROM unnest(arrivals) AS at) AS last_arrival,
          coalesce(unusable_times, 0) AS unusable_times, unusable_at
        FROM sensors LEFT JOIN sensor_clocks ON sensor_id = id WHERE id = ${sensorId}::uuid`)
    : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound('Sensor');
  return {
    sensorId,
    state: row.state ?? 'UNKNOWN',
    hint: row.hint,
    offsetSeconds: row.offset_ms === null ? null : Math.round(Number(row.offset_ms) / 1_000),
    reports: row.reports,
    lastReportAt: row.last_arrival === null ? null : new Date(Number(row.last_arrival)),
    unusableTimes: Number(row.unusable_times),
    lastUnusableAt: row.unusable_at === null ? null : new Date(row.unusable_at),
  };
}

/** The number of sensors by the state of their clocks, 0 included. */
export async function countClocks(db: Executor): Promise<ReadonlyMap<ClockState, number>> {
  const { rows } = await db.execute<{ state: ClockState; n: number }>(sql`
    SELECT coalesce(state, 'UNKNOWN') AS state, count(*) AS n
    FROM sensors LEFT JOIN sensor_clocks ON sensor_id = id GROUP BY 1`);
  const found = new Map(rows.map(({ state, n }) => [state, Number(n)]));
  return new Map(clockStates.map((state) => [state, found.get(state) ?? 0]));
}
