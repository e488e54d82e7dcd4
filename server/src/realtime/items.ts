import type { Event } from '@gantry/contract/events';
import type { IncidentChange } from '@gantry/contract/incidents';
import type { Topic } from '@gantry/contract/realtime';
import type { SensorStatusChange } from '@gantry/contract/sensors';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import type { Change } from './changes-store.ts';
import { compare, type Mark, type Position } from './position.ts';

/** What each topic tells of. */
export interface Things {
  readonly events: Event;
  readonly sensors: SensorStatusChange;
  readonly incidents: IncidentChange;
  readonly watchlist: WatchlistAlert;
}

/** One thing that happened, and the mark that says that it was told. */
export interface Item<Name extends Topic = Topic> {
  readonly topic: Name;
  readonly thing: Things[Name];
  /** Where the feed goes on after it. */
  readonly mark: Mark;
}

/** Most events that are fetched at once. */
const EVENTS_AT_ONCE = 1_000;

/** Finds events by their ids; those that are gone are not among them. */
export type FindEvents = (ids: readonly string[]) => Promise<ReadonlyMap<string, Event>>;

const itemsOf = (change: Change, events: ReadonlyMap<string, Event>): Item[] => {
  const { xid, seq, topic, at } = change;
  if (topic !== 'events') {
    const thing = change.body as Things[typeof topic];
    return [{ topic, thing, mark: { position: { xid, seq: seq + 1n, index: 0 }, at } }];
  }
  return change.eventIds.flatMap((id, index) => {
    const thing = events.get(id);
    return thing ? [{ topic, thing, mark: { position: { xid, seq, index: index + 1 }, at } }] : [];
  });
};

/** Parts of a page that have few enough events to be fetched at once, in order. */
const portionsOf = (changes: readonly Change[]): Change[][] => {
  const portions: Change[][] = [];
  let room = 0;
  for (const change of changes) {
    const size = change.eventIds.length;
    const last = portions.at(-1);
    if (last && size <= room) last.push(change);
    else portions.push([change]);
    room = (last && size <= room ? room : EVENTS_AT_ONCE) - size;
  }
  return portions;
};

/** The things that the changes tell of, from a position on, in order and in portions. */
export const readItems = async function* (
  findEvents: FindEvents,
  changes: readonly Change[],
  from: Position,
): AsyncGenerator<readonly Item[]> {
  for (const portion of portionsOf(changes)) {
    const ids = portion.flatMap(({ eventIds }) => eventIds);
    const events = ids.length === 0 ? new Map<string, Event>() : await findEvents(ids);
    const items = portion.flatMap((change) => itemsOf(change, events));
    yield items.filter(({ mark }) => compare(mark.position, from) > 0);
  }
};
