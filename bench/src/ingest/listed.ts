import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../database.ts';
import { BenchmarkFailed } from '../failure.ts';
import { onStage, type StageOptions } from '../on-stage.ts';
import { median, percentile } from '../percentile.ts';
import { startPacer } from '../soak/pacer.ts';
import { type Stage, setStage } from '../stage.ts';
import { figure, formatTable } from '../table.ts';
import { type Verdict, verdictOf } from './goals.ts';
import { CONTESTANTS, type Measurement } from './measurement.ts';
import { verdictTable } from './report.ts';
import { measureGantry, type RoundOptions, trafficOf } from './rounds.ts';

// What hotlists and rules of alarms cost: a Gantry with them beside one without, measured in turn.

export interface ListedOptions extends Omit<StageOptions, 'workers'>, RoundOptions {
  /** Number of plates on hotlists. */
  readonly hotlists: number;
  /** Number of rules of alarms. */
  readonly rules: number;
  /** Per cent of the reads that hit a list, under a constant load afterwards; 0 for no such load. */
  readonly hits: number;
  /** Its events per second. */
  readonly rate: number;
}

/** Which of the two a measurement is of. */
export type ListedMeasurement = Measurement & { readonly isListed: boolean };

/** How long it took until hits were seen by a subscriber, in milliseconds from when the read was due to be sent. */
export interface SeenHits {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Listed {
  readonly postgresql: string;
  readonly measurements: readonly ListedMeasurement[];
  readonly verdicts: readonly Verdict[];
  readonly seen: SeenHits | null;
}

/** Compares a Gantry with hotlists and rules with one without. Each has a database of its own, with the embedded PostgreSQL a server. */
export function compareListed(options: ListedOptions): Promise<Listed> {
  return onStage({ ...options, workers: 1 }, async (without, folder) => {
    await using listed = await setStage(join(folder, 'listed'), {
      server: options.databaseUrl,
      workers: 1,
      name: 'listed',
    });
    await fillHotlists(listed, options.hotlists);
    await addRules(listed, options.rules);
    const measurements = await measureBoth(without, listed, options);
    return {
      postgresql: without.postgresql,
      measurements,
      verdicts: judge(measurements),
      seen: options.hits === 0 ? null : await watchHits(listed, options),
    };
  });
}

/** Maximum number of plates of one list, as a file may have. */
const LIST_MAX = 1_000_000;
const AT_ONCE = 100_000;

/** A listed plate, which no vehicle of the load has: they have neither a Q nor ten characters. */
const plateOf = (n: number): string => `Q${String(n).padStart(9, '0')}`;

/** Fills lists with plates, and waits until the service knows them. */
async function fillHotlists({ gantry, databaseUrl }: Stage, plates: number): Promise<void> {
  for (let from = 0; from < plates; from += LIST_MAX) {
    const count = Math.min(LIST_MAX, plates - from);
    const { id } = await gantry.client.api.hotlists.create.mutate({
      name: `List ${from / LIST_MAX + 1}`,
      priority: 'HIGH',
      verification: 'NEVER',
    });
    for (let at = from; at < from + count; at += AT_ONCE) {
      await query(
        databaseUrl,
        `INSERT INTO hotlist_entries (id, hotlist_id, plate, plate_key, confusable_key, reason, row_hash, from_version)
        SELECT md5('${id}' || n)::uuid, '${id}', 'Q' || lpad(n::text, 9, '0'), 'Q' || lpad(n::text, 9, '0'),
          '0' || lpad(n::text, 9, '0'), 'Stolen', n, 1
        FROM generate_series(${at}, ${Math.min(at + AT_ONCE, from + count) - 1}) AS n`,
      );
    }
    await query(
      databaseUrl,
      `UPDATE hotlists SET version = 1, entry_count = ${count}, refreshed_at = now() WHERE id = '${id}'`,
    );
  }
  await query(databaseUrl, 'VACUUM ANALYZE hotlist_entries, hotlists');
  // Its answer comes once the process has read all lists. A request may end before that, and then another one waits.
  const deadline = performance.now() + LOAD_DEADLINE_MS;
  for (let n = 0; ; n++) {
    const isRead = await gantry.client.api.hotlists.create.mutate({ name: `Empty ${n}` }).then(
      () => true,
      () => false,
    );
    if (isRead) return;
    if (performance.now() > deadline) throw new BenchmarkFailed('Gantry did not read the hotlists in time');
  }
}

const LOAD_DEADLINE_MS = 600_000;

/** Adds rules of all kinds whose conditions the load may meet, until there are so many. */
async function addRules({ gantry, sensors }: Stage, count: number): Promise<void> {
  const { api } = gantry.client;
  const { total } = await api.alarmRules.getAll.query({ take: 1 });
  for (let n = total; n < count; n++) {
    const conditions = [
      { source: 'SENSOR_STATUS', statuses: ['OFFLINE', 'ERROR'], of: n % 2 ? 'SENSOR' : 'PLACE' },
      { source: 'TRAFFIC', measure: 'meanSpeed', comparison: 'BELOW', threshold: 5 + (n % 20), minutes: 5 },
      { source: 'HIT' },
      {
        source: 'EVENT_RATE',
        filter: { sensorId: sensors[n % sensors.length]?.id },
        comparison: 'FEWER_THAN',
        count: 1,
        minutes: 5,
      },
      { source: 'SENSOR_PLAUSIBILITY', checks: ['STUCK', 'CHATTER', 'SPIKE'] },
      { source: 'INCIDENT_UNATTENDED', lacking: 'ACKNOWLEDGEMENT', minSeverity: 'CRITICAL' },
    ] as const;
    const condition = conditions[n % conditions.length] ?? conditions[0];
    const forSeconds = condition.source === 'HIT' ? 0 : 300;
    await api.alarmRules.create.mutate({
      name: `Rule ${n}`,
      severity: 'LOW',
      forSeconds,
      condition: structuredClone(condition) as never,
    });
  }
}

/** Measures both in turn, each first in every other round. */
async function measureBoth(
  without: Stage,
  listed: Stage,
  options: ListedOptions,
): Promise<ListedMeasurement[]> {
  const measurements: ListedMeasurement[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const contestant of ['single', 'batch'] as const) {
      for (const stage of round % 2 === 1 ? [without, listed] : [listed, without]) {
        const { ingest, ingestBatch } = trafficOf(stage, options);
        const traffic = contestant === 'single' ? ingest : ingestBatch;
        const isListed = stage === listed;
        const measurement = { ...(await measureGantry(stage, contestant, round, traffic)), isListed };
        options.onMeasured(measurement);
        measurements.push(measurement);
      }
    }
  }
  return measurements;
}

/** The goals: at most 5 % fewer events, and little more memory. */
function judge(measurements: readonly ListedMeasurement[]): Verdict[] {
  const ratios = (
    contestant: string,
    of: (listed: Measurement, without: Measurement) => number,
  ): number[] => {
    const all = measurements.filter((each) => each.contestant === contestant);
    return all.flatMap((one) => {
      const other = all.find(({ round, isListed }) => round === one.round && !isListed);
      return one.isListed && other ? [of(one, other)] : [];
    });
  };
  return (['single', 'batch'] as const).flatMap((contestant) => {
    const name = CONTESTANTS[contestant];
    return [
      verdictOf(
        { name: `${name}, with / without, events`, sense: 'at least', limit: 0.95 },
        ratios(contestant, (one, other) => one.eventsPerSecond / other.eventsPerSecond),
      ),
      verdictOf(
        { name: `${name}, with / without, p99`, sense: 'under', limit: 1.5 },
        ratios(contestant, (one, other) => one.p99 / other.p99),
      ),
      verdictOf(
        { name: `${name}, with − without, memory in MB`, sense: 'under', limit: 50 },
        ratios(contestant, (one, other) => one.memory - other.memory),
      ),
    ];
  });
}

/** Waits until nothing of the traffic before is left to be done, behind which hits would wait. */
async function untilFollowedUp({ databaseUrl }: Stage, signal: AbortSignal): Promise<void> {
  for (;;) {
    const [row] = await query<{ n: string }>(databaseUrl, 'SELECT count(*) AS n FROM events_to_follow_up');
    if (row?.n === '0') return;
    await sleep(500, null, { signal });
  }
}

const WAIT_MS = 10_000;

/**
 * Sends reads at a constant rate, a share of which are of listed plates, and notes when a subscriber sees each hit.
 * @throws BenchmarkFailed when a hit is not seen within ten seconds after the load
 */
async function watchHits(
  stage: Stage,
  { hits, rate, seconds, connections, hotlists, signal }: ListedOptions,
): Promise<SeenHits> {
  const { gantry, sensors } = stage;
  await untilFollowedUp(stage, signal);
  const dueAt = new Map<string, number>();
  const latencies: number[] = [];
  const began = performance.now();
  const subscription = gantry.client.api.hits.onHit.subscribe(undefined, {
    onData: (message: unknown) => {
      const plate = /"licensePlateNumber":"(Q\d{9})"/.exec(JSON.stringify(message))?.[1] ?? '';
      const due = dueAt.get(plate);
      if (due === undefined) return;
      dueAt.delete(plate);
      latencies.push(performance.now() - due);
    },
  });
  // Hits before the subscription has started would be missed.
  await sleep(2_000, null, { signal });
  const oneIn = Math.max(1, Math.round(100 / hits));
  if ((rate * seconds) / oneIn > hotlists)
    throw new BenchmarkFailed('There are fewer plates than hits: each is read once');
  let isWarm = false;
  const textOf = (n: number): string => {
    const isHit = n % oneIn === 0;
    const licensePlateNumber = isHit
      ? plateOf(n / oneIn)
      : `${n % 10}AB${String(n % 10_000).padStart(4, '0')}`;
    if (isHit && isWarm) dueAt.set(licensePlateNumber, performance.now());
    const { apiKey } = sensors[n % sensors.length] ?? {};
    return JSON.stringify({ json: { apiKey, eventType: 'PLATE_RECOGNITION', licensePlateNumber } });
  };
  const pacer = startPacer({ url: `${gantry.url}/trpc/events.ingest`, textOf, rate, connections });
  await sleep(2_000, null, { signal });
  isWarm = true;
  await sleep(seconds * 1_000, null, { signal });
  await pacer.finish();
  for (const deadline = performance.now() + WAIT_MS; dueAt.size > 0 && performance.now() < deadline; )
    await sleep(50);
  subscription.unsubscribe();
  if (dueAt.size > 0)
    throw new BenchmarkFailed(
      `${dueAt.size} hits were not seen within ${figure((performance.now() - began) / 1_000)} s`,
    );
  const sorted = Float64Array.from(latencies).sort();
  return {
    count: sorted.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    max: sorted.at(-1) ?? Number.NaN,
  };
}

const FIGURES = ['eventsPerSecond', 'p50', 'p99', 'memory', 'nodeMicros', 'postgresMicros', 'idle'] as const;

/** The tables: the medians of all rounds, the goals, and when hits were seen. */
export function listedReport({ measurements, verdicts, seen }: Listed): string {
  const titles = ['events/s', 'p50 ms', 'p99 ms', 'memory MB', 'node µs', 'PostgreSQL µs', 'idle'];
  const rows = (['single', 'batch'] as const).flatMap((contestant) =>
    [false, true].map((isListed) => {
      const own = measurements.filter((each) => each.contestant === contestant && each.isListed === isListed);
      const name = `${CONTESTANTS[contestant]}, ${isListed ? 'with' : 'without'} lists and rules`;
      return [name, ...FIGURES.map((key) => figure(median(own.map((each) => each[key] ?? Number.NaN))))];
    }),
  );
  const columns = [{ title: 'server' }, ...titles.map((title) => ({ title, figures: true }))];
  const table = [formatTable(columns, rows), '', verdictTable(verdicts)];
  if (seen) {
    const milliseconds = `p50 ${figure(seen.p50)} ms, p99 ${figure(seen.p99)} ms (goal: at most 1,000), at most ${figure(seen.max)} ms`;
    table.push('', `${seen.count} hits were seen by a subscriber: ${milliseconds} after the read was due.`);
  }
  return table.join('\n');
}
