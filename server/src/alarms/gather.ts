import { statfs } from 'node:fs/promises';
import type { AlarmSource, ConditionOf, SystemPart } from '@gantry/contract/alarm-rules';
import { HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import { DateTime } from 'luxon';
import { endingsOf } from '../cases/certificates.ts';
import { listCoverage } from '../cases/certificates-store.ts';
import { readCheck } from '../evidence/store.ts';
import { findHotlistTroubles } from '../hotlists/store.ts';
import { listChannelRows } from '../notices/channels-store.ts';
import { personOnDuty } from '../notices/rotas-store.ts';
import type { Core } from '../platform/context.ts';
import { countOpenDeliveries } from '../webhooks/deliveries-store.ts';
import { type Facts, NO_FACTS, type ObservedRule } from './observe.ts';
import { check } from './plausibility.ts';
import {
  countRates,
  findAskedRotas,
  readBackupAge,
  readConnections,
  readHandOverAge,
  readHits,
  readIncidents,
  readLateFollowUps,
  readSensorFacts,
} from './sources-store.ts';
import { readHours, readMinutes, type SlotFact } from './traffic-store.ts';

// Reads what the sources of some rules know.

type Parts = Pick<Core, 'questions' | 'config' | 'clock' | 'settings' | 'log'>;

/** The sources that are read once a minute, because what they tell changes with the minutes or costs more. */
export const BY_MINUTE: ReadonlySet<AlarmSource> = new Set(['TRAFFIC', 'SENSOR_PLAUSIBILITY', 'EVENT_RATE']);

/** The sources that need the sensors. */
const ABOUT_SENSORS: ReadonlySet<AlarmSource> = new Set([
  'SENSOR_STATUS',
  'SENSOR_ISSUE',
  'SENSOR_PLAUSIBILITY',
  'TRAFFIC',
  'CERTIFICATE',
]);

/** After this time, the events of a minute are counted. */
const COUNTED_MS = 15_000;

/** The end of the last minute whose events are counted. */
export function lastMinute(now: number): number {
  return Math.floor((now - COUNTED_MS) / MINUTE_MS) * MINUTE_MS;
}

/** A week before a time, two, three and four at the same local time, Unix milliseconds. */
function weeksBefore(time: number, zone: string): number[] {
  const local = DateTime.fromMillis(time, { zone });
  return [1, 2, 3, 4].map((weeks) => local.minus({ weeks }).toMillis());
}

/** The hours with these times. They are hours of UTC, as those of the counts, also where local hours are others. */
function hoursBefore(hour: number, zone: string): number[] {
  return weeksBefore(hour, zone).map((then) => Math.floor(then / HOUR_MS) * HOUR_MS);
}

/** What the same hour of the week usually is like, which changes once an hour. */
export class UsualHours {
  #hour = Number.NaN;
  #hasBins = false;
  #slots: readonly SlotFact[] = [];

  async read({ questions, settings }: Parts, now: number, hasBins: boolean): Promise<readonly SlotFact[]> {
    const hour = Math.floor(now / HOUR_MS) * HOUR_MS;
    if (hour === this.#hour && this.#hasBins === hasBins) return this.#slots;
    this.#slots = await readHours(questions, hoursBefore(hour, settings.current().timezone), hasBins);
    this.#hour = hour;
    this.#hasBins = hasBins;
    return this.#slots;
  }
}

function conditionsOf<Source extends AlarmSource>(
  rules: readonly ObservedRule[],
  source: Source,
): ConditionOf<Source>[] {
  return rules.flatMap(({ condition }) =>
    condition.source === source ? [condition as ConditionOf<Source>] : [],
  );
}

/** What the sources of the rules know now. A source that cannot be read is null, and its rules wait. */
export async function gather(
  parts: Parts,
  rules: readonly ObservedRule[],
  usual: UsualHours,
  now: number,
): Promise<Facts> {
  const { questions: db, log } = parts;
  const sources = new Set(rules.map(({ condition }) => condition.source));
  const read = async <Fact>(
    isWanted: boolean,
    what: string,
    reading: () => Promise<Fact>,
  ): Promise<Fact | null> => {
    if (!isWanted) return null;
    try {
      return await reading();
    } catch (err) {
      log.warn({ err, source: what }, 'a source of alarms cannot be read now; its rules wait');
      return null;
    }
  };
  const intake = conditionsOf(rules, 'INTAKE');
  const isAboutSensors = [...sources].some((each) => ABOUT_SENSORS.has(each));
  const sensors = await read(isAboutSensors, 'sensors', () => readSensorFacts(db));
  const needsMinutes = sources.has('TRAFFIC') || sources.has('SENSOR_PLAUSIBILITY');
  const traffic = await read(needsMinutes, 'traffic', () => readTraffic(parts, rules, usual, now));
  const checks = new Set(conditionsOf(rules, 'SENSOR_PLAUSIBILITY').flatMap((each) => each.checks));
  return {
    ...NO_FACTS,
    sensors,
    traffic,
    implausible:
      sensors && traffic
        ? await read(checks.size > 0, 'plausibility', () => {
            const hour = Math.floor(now / HOUR_MS - 1) * HOUR_MS;
            const { timezone } = parts.settings.current();
            const hours = [hour, ...hoursBefore(hour, timezone)];
            return check(db, checks, {
              ...traffic,
              sensors,
              now,
              weeksAgo: weeksBefore(now, timezone),
              hours,
            });
          })
        : null,
    incidents: await read(sources.has('INCIDENT_UNATTENDED'), 'incidents', () => readIncidents(db)),
    hits: await read(sources.has('HIT'), 'hits', () => readHits(db, now)),
    hotlists: await read(sources.has('HOTLIST'), 'hotlists', () => findHotlistTroubles(db, now)),
    certificates: await read(sources.has('CERTIFICATE'), 'certificates', () =>
      listCoverage(db, now).then((all) => endingsOf(all, now)),
    ),
    rates: await read(sources.has('EVENT_RATE'), 'rates', () => countRates(db, ratesOf(rules), now)),
    connections: await read(
      intake.some(({ what }) => what !== 'FOLLOW_UPS'),
      'connections',
      () => readConnections(db, Math.max(...intake.map(({ minutes }) => minutes)), now),
    ),
    followUps: await read(
      intake.some(({ what }) => what === 'FOLLOW_UPS'),
      'follow-ups',
      () => readLateFollowUps(db, now),
    ),
    system: await read(sources.has('SYSTEM'), 'system', () => readSystem(parts, rules, now)),
  };
}

function ratesOf(rules: readonly ObservedRule[]) {
  return rules.flatMap(({ id, condition, clear }) =>
    condition.source === 'EVENT_RATE'
      ? [{ ruleId: id, condition, most: Math.ceil(Math.max(condition.count, clear?.threshold ?? 0)) }]
      : [],
  );
}

async function readTraffic(parts: Parts, rules: readonly ObservedRule[], usual: UsualHours, now: number) {
  const conditions = conditionsOf(rules, 'TRAFFIC');
  const until = lastMinute(now);
  // Two, because 30 s with too many vehicles may be in two of them.
  const length = Math.max(2, ...conditions.map(({ minutes }) => minutes));
  const hasBins = conditions.some(({ measure }) => measure === 'v85' || measure === 'shareOverLimit');
  const isUsual = conditions.some(({ of }) => of === 'USUAL');
  return {
    until,
    minutes: await readMinutes(parts.questions, until - length * MINUTE_MS, until, hasBins),
    usual: isUsual ? await usual.read(parts, now, hasBins) : [],
  };
}

async function readSystem(
  { questions, config, clock }: Parts,
  rules: readonly ObservedRule[],
  now: number,
): Promise<ReadonlyMap<SystemPart, number | null>> {
  const readers: Readonly<Record<SystemPart, () => Promise<number | null>>> = {
    DISK: async () => {
      const { blocks, bavail } = await statfs(config.DATA_DIR);
      return blocks === 0 ? null : Math.round((bavail / blocks) * 1_000) / 10;
    },
    BACKUP: () => readBackupAge(questions, now),
    CLOCK: async () => {
      const skew = clock.skewMs();
      return skew === null ? null : Math.abs(skew) / 1_000;
    },
    WEBHOOKS: async () => (await countOpenDeliveries(questions)).dead,
    CHANNEL: async () =>
      (await listChannelRows(questions)).filter(
        ({ enabled, failingSince }) => enabled && failingSince !== null,
      ).length,
    DUTY: async () => {
      const asked = await findAskedRotas(questions);
      const onDuty = await Promise.all(asked.map((id) => personOnDuty(questions, id, now)));
      return onDuty.filter((userId) => userId === null).length;
    },
    HANDOVER: () => readHandOverAge(questions, now),
    SEAL: async () => (config.SEAL === 'off' ? null : (await readCheck(questions)).faults.length),
  };
  const values = new Map<SystemPart, number | null>();
  for (const { part } of conditionsOf(rules, 'SYSTEM'))
    if (!values.has(part)) values.set(part, await readers[part]());
  return values;
}
