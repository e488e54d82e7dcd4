import { MINUTE_MS } from '@gantry/contract/durations';
import type { ClockHint, ClockState } from '@gantry/contract/sensors';
import type { Logger } from 'pino';

/** When a report arrived, and how long before that its event happened according to its sensor; negative if it lies ahead. */
export interface ReportLag {
  /** Unix milliseconds */
  readonly arrivedAt: number;
  /** Milliseconds */
  readonly lagMs: number;
}

/** What was noted about the clock of a sensor since the last write. */
export interface ClockNotes {
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
export const CLOCK_REPORTS = 21;
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

/**
 * How far the clocks of sensors are off, by the time between each event and its arrival. It is written in the background:
 * soon if a clock may be wrong, and otherwise from time to time.
 */
export interface SensorClocks extends AsyncDisposable {
  /** Records a report that was sent when its event happened, not one of a backlog. */
  recordReport(sensorId: string, lag: ReportLag): void;
  /** Records an event that has the time of receipt, because that of its sensor could not be used. @param at Unix milliseconds */
  recordUnusableTime(sensorId: string, at: number): void;
}

export interface SensorClocksParts {
  readonly store: (notes: readonly ClockNotes[]) => Promise<void>;
  readonly log: Logger;
  /** Interval between two writes, in milliseconds. */
  readonly everyMs: number;
}

/** Clocks that seem to be right are written only every so many intervals. */
const CALM_INTERVALS = 30;

export function createSensorClocks({ store, log, everyMs }: SensorClocksParts): SensorClocks {
  let noted = new Map<string, ClockNotes>();
  let intervals = 0;
  let writing = Promise.resolve();

  const add = (sensorId: string, more: Partial<Omit<ClockNotes, 'sensorId'>>): void => {
    const known = noted.get(sensorId);
    noted.set(sensorId, {
      sensorId,
      lags: [...(known?.lags ?? []), ...(more.lags ?? [])].slice(-CLOCK_REPORTS),
      unusableTimes: (known?.unusableTimes ?? 0) + (more.unusableTimes ?? 0),
      unusableAt: Math.max(known?.unusableAt ?? 0, more.unusableAt ?? 0) || null,
    });
  };

  const isUrgent = ({ lags, unusableTimes }: ClockNotes): boolean =>
    unusableTimes > 0 || lags.some(({ lagMs }) => Math.abs(lagMs) >= WARNING_MS);

  const flush = async (isDue: (notes: ClockNotes) => boolean): Promise<void> => {
    const due = [...noted.values()].filter(isDue);
    if (due.length === 0) return;
    for (const { sensorId } of due) noted.delete(sensorId);
    try {
      await store(due);
    } catch (error) {
      log.warn({ err: error }, 'what was noted about the clocks of sensors could not be written; it is kept');
      const later = noted;
      noted = new Map(due.map((notes) => [notes.sensorId, notes]));
      for (const notes of later.values()) add(notes.sensorId, notes);
    }
  };

  const timer = setInterval(() => {
    const isCalmTurn = ++intervals % CALM_INTERVALS === 0;
    writing = writing.then(() => flush((notes) => isCalmTurn || isUrgent(notes)));
  }, everyMs);
  timer.unref();

  return {
    recordReport(sensorId, lag) {
      add(sensorId, { lags: [lag] });
    },
    recordUnusableTime(sensorId, at) {
      add(sensorId, { unusableTimes: 1, unusableAt: at });
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await writing.then(() => flush(() => true));
    },
  };
}
