import { createHash } from 'node:crypto';

/**
 * The result of a call as its sender knows it. `acknowledged`: answered 200. `refused`: answered with an error that
 * says that the call itself is wrong. `unknown`: no answer, or one that says to try again later.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** One event that a device reports, with all its calls. */
export interface Entry {
  /** Identifies the event, which contains it as its description. */
  readonly id: string;
  /** The input of `events.ingest` without the API key. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly sensor: number;
  /** Whether it has an idempotency key, so that it may be sent again. */
  readonly isKeyed: boolean;
  /** SHA-256 of the content that must be stored. */
  readonly hash: string;
  /** SHA-256 of its image; null if it has none. */
  readonly image: string | null;
  outcome: Outcome;
  eventId: string | null;
}

/** The SHA-256 hash of the content of an event, in hexadecimal. */
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

/** All events of one scene with their answers. */
export interface Journal {
  readonly entries: readonly Entry[];
  /** Violations of the promise that are visible in answers alone, as sentences. */
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
