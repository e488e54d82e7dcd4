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

const SAME_ALERT_MS = SAME_ALERT_MINUTES * MINUTE_MS;

/** The age of a read from which its alert counts as backlog. */
const BACKLOG_MS = 15 * MINUTE_MS;

/**
 * Stores an alert for each event that matches an entry, and publishes it when the transaction commits. A further read
 * of the vehicle by the same sensor belongs to the alert (`groupByAlert`), which is published to subscribers again.
 * Each pair of entry and event counts once, however often this is called.
 */
export async function raiseAlerts(
  app: { readonly outbox: Outbox },
  tx: Executor,
  hits: readonly Hit[],
): Promise<void> {
  if (hits.length === 0) return;
  const now = await lockAlertsOf(tx, [...new Set(hits.map(({ row }) => row.sensorId))]);
  const byPair = new Map(hits.map((hit) => [nameOfMatch(matchOf(hit)), hit]));
  const raised = await findRaised(tx, hits.map(matchOf));
  const due = [...byPair].flatMap(([pair, hit]) => (raised.has(pair) ? [] : [hit]));
  if (due.length === 0) return;
  const times = due.map(({ row }) => row.time);
  const vehicles = new Map(due.map((hit) => [vehicleOf(hit), keysOf(hit)]));
  const known = await findAlertsOfVehicles(
    tx,
    [...vehicles.values()],
    Math.min(...times) - SAME_ALERT_MS,
    Math.max(...times) + SAME_ALERT_MS,
  );
  const { opening, repeats, sightings } = groupByAlert(due, known, now, randomUUID);

  await insertAlerts(tx, opening);
  await countRepeats(tx, repeats);
  await insertSightings(tx, sightings);
  const opened = await findAlerts(
    tx,
    opening.map(({ id }) => id),
  );
  await publish(
    app,
    tx,
    opened.map((body) => ({ topic: 'watchlist', body })),
  );
  // Not sent to webhooks, whose receivers treat every message of this kind as a new alert.
  const repeated = await findAlerts(
    tx,
    repeats.map(({ alertId }) => alertId),
  );
  await recordChanges(
    tx,
    repeated.map((body) => ({ topic: 'watchlist', body })),
  );
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
 * between. A read that is not part of a backlog never belongs to an alert that is: it has to be announced.
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
      .filter((group) => takesIn(group, time) && (backlog || !group.backlog))
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

function takesIn({ readAt, lastReadAt }: KnownAlert, time: number): boolean {
  return time >= readAt - SAME_ALERT_MS && time <= lastReadAt + SAME_ALERT_MS;
}

function matchOf({ entry, row }: Hit): Match {
  return { entryId: entry.id, eventId: row.id };
}

/** The entry, sensor and vehicle of a read. For a fuzzy entry, plates that look alike are one vehicle. */
function keysOf({ entry, row }: Hit): Pick<KnownAlert, 'entryId' | 'sensorId' | 'vehicleKey'> {
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
