import { MINUTE_MS } from '@gantry/contract/durations';
import { isUuid } from '@gantry/contract/id';
import type { ClockHint, ClockState, SensorClock } from '@gantry/contract/sensors';
import { clockStates } from '@gantry/contract/values';
import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { found } from '../platform/error.ts';

/** When a report arrived, and how long before that its event happened according to its sensor; negative if it lies ahead. */
export interface ReportLag {
  /** Unix milliseconds */
  readonly arrivedAt: number;
  /** Milliseconds */
  readonly lagMs: number;
}

/** What was noted about the clock of a sensor since the last write. */
interface ClockNotes {
  readonly sensorId: string;
  /** The oldest first. */
  readonly lags: readonly ReportLag[];
  readonly unusableTimes: number;
  /** Unix milliseconds; null if there was none. */
  readonly unusableAt: number | null;
}

/** The judgement of a clock by the latest reports of its sensor. */
export interface ClockJudgement {
  readonly state: ClockState;
  readonly hint: ClockHint | null;
  /** The median of the lags in milliseconds: how far the clock is behind; negative if it is ahead. */
  readonly offsetMs: number | null;
}

/** Number of reports by which a clock is judged: after half of them, a clock that was set is right again. */
const CLOCK_REPORTS = 21;
const MIN_REPORTS = 5;
const WARNING_MS = 30_000;
const ERROR_MS = 5 * MINUTE_MS;
/** How far the lags of reports may differ that were sent in quick succession, in milliseconds. */
const JITTER_MS = 5_000;
/** The difference between two time zones is a multiple of this. */
const ZONE_STEP_MS = 15 * MINUTE_MS;
const ZONE_TOLERANCE_MS = MINUTE_MS;

/**
 * Judges a clock. Reports that waited in a buffer arrive in quicker succession than their events happened, so that their
 * lags differ: nothing follows from them for the clock.
 * @param lags at most `CLOCK_REPORTS`, in any order
 */
export function judgeClock(lags: readonly ReportLag[]): ClockJudgement {
  const sorted = lags.map(({ lagMs }) => lagMs).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  if (sorted.length === 0) return { state: 'UNKNOWN', hint: null, offsetMs: null };
  const offsetMs = at(0.5);
  if (sorted.length < MIN_REPORTS) return { state: 'UNKNOWN', hint: null, offsetMs };
  const off = Math.abs(offsetMs);
  if (off < WARNING_MS) return { state: 'OK', hint: null, offsetMs };
  const arrivals = lags.map(({ arrivedAt }) => arrivedAt);
  const span = Math.max(...arrivals) - Math.min(...arrivals);
  if (at(0.75) - at(0.25) > Math.max(JITTER_MS, span / 4))
    return { state: 'UNKNOWN', hint: 'LATE', offsetMs };
  const steps = Math.round(off / ZONE_STEP_MS);
  const isZone = steps >= 2 && Math.abs(off - steps * ZONE_STEP_MS) <= ZONE_TOLERANCE_MS;
  return {
    state: off < ERROR_MS ? 'WARNING' : 'ERROR',
    hint: isZone ? 'TIME_ZONE' : 'CLOCK',
    offsetMs,
  };
}

/** The longest time over which a sensor collects events before it sends them, unless it was offline, in milliseconds. */
const MAX_BATCH_MS = 5 * MINUTE_MS;

/** The lag of the newest event of a batch; null for a batch that is empty, or was collected while its sensor was offline. */
export function lagOfBatch(lags: readonly ReportLag[]): ReportLag | null {
  const [first, ...others] = [...lags].sort((a, b) => a.lagMs - b.lagMs);
  if (!first) return null;
  return (others.at(-1)?.lagMs ?? first.lagMs) - first.lagMs <= MAX_BATCH_MS ? first : null;
}

export interface SensorClocksParts {
  readonly store: (notes: readonly ClockNotes[]) => Promise<void>;
  readonly log: Logger;
  /** Interval between two writes, in milliseconds. */
  readonly everyMs: number;
}

/** Clocks that seem to be right are written only every so many intervals. */
const CALM_INTERVALS = 30;

/**
 * How far the clocks of sensors are off, by the time between each event and its arrival. It is written in the background:
 * soon if a clock may be wrong, and otherwise from time to time.
 */
export class SensorClocks implements AsyncDisposable {
  readonly #store: SensorClocksParts['store'];
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #noted = new Map<string, ClockNotes>();
  #intervals = 0;
  #writing = Promise.resolve();

  constructor({ store, log, everyMs }: SensorClocksParts) {
    this.#store = store;
    this.#log = log;
    this.#timer = setInterval(() => {
      const isCalmTurn = ++this.#intervals % CALM_INTERVALS === 0;
      this.#writing = this.#writing.then(() => this.#flush((notes) => isCalmTurn || isUrgent(notes)));
    }, everyMs);
    this.#timer.unref();
  }

  /** Records a report that was sent when its event happened, not one of a backlog. */
  recordReport(sensorId: string, lag: ReportLag): void {
    this.#add(sensorId, { lags: [lag] });
  }

  /** Records an event that has the time of receipt, because that of its sensor could not be used. @param at Unix milliseconds */
  recordUnusableTime(sensorId: string, at: number): void {
    this.#add(sensorId, { unusableTimes: 1, unusableAt: at });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing.then(() => this.#flush(() => true));
  }

  #add(sensorId: string, more: Partial<Omit<ClockNotes, 'sensorId'>>): void {
    const known = this.#noted.get(sensorId);
    this.#noted.set(sensorId, {
      sensorId,
      lags: [...(known?.lags ?? []), ...(more.lags ?? [])].slice(-CLOCK_REPORTS),
      unusableTimes: (known?.unusableTimes ?? 0) + (more.unusableTimes ?? 0),
      unusableAt: Math.max(known?.unusableAt ?? 0, more.unusableAt ?? 0) || null,
    });
  }

  async #flush(isDue: (notes: ClockNotes) => boolean): Promise<void> {
    const due = [...this.#noted.values()].filter(isDue);
    if (due.length === 0) return;
    for (const { sensorId } of due) this.#noted.delete(sensorId);
    try {
      await this.#store(due);
    } catch (error) {
      this.#log.warn(
        { err: error },
        'what was noted about the clocks of sensors could not be written; it is kept',
      );
      const later = this.#noted;
      this.#noted = new Map(due.map((notes) => [notes.sensorId, notes]));
      for (const notes of later.values()) this.#add(notes.sensorId, notes);
    }
  }
}

function isUrgent({ lags, unusableTimes }: ClockNotes): boolean {
  return unusableTimes > 0 || lags.some(({ lagMs }) => Math.abs(lagMs) >= WARNING_MS);
}

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
  const row = found(rows, 'Sensor');
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
