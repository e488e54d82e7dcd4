import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { SensorStatus } from '@gantry/contract/sensors';
import type { Executor } from '../../platform/database/transaction.ts';
import { formatDuration } from '../../platform/local-time.ts';
import type { Interval } from '../../platform/time.ts';
import type { Batch, Column, KindOfReport, ReportScope, Row, Summary } from '../document.ts';
import {
  countSensors,
  type FaultCourse,
  LATELY_MS,
  listSensorsWithHistory,
  type NamedSensor,
} from './sensor-status-store.ts';
import {
  availability,
  durationOf,
  type Lengths,
  lengthsOf,
  type StatusPeriod,
  statusPeriodsOf,
} from './status-periods.ts';

/** Number of sensors whose history is in memory at once. */
const PAGE = 50;

const columns: readonly Column[] = [
  { name: 'Entry', type: 'text', width: 11 },
  { name: 'Sensor', type: 'text', width: 17 },
  { name: 'Device', type: 'text', width: 12 },
  { name: 'Type', type: 'text', width: 0 },
  { name: 'Location', type: 'text', width: 16 },
  { name: 'From', type: 'time', width: 14 },
  { name: 'Until', type: 'time', width: 14 },
  { name: 'Duration', type: 'seconds', width: 9 },
  { name: 'Availability', type: 'share', width: 8 },
  { name: 'Silent', type: 'seconds', width: 8 },
  { name: 'Outage', type: 'seconds', width: 8 },
  { name: 'Maintenance', type: 'seconds', width: 9 },
  { name: 'Silent spells', type: 'integer', width: 0 },
  { name: 'Outages', type: 'integer', width: 0 },
  { name: 'Reason', type: 'text', width: 18 },
  { name: 'Sensor ID', type: 'text', width: 0 },
  { name: 'Fault', type: 'text', width: 9 },
  { name: 'Code', type: 'text', width: 0 },
  { name: 'Ticket', type: 'text', width: 0 },
  { name: 'Days on the list', type: 'integer', width: 0 },
  { name: 'Rejected cases', type: 'integer', width: 0 },
];

/** The columns of a row without a fault. */
const NO_FAULT: Row = [null, null, null, null];

/** The entry for each status besides the availability; ONLINE is the normal case. */
const entryOf: Readonly<Record<SensorStatus, string | null>> = {
  ONLINE: null,
  OFFLINE: 'SILENT',
  ERROR: 'OUTAGE',
  MAINTENANCE: 'MAINTENANCE',
};

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

function rowsOf(sensor: NamedSensor, interval: Interval): Row[] {
  const periods = statusPeriodsOf(sensor, interval);
  const lengths = lengthsOf(periods);
  const whose = [sensor.name, sensor.deviceId, sensor.type, sensor.location];
  const count = (status: SensorStatus): number => periods.filter((period) => period.status === status).length;
  const [from, until] = [periods.at(0)?.from, periods.at(-1)?.until];
  const rowFor = (entry: string, period: StatusPeriod): Row => {
    const length = seconds(period.until - period.from);
    const times = [new Date(period.from), new Date(period.until), length];
    return [
      entry,
      ...whose,
      ...times,
      ...[null, null, null, null, null, null],
      period.reason,
      sensor.id,
      ...NO_FAULT,
      null,
    ];
  };
  const rowOf = (fault: FaultCourse): Row => {
    const end = fault.repairedAt ?? interval.until;
    const times = [new Date(fault.foundAt), fault.repairedAt === null ? null : new Date(fault.repairedAt)];
    const days = daysOnList(fault, interval.until);
    return [
      'FAULT',
      ...whose,
      ...times,
      seconds(end - fault.foundAt),
      ...[null, null, null, null, null, null],
      fault.text,
      sensor.id,
      ...[fault.state, fault.code, fault.ticket, days, null],
    ];
  };
  return [
    [
      'AVAILABILITY',
      ...whose,
      from === undefined ? null : new Date(from),
      until === undefined ? null : new Date(until),
      periods.length === 0 ? null : seconds(durationOf(lengths)),
      availability(lengths),
      seconds(lengths.OFFLINE),
      seconds(lengths.ERROR),
      seconds(lengths.MAINTENANCE),
      count('OFFLINE'),
      count('ERROR'),
      null,
      sensor.id,
      ...NO_FAULT,
      sensor.rejectedCases,
    ],
    ...periods.flatMap((period) => {
      const entry = entryOf[period.status];
      return entry === null ? [] : [rowFor(entry, period)];
    }),
    ...sensor.faults
      .filter(({ repairedAt }) => repairedAt === null || repairedAt >= interval.from)
      .map(rowOf),
  ];
}

/** The number of whole days for which a fault was not repaired, until it was or until a time. */
function daysOnList({ foundAt, repairedAt }: FaultCourse, until: number): number {
  return Math.max(0, Math.floor(((repairedAt ?? until) - foundAt) / DAY_MS));
}

/** The state of the sensors and their faults at the end of the range, as maintenance reports it. */
class Condition {
  #working = 0;
  #faulty = 0;
  #down = 0;
  #repaired = 0;
  #rejected = 0;
  readonly #days: number[] = [];
  readonly #open = { FOUND: 0, WAITING: 0, IN_REPAIR: 0 };

  add({ faults, rejectedCases }: NamedSensor, periods: readonly StatusPeriod[], until: number): void {
    const open = faults.filter(({ repairedAt }) => repairedAt === null);
    this.#rejected += rejectedCases;
    const status = periods.at(-1)?.status;
    if (status === 'ERROR' || status === 'OFFLINE') this.#down++;
    if (status === 'ONLINE' && open.length > 0) this.#faulty++;
    if (status === 'ONLINE' && open.length === 0) this.#working++;
    for (const fault of open) {
      if (fault.state !== 'REPAIRED') this.#open[fault.state]++;
      this.#days.push(daysOnList(fault, until));
    }
    this.#repaired += faults.filter(({ repairedAt }) => repairedAt && repairedAt >= until - LATELY_MS).length;
  }

  figures(): Summary['figures'] {
    const { FOUND, WAITING, IN_REPAIR } = this.#open;
    const days = this.#days;
    const mean = days.reduce((sum, n) => sum + n, 0) / days.length;
    return [
      { name: 'Working', value: this.#working },
      { name: 'Working with a fault', value: this.#faulty },
      { name: 'Not working', value: this.#down },
      { name: 'Faults found', value: FOUND },
      { name: 'Faults waiting', value: WAITING },
      { name: 'Faults in repair', value: IN_REPAIR },
      { name: 'Repaired in the last 7 days', value: this.#repaired },
      { name: 'Cases rejected for equipment', value: this.#rejected },
      {
        name: 'Days on the list, mean and longest',
        value: days.length === 0 ? '–' : `${mean.toFixed(1)} / ${Math.max(...days)}`,
      },
    ];
  }
}

/** The interval up to now: a status is not known for later times, and needs no margin as events do. */
function known({ interval, now }: ReportScope): Interval {
  return {
    from: interval.from,
    until: Math.max(interval.from, Math.min(interval.until, now)),
  };
}

async function* sensorsOf(db: Executor, scope: ReportScope): AsyncGenerator<NamedSensor[]> {
  const interval = known(scope);
  for (let last: NamedSensor | null = null; ; ) {
    const page: NamedSensor[] = await listSensorsWithHistory(db, scope.filters, interval, last, PAGE);
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    last = page.at(-1) ?? null;
  }
}

async function* rows(db: Executor, scope: ReportScope): AsyncGenerator<Batch> {
  const total = await countSensors(db, scope.filters);
  const interval = known(scope);
  let read = 0;
  for await (const page of sensorsOf(db, scope)) {
    read += page.length;
    // Sensors registered after the range are left out.
    const there = page.filter(({ createdAt }) => createdAt < interval.until);
    yield { rows: there.flatMap((sensor) => rowsOf(sensor, interval)), progress: read / Math.max(1, total) };
  }
}

function add(a: Lengths, b: Lengths): Lengths {
  return {
    ONLINE: a.ONLINE + b.ONLINE,
    OFFLINE: a.OFFLINE + b.OFFLINE,
    ERROR: a.ERROR + b.ERROR,
    MAINTENANCE: a.MAINTENANCE + b.MAINTENANCE,
  };
}

const MAX_BARS = 10;

async function summary(db: Executor, scope: ReportScope): Promise<Summary> {
  let all: Lengths = { ONLINE: 0, OFFLINE: 0, ERROR: 0, MAINTENANCE: 0 };
  let count = 0;
  let worst: { label: string; value: number }[] = [];
  const condition = new Condition();
  for await (const page of sensorsOf(db, scope)) {
    for (const sensor of page) {
      const periods = statusPeriodsOf(sensor, known(scope));
      const lengths = lengthsOf(periods);
      condition.add(sensor, periods, known(scope).until);
      const share = availability(lengths);
      if (sensor.createdAt < known(scope).until) count++;
      all = add(all, lengths);
      const hours = (lengths.OFFLINE + lengths.ERROR) / HOUR_MS;
      if (share !== null && hours > 0) worst.push({ label: sensor.name, value: hours });
    }
    worst = worst.sort((a, b) => b.value - a.value).slice(0, MAX_BARS);
  }
  const share = availability(all);
  return {
    figures: [
      { name: 'Sensors', value: count },
      { name: 'Availability', value: share === null ? '–' : `${(share * 100).toFixed(2)} %` },
      { name: 'Silent, all together', value: formatDuration(all.OFFLINE / 1000) },
      { name: 'Outages, all together', value: formatDuration(all.ERROR / 1000) },
      { name: 'Maintenance, all together', value: formatDuration(all.MAINTENANCE / 1000) },
      ...condition.figures(),
    ],
    charts: [{ title: 'Longest unavailable (hours)', shape: 'bars', points: worst }],
  };
}

/**
 * The availability of each sensor, the worst first, followed by its periods without heartbeats (OFFLINE), with errors (ERROR) and in
 * maintenance, and by its faults.
 */
export const sensorHealth: KindOfReport = { title: 'Sensor health', columns, rows, summary };
