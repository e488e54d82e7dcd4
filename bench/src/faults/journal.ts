import { createHash } from 'node:crypto';

/**
 * What became of a call, as its sender knows it. `acknowledged`: answered 200. `refused`: answered with an error that
 * says that the call itself is wrong. `unknown`: no answer, or one that says to try again later.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** One event that a device wants to report, over all the calls it takes. */
export interface Entry {
  /** Tells the event from all others; the event carries it as its description. */
  readonly id: string;
  /** The input of `events.ingest` without the API key. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly sensor: number;
  /** Whether it has an idempotency key, so that it may be sent again. */
  readonly isKeyed: boolean;
  /** SHA-256 of what has to be stored. */
  readonly hash: string;
  outcome: Outcome;
  eventId: string | null;
}

/** What was stored of an event, or is to be, as one text that can be hashed. */
export function contentOf(of: {
  readonly description: string;
  readonly eventType: string;
  readonly violationType: string | null;
  readonly licensePlateNumber: string | null;
  readonly vehicleSpeed: number | null;
  readonly time: number | null;
}): string {
  return createHash('sha256')
    .update(
      JSON.stringify([
        of.description,
        of.eventType,
        of.violationType,
        of.licensePlateNumber,
        of.vehicleSpeed,
        of.time,
      ]),
    )
    .digest('hex');
}

/** Everything that was sent in one scene, and what was heard of it. */
export interface Journal {
  readonly entries: readonly Entry[];
  /** Breaches of the promise that show in answers alone, in sentences. */
  readonly breaches: string[];
  add(entry: Omit<Entry, 'outcome' | 'eventId'>): Entry;
  count(outcome: Outcome): number;
}

export function createJournal(): Journal {
  const entries: Entry[] = [];
  return {
    entries,
    breaches: [],
    add(given) {
      const entry: Entry = { ...given, outcome: 'unknown', eventId: null };
      entries.push(entry);
      return entry;
    },
    count: (outcome) => entries.filter((entry) => entry.outcome === outcome).length,
  };
}
