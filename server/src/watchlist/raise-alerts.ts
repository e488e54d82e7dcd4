import { randomUUID } from 'node:crypto';
import { MINUTE_MS } from '@gantry/contract/durations';
import { confusableKey } from '@gantry/contract/plate';
import { SAME_ALERT_MINUTES } from '@gantry/contract/watchlist';
import type { Executor } from '../platform/database/transaction.ts';
import { recordChanges } from '../realtime/changes-store.ts';
import { type Outbox, publish } from '../realtime/publish.ts';
import {
  countRepeats,
  findAlerts,
  findAlertsOfVehicles,
  findHitsOfEntries,
  findRaised,
  type Hit,
  insertAlerts,
  insertSightings,
  type KnownAlert,
  lockAlertsOf,
  type Match,
  type NewAlert,
  nameOfMatch,
  type Sighting,
} from './alerts-store.ts';
import { changesOfHits } from './hits-store.ts';

const SAME_ALERT_MS = SAME_ALERT_MINUTES * MINUTE_MS;

/** The age of a read from which its alert counts as backlog. */
const BACKLOG_MS = 15 * MINUTE_MS;

/**
 * Stores an alert for each event that matches an entry, and publishes it when the transaction commits. A further read
 * of the vehicle by the same sensor belongs to the alert (`groupByAlert`), which is published to subscribers again. The same
 * applies to hits of hotlists and further reads by any sensor; those that are not released are published to verifiers only.
 * Each pair of entry and event counts once, however often this is called.
 */
export async function raiseAlerts(
  app: { readonly outbox: Outbox },
  tx: Executor,
  hits: readonly Hit[],
): Promise<void> {
  if (hits.length === 0) return;
  const now = await lockAlertsOf(tx, [
    ...new Set(hits.map(({ row, entry, listed }) => (listed ? entry.id : row.sensorId))),
  ]);
  const byPair = new Map(hits.map((hit) => [nameOfMatch(matchOf(hit)), hit]));
  const raised = await findRaised(tx, hits.map(matchOf));
  const due = [...byPair].flatMap(([pair, hit]) => (raised.has(pair) ? [] : [hit]));
  if (due.length === 0) return;
  const known = await findKnown(tx, due);
  const { opening, repeats, sightings } = groupByAlert(due, known, now, randomUUID);

  await insertAlerts(tx, opening);
  await countRepeats(tx, repeats);
  await insertSightings(tx, sightings);
  const openedIds = opening.map(({ id }) => id);
  const repeatedIds = repeats.map(({ alertId }) => alertId);
  const found = new Set(opening.flatMap(({ id, hit }) => (hit.listed?.kind === 'LOOK_BACK' ? [id] : [])));
  const opened = (await findAlerts(tx, openedIds)).filter(({ id }) => !found.has(id));
  await publish(
    app,
    tx,
    opened.map((body) => ({ topic: 'watchlist', body })),
  );
  // Not sent to webhooks, whose receivers treat every message of this kind as a new alert.
  const repeated = (await findAlerts(tx, repeatedIds)).map((body) => ({ topic: 'watchlist' as const, body }));
  const isListed = hits.some(({ listed }) => listed);
  const changes = isListed
    ? [...(await changesOfHits(tx, 'NEW', openedIds)), ...(await changesOfHits(tx, 'SEEN', repeatedIds))]
    : [];
  const announced = [...repeated, ...changes];
  if (announced.length > 0) await recordChanges(tx, announced);
}

/** The alerts to which the reads may belong. */
async function findKnown(tx: Executor, due: readonly Hit[]): Promise<KnownAlert[]> {
  const times = due.map(({ row }) => row.time);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const watched = due.filter(({ listed }) => !listed);
  const listed = due.filter(({ listed }) => listed);
  const vehicles = new Map(watched.map((hit) => [vehicleOf(hit), keysOf(hit)]));
  const longest = Math.max(0, ...listed.map(sameWithinMs));
  return [
    ...(vehicles.size === 0
      ? []
      : await findAlertsOfVehicles(tx, [...vehicles.values()], first - SAME_ALERT_MS, last + SAME_ALERT_MS)),
    ...(await findHitsOfEntries(
      tx,
      [...new Set(listed.map(({ entry }) => entry.id))],
      first - longest,
      last + longest,
    )),
  ];
}

interface Grouping {
  readonly opening: readonly NewAlert[];
  readonly repeats: readonly { alertId: string; count: number; lastReadAt: number }[];
  /** All further reads, of new alerts and of known ones. */
  readonly sightings: readonly Sighting[];
}

type Group = { -readonly [Key in keyof KnownAlert]: KnownAlert[Key] } & {
  hit: Hit | null;
  sightings: number;
};

/**
 * Processes the reads in the order of their time. A read belongs to an alert of its entry, sensor and vehicle if it
 * happened at most ten minutes before the read that raised the alert, at most ten minutes after the latest read, or in
 * between; to a hit of its entry of a hotlist, whatever the sensor, within the time that the list says. A read that is not
 * part of a backlog never belongs to an alert that is: it has to be announced.
 * @param now Unix milliseconds
 */
export function groupByAlert(
  hits: readonly Hit[],
  known: readonly KnownAlert[],
  now: number,
  newId: () => string,
): Grouping {
  const ofVehicle = new Map<string, Group[]>();
  const add = (vehicle: string, group: Group) => {
    const groups = ofVehicle.get(vehicle);
    if (groups) groups.push(group);
    else ofVehicle.set(vehicle, [group]);
  };
  for (const alert of known) add(nameOf(alert), { ...alert, hit: null, sightings: 0 });
  const sightings: Sighting[] = [];
  // Ids begin with the time.
  for (const hit of [...hits].sort((a, b) => (a.row.id < b.row.id ? -1 : 1))) {
    const { time, id: eventId } = hit.row;
    const backlog = time < now - BACKLOG_MS;
    const vehicle = vehicleOf(hit);
    const own = (ofVehicle.get(vehicle) ?? [])
      .filter((group) => takesIn(group, time, sameWithinMs(hit)) && (backlog || !group.backlog))
      .sort((a, b) => Math.abs(a.readAt - time) - Math.abs(b.readAt - time))[0];
    if (own) {
      own.sightings++;
      own.lastReadAt = Math.max(own.lastReadAt, time);
      sightings.push({ alertId: own.id, entryId: own.entryId, eventId });
    } else
      add(vehicle, {
        id: newId(),
        ...keysOf(hit),
        readAt: time,
        lastReadAt: time,
        backlog,
        hit,
        sightings: 1,
      });
  }
  const groups = [...ofVehicle.values()].flat();
  return {
    opening: groups.flatMap(({ hit, ...group }) => (hit ? [{ ...group, hit }] : [])),
    repeats: groups.flatMap(({ hit, id, sightings: count, lastReadAt }) =>
      hit || count === 0 ? [] : [{ alertId: id, count, lastReadAt }],
    ),
    sightings,
  };
}

function takesIn({ readAt, lastReadAt }: KnownAlert, time: number, withinMs: number): boolean {
  return withinMs > 0 && time >= readAt - withinMs && time <= lastReadAt + withinMs;
}

/** How far reads that belong to one alert may be apart, in milliseconds. */
function sameWithinMs({ listed }: Hit): number {
  return listed ? listed.repeatMinutes * MINUTE_MS : SAME_ALERT_MS;
}

function matchOf({ entry, row }: Hit): Match {
  return { entryId: entry.id, eventId: row.id };
}

/**
 * The entry, sensor and vehicle of a read. For a fuzzy entry, plates that look alike are one vehicle. The reads of an entry of a
 * hotlist are of one vehicle, which any sensor may see.
 */
function keysOf({ entry, row, listed }: Hit): Pick<KnownAlert, 'entryId' | 'sensorId' | 'vehicleKey'> {
  if (listed) return { entryId: entry.id, sensorId: '', vehicleKey: '' };
  const key = row.plateKey ?? '';
  return {
    entryId: entry.id,
    sensorId: row.sensorId,
    vehicleKey: entry.fuzzy ? confusableKey(key) : key,
  };
}

function nameOf({ entryId, sensorId, vehicleKey }: Pick<KnownAlert, 'entryId' | 'sensorId' | 'vehicleKey'>) {
  return `${entryId} ${sensorId} ${vehicleKey}`;
}

function vehicleOf(hit: Hit): string {
  return nameOf(keysOf(hit));
}
