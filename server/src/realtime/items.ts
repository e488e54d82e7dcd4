import type { Alarm } from '@gantry/contract/alarms';
import type { CaseChange } from '@gantry/contract/cases';
import type { Event } from '@gantry/contract/events';
import type { Fault } from '@gantry/contract/faults';
import type { HitChange } from '@gantry/contract/hits';
import type { IncidentChange } from '@gantry/contract/incidents';
import type { LogEntry } from '@gantry/contract/log';
import { type Topic, topic } from '@gantry/contract/realtime';
import type { SensorStatusChange } from '@gantry/contract/sensors';
import type { WatchlistAlert } from '@gantry/contract/watchlist';
import type { WorksChange } from '@gantry/contract/works';
import type { Change } from './changes-store.ts';
import { type Cursor, compare, type Position } from './position.ts';

/** The payload of each topic. */
export interface TopicPayloads {
  readonly events: Event;
  readonly sensors: SensorStatusChange;
  readonly incidents: IncidentChange;
  readonly watchlist: WatchlistAlert;
  readonly hits: HitChange;
  readonly alarms: Alarm;
  readonly log: LogEntry;
  readonly works: WorksChange;
  readonly faults: Fault;
  readonly cases: CaseChange;
}

/** One payload with the cursor that confirms its delivery. */
export interface FeedItem<Name extends Topic = Topic> {
  readonly topic: Name;
  readonly payload: TopicPayloads[Name];
  /** The position of the feed after it. */
  readonly cursor: Cursor;
}

/** Maximum number of events that are fetched at once. */
const EVENTS_AT_ONCE = 1_000;

/** Finds events by their ids; ids that do not exist are left out. */
export type FindEvents = (ids: readonly string[]) => Promise<ReadonlyMap<string, Event>>;

/** Changes with few enough events to be fetched at once. */
export interface Portion {
  /** The position of the feed after it. */
  readonly end: Cursor;
  /** The number of its events. */
  readonly size: number;
  /**
   * Its items of the topics, in the order of the feed. Events are fetched on the first call, and again after a failure.
   * @param topics as returned by `selectTopics`: callers that pass the same object share the answer
   */
  items(topics: readonly Topic[]): Promise<readonly FeedItem[]>;
}

/** Divides the changes of a page into portions, in order. A portion returns the same items to all callers. */
export function portionsOf(findEvents: FindEvents, changes: readonly Change[]): readonly Portion[] {
  const portions: [Change, ...Change[]][] = [];
  let room = 0;
  for (const change of changes) {
    const size = change.eventIds.length;
    const last = portions.at(-1);
    if (last && size <= room) last.push(change);
    else portions.push([change]);
    room = (last && size <= room ? room : EVENTS_AT_ONCE) - size;
  }
  return portions.map((some) => createPortion(findEvents, some, some.at(-1) ?? some[0]));
}

/** Those of the items, which are in order, that come after the position. */
export function itemsAfter(items: readonly FeedItem[], from: Position): readonly FeedItem[] {
  const first = items.findIndex(({ cursor }) => compare(cursor.position, from) > 0);
  return first === 0 ? items : first === -1 ? [] : items.slice(first);
}

function itemsOf(change: Change, events: ReadonlyMap<string, Event>): FeedItem[] {
  const { xid, seq, topic, at } = change;
  if (topic !== 'events') {
    const payload = change.body as TopicPayloads[typeof topic];
    return [{ topic, payload, cursor: { position: { xid, seq: seq + 1n, index: 0 }, at } }];
  }
  return change.eventIds.flatMap((id, index) => {
    const payload = events.get(id);
    return payload ? [{ topic, payload, cursor: { position: { xid, seq, index: index + 1 }, at } }] : [];
  });
}

function createPortion(findEvents: FindEvents, changes: readonly Change[], last: Change): Portion {
  const ids = changes.flatMap(({ eventIds }) => eventIds);
  const read = new Map<readonly Topic[], Promise<readonly FeedItem[]>>();
  let found: Promise<ReadonlyMap<string, Event>> | null = null;
  // Events are fetched once for all selections: the message about an event is cached with its object, so all streams
  // must get the same object.
  const findAll = (): Promise<ReadonlyMap<string, Event>> => {
    found ??= findEvents(ids).catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
  const readAll = async (topics: readonly Topic[]): Promise<readonly FeedItem[]> => {
    const own = changes.filter(({ topic }) => topics.includes(topic));
    const areEvents = topics.includes('events') && ids.length > 0;
    const events = areEvents ? await findAll() : new Map<string, Event>();
    return own.flatMap((change) => itemsOf(change, events));
  };
  return {
    end: { position: { xid: last.xid, seq: last.seq + 1n, index: 0 }, at: last.at },
    size: ids.length,
    items(topics) {
      let items = read.get(topics);
      if (!items) {
        items = readAll(topics);
        items.catch(() => read.delete(topics));
        read.set(topics, items);
      }
      return items;
    },
  };
}

/** The known selections by their topics: at most one for each non-empty set of the ten topics, so 1,023. */
const selections = new Map<string, readonly Topic[]>();

/**
 * The topics, each once and in a fixed order. The same topics always give the same object, by which the hub and the
 * shared pages recognise streams that follow the same topics.
 */
export function selectTopics(wanted: readonly Topic[]): readonly Topic[] {
  const selected = topic.options.filter((each) => wanted.includes(each));
  const key = selected.join();
  const known = selections.get(key);
  if (!known) selections.set(key, selected);
  return known ?? selected;
}
