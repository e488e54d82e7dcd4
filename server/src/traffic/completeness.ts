import type { Span, Watch } from './presence-store.ts';

const SLOT_MS = 300_000;

/** The time in a slot that each of some spans covers. They may overlap; what is known twice counts once. */
const coverSlots = (
  spans: readonly Span[],
  seen: readonly Span[],
  from: number,
  until: number,
): Float64Array => {
  const covered = new Float64Array(Math.ceil((until - from) / SLOT_MS));
  for (const span of spans) {
    const start = Math.max(span.from, from);
    const end = Math.min(span.until, until);
    for (let at = start; at < end; ) {
      const slot = Math.floor((at - from) / SLOT_MS);
      const next = Math.min(from + (slot + 1) * SLOT_MS, end);
      covered[slot] = Math.min(SLOT_MS, (covered[slot] ?? 0) + next - at);
      at = next;
    }
  }
  for (const { from: start } of seen)
    if (start >= from && start < until) covered[(start - from) / SLOT_MS] = SLOT_MS;
  return covered;
};

const bySensor = (spans: readonly Span[]): Map<string, Span[]> => {
  const groups = new Map<string, Span[]>();
  for (const span of spans) {
    const known = groups.get(span.sensorId);
    if (known) known.push(span);
    else groups.set(span.sensorId, [span]);
  }
  return groups;
};

const between = (time: number | null, least: number, most: number, otherwise: number): number =>
  Math.min(Math.max(time ?? otherwise, least), most);

/** What is known of the sensors of a place. */
export interface Presence {
  readonly watches: readonly Watch[];
  /** When sensors were ONLINE. */
  readonly online: readonly Span[];
  /** The slots of five minutes in which sensors saw anything. */
  readonly seen: readonly Span[];
}

/**
 * The share of each interval in which it is known what passed: the time that sensors cover over the time that they
 * stood there, up to `now`.
 * @param bounds the starts of the intervals and the end of the last one, on slots of five minutes
 */
export const completenessOf = (
  { watches, online, seen }: Presence,
  bounds: readonly number[],
  now: number,
): number[] => {
  const first = bounds[0] ?? 0;
  const last = bounds.at(-1) ?? first;
  const expected = new Float64Array(bounds.length);
  const covered = new Float64Array(bounds.length);
  const end = Math.max(first, Math.min(last, Math.ceil(now / SLOT_MS) * SLOT_MS));
  const onlineOf = bySensor(online);
  const seenOf = bySensor(seen);
  for (const watch of watches) {
    const [mine, sights] = [onlineOf.get(watch.sensorId) ?? [], seenOf.get(watch.sensorId) ?? []];
    const slots = coverSlots(mine, sights, first, end);
    const from = between(watch.from, first, end, first);
    const until = between(watch.until, first, end, end);
    let interval = 0;
    for (let n = 0; n < slots.length; n++) {
      const slot = first + n * SLOT_MS;
      while (slot >= (bounds[interval + 1] ?? Number.POSITIVE_INFINITY)) interval++;
      if (slot < from || slot >= until) continue;
      expected[interval] = (expected[interval] ?? 0) + SLOT_MS;
      covered[interval] = (covered[interval] ?? 0) + (slots[n] ?? 0);
    }
  }
  return Array.from({ length: bounds.length - 1 }, (_, n) => {
    const [part = 0, whole = 0] = [covered[n], expected[n]];
    return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
  });
};
