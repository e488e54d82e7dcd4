import { hash } from 'node:crypto';
import type { GantryClient } from '@gantry/client';
import pg from 'pg';
import { contentOf, type Journal } from './journal.ts';

/** The result of comparing the journal with the database. */
export interface Audit {
  readonly sent: number;
  readonly acknowledged: number;
  /** Acknowledged events that are not stored. */
  readonly lost: number;
  /** Events that are stored more than once. */
  readonly doubled: number;
  /** Stored events whose content differs from what was sent. */
  readonly altered: number;
  /** Refused events that were stored nevertheless. */
  readonly ghosts: number;
  /** Events with an idempotency key that were neither acknowledged nor refused, despite retries. */
  readonly unanswered: number;
  /** The violations of the promise, as sentences; empty if there are none. */
  readonly breaches: readonly string[];
}

interface Stored {
  readonly id: string;
  readonly description: string;
  readonly event_type: string;
  readonly violation_type: string | null;
  readonly plate: string | null;
  readonly vehicle_speed: number | null;
  readonly time: string;
}

const EXAMPLES = 5;

/** Compares the answers that devices received with what is stored. */
export async function audit(databaseUrl: string, journal: Journal): Promise<Audit> {
  const stored = new Map<string, Stored[]>();
  for (const row of await readStored(databaseUrl)) {
    const known = stored.get(row.description);
    if (known) known.push(row);
    else stored.set(row.description, [row]);
  }
  const lost: string[] = [];
  const doubled: string[] = [];
  const altered: string[] = [];
  const ghosts: string[] = [];
  const unanswered: string[] = [];
  for (const entry of journal.entries) {
    const rows = stored.get(entry.id) ?? [];
    const [row] = rows;
    if (rows.length > 1) doubled.push(entry.id);
    if (entry.outcome === 'refused' && row) ghosts.push(entry.id);
    if (entry.outcome === 'unknown' && entry.isKeyed) unanswered.push(entry.id);
    if (entry.outcome !== 'acknowledged') continue;
    if (!row || row.id !== entry.eventId) {
      lost.push(entry.id);
      continue;
    }
    const hash = contentOf({
      description: row.description,
      eventType: row.event_type,
      violationType: row.violation_type,
      licensePlateNumber: row.plate,
      vehicleSpeed: row.vehicle_speed,
      time: entry.isKeyed ? Number(row.time) : null,
    });
    if (hash !== entry.hash) altered.push(entry.id);
  }
  return {
    sent: journal.entries.length,
    acknowledged: journal.count('acknowledged'),
    lost: lost.length,
    doubled: doubled.length,
    altered: altered.length,
    ghosts: ghosts.length,
    unanswered: unanswered.length,
    breaches: [
      ...journal.breaches,
      ...sentence('acknowledged events are not stored', lost),
      ...sentence('events are stored more than once', doubled),
      ...sentence('events are stored with other content', altered),
      ...sentence('refused events are stored', ghosts),
      ...sentence('events could not be sent again until they were acknowledged', unanswered),
    ],
  };
}

/** Number of images that are read at the same time. */
const IMAGES_AT_ONCE = 8;

/** Reads the images of acknowledged events from the service. @returns what is wrong with them, as sentences */
export async function auditImages(
  { token }: Pick<GantryClient, 'token'>,
  url: string,
  journal: Journal,
): Promise<string[]> {
  const wrong: string[] = [];
  const read = async (sha256: string): Promise<string | null> => {
    const answer = await fetch(`${url}/images/${sha256}`, { headers: { authorization: `Bearer ${token}` } });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200) return `answered ${answer.status}`;
    return hash('sha256', bytes) === sha256 ? null : 'other bytes';
  };
  const withImage = journal.entries.flatMap(({ id, image, outcome }) =>
    image !== null && outcome === 'acknowledged' ? [{ id, image }] : [],
  );
  for (let at = 0; at < withImage.length; at += IMAGES_AT_ONCE) {
    const some = withImage.slice(at, at + IMAGES_AT_ONCE);
    const flaws = await Promise.all(some.map(({ image }) => read(image)));
    for (const [nth, { id }] of some.entries()) if (flaws[nth]) wrong.push(`${id} (${flaws[nth]})`);
  }
  return sentence('acknowledged events have no image any more', wrong);
}

async function readStored(databaseUrl: string): Promise<Stored[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Stored>(`
      SELECT id, description, event_type, violation_type, plate, vehicle_speed,
        (extract(epoch FROM event_time(id)) * 1000)::bigint::text AS time
      FROM events WHERE description IS NOT NULL`);
    return rows;
  } finally {
    await client.end();
  }
}

function sentence(what: string, ids: readonly string[]): string[] {
  return ids.length === 0 ? [] : [`${ids.length} ${what}: ${ids.slice(0, EXAMPLES).join(', ')}`];
}
