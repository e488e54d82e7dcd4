import { sql } from 'drizzle-orm';
import { findStoredRows } from '../../events/store.ts';
import { clearPrepared, idRanges } from '../../hotlists/staged-store.ts';
import { lockIdleList } from '../../hotlists/store.ts';
import type { Database } from '../../platform/database/pool.ts';
import { type Executor, inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import type { Outbox } from '../../realtime/publish.ts';
import { findRaised, type Hit, nameOfMatch } from '../../watchlist/alerts-store.ts';
import { findHits } from '../../watchlist/find-hits.ts';
import { findCandidates, IN_FORCE, loadPatterns } from '../../watchlist/hotlists-store.ts';
import { createPlateMatcher } from '../../watchlist/matching.ts';
import { raiseAlerts } from '../../watchlist/raise-alerts.ts';
import type { Check, Difference, Rebuild } from './check.ts';
import { HEARD_AFTER_MS, pagesOfEvents } from './effects-store.ts';

const ENTRIES = sql.raw('hotlist_entries AS entries JOIN hotlists ON hotlists.id = hotlist_id');

const WRONG_COUNTS = sql`
  SELECT hotlists.id AS "hotlistId", entry_count AS kept, coalesce(found.n, 0) AS counted FROM hotlists LEFT JOIN (
    SELECT hotlist_id AS id, count(*) AS n FROM ${ENTRIES} WHERE ${IN_FORCE} GROUP BY 1
  ) AS found USING (id) WHERE deleted_at IS NULL AND entry_count <> coalesce(found.n, 0)`;

/** Rows of versions that no import is preparing, and entries of which more than one row is in force. */
const WRONG_VERSIONS = sql`
  SELECT hotlist_id AS "hotlistId", entries.id AS "entryId", from_version AS "fromVersion", to_version AS "toVersion", version
  FROM ${ENTRIES} WHERE (from_version > version OR to_version > version) AND deleted_at IS NULL AND NOT EXISTS (
    SELECT FROM hotlist_imports WHERE hotlist_imports.hotlist_id = hotlists.id AND state = 'APPLYING')
  UNION ALL
  SELECT hotlist_id, entries.id, max(from_version), NULL, version FROM ${ENTRIES}
  WHERE ${IN_FORCE} AND deleted_at IS NULL GROUP BY 1, 2, version HAVING count(*) > 1`;

/** Hits whose number of reads differs from the reads that belong to them, and reads that count twice for an entry. */
const WRONG_SIGHTINGS = sql`
  SELECT hits.id AS "hitId", sightings AS kept, 1 + coalesce(seen.n, 0) AS counted FROM watchlist_alerts AS hits LEFT JOIN (
    SELECT alert_id AS id, count(*) AS n FROM watchlist_sightings GROUP BY 1
  ) AS seen USING (id) WHERE hotlist_id IS NOT NULL AND sightings <> 1 + coalesce(seen.n, 0)
  UNION ALL
  SELECT hits.id, 2, 1 FROM watchlist_alerts AS hits JOIN watchlist_sightings USING (entry_id, event_id)
  WHERE hotlist_id IS NOT NULL`;

/** From when on the hits of a list can be compared with events, in Unix milliseconds. */
interface Settled {
  /** From when on events came whose hits follow from the entries and settings of the list. */
  readonly cameAt: number;
  /** From when on the hits of reads are all kept. */
  readonly readAt: number;
}

/** When each list settled. Those that changed a moment ago are left out: a look-back may still find hits. */
async function settledSince(db: Executor): Promise<ReadonlyMap<string, Settled>> {
  const { rows } = await db.execute<{ id: string } & { [Field in keyof Settled]: Settled[Field] }>(sql`
    SELECT id, (extract(epoch FROM greatest(updated_at, refreshed_at, now() - make_interval(days => hit_days))) * 1000)::float8
        AS "cameAt",
      coalesce(extract(epoch FROM now() - make_interval(days => hit_days)) * 1000, 0)::float8 AS "readAt"
    FROM hotlists WHERE is_active AND deleted_at IS NULL AND NOT EXISTS (
      SELECT FROM hotlist_look_backs WHERE hotlist_id = hotlists.id AND kind = 'CHANGE' AND due_at IS NOT NULL)`);
  return new Map(rows.map(({ id, cameAt, readAt }) => [id, { cameAt: cameAt + HEARD_AFTER_MS, readAt }]));
}

/** Stored reads that no hit has, of lists that have not changed since. */
async function findMissing(db: Executor, limit: number): Promise<Hit[]> {
  const since = await settledSince(db);
  if (since.size === 0) return [];
  const patternsOf = createPlateMatcher(await loadPatterns(db));
  const lists = { mayList: () => true, patternsOf, isNear: true };
  const missing: Hit[] = [];
  for await (const page of pagesOfEvents(db, Math.min(...[...since.values()].map(({ cameAt }) => cameAt)))) {
    const cameAt = new Map(page.map(({ id, cameAt: at }) => [id, at]));
    const reads = page.flatMap(({ id, plateKey }) =>
      plateKey ? [{ eventId: id, plateKey, patterns: patternsOf(plateKey) }] : [],
    );
    const possible = await findCandidates(db, reads, true);
    const rows = await findStoredRows(db, [...new Set(possible.map(({ eventId }) => eventId))]);
    const due = (await findHits(lists, db, rows)).filter(({ listed, row }) => {
      const settled = since.get(listed?.hotlistId ?? '');
      return settled && (cameAt.get(row.id) ?? 0) > settled.cameAt && row.time > settled.readAt;
    });
    const raised = await findRaised(db, due.map(matchOf));
    missing.push(...due.filter((hit) => !raised.has(nameOfMatch(matchOf(hit)))));
    if (missing.length >= limit) break;
  }
  return missing.slice(0, limit);
}

function matchOf({ entry, row }: Hit) {
  return { entryId: entry.id, eventId: row.id };
}

export const hitsChecks: readonly Check[] = [
  {
    name: 'entries of hotlists',
    compares: 'the number of entries of a hotlist with those in force',
    find: async (db, limit) => rowsOf(db, sql`${WRONG_COUNTS} LIMIT ${limit}`),
    rebuild: 'hits',
  },
  {
    name: 'versions of hotlists',
    compares:
      'entries with the one version that is in force, and those of later versions with imports that are being applied',
    find: async (db, limit) => rowsOf(db, sql`${WRONG_VERSIONS} LIMIT ${limit}`),
    rebuild: 'hits',
  },
  {
    name: 'sightings of hits',
    compares: 'the number of reads of a hit with those that belong to it, each to one hit of an entry',
    find: async (db, limit) => rowsOf(db, sql`${WRONG_SIGHTINGS} LIMIT ${limit}`),
    rebuild: 'hits',
  },
  {
    name: 'hits of hotlists',
    compares: 'hits and their sightings with the events that hotlists match which did not change since',
    find: async (db, limit) => (await findMissing(db, limit)).map(matchOf),
    rebuild: 'hits',
  },
];

async function rowsOf(db: Executor, query: ReturnType<typeof sql>): Promise<Difference[]> {
  return (await db.execute(query)).rows;
}

/** Takes back what belongs to no version, range by range, because streams wait for transactions that write. */
async function clearVersions(db: Database, hotlistId: string, entries: number): Promise<number> {
  let changed = 0;
  for (const range of idRanges(entries)) {
    changed += await inTransaction(db, async (tx) => {
      await lockIdleList(tx, null, hotlistId);
      return clearPrepared(tx, hotlistId, range);
    });
  }
  // Of several rows in force, the latest counts.
  const { rowCount } = await db.execute(sql`
    UPDATE hotlist_entries AS entries SET to_version = later.from_version FROM hotlist_entries AS later
    WHERE entries.hotlist_id = ${hotlistId}::uuid AND later.hotlist_id = entries.hotlist_id AND later.id = entries.id
      AND entries.to_version IS NULL AND later.to_version IS NULL AND later.from_version > entries.from_version`);
  return changed + (rowCount ?? 0);
}

/** Counts entries and sightings again, and removes reads that count twice. */
async function countAgain(tx: Transaction): Promise<number> {
  const statements = [
    sql`UPDATE hotlists SET entry_count = wrong.counted FROM (${WRONG_COUNTS}) AS wrong WHERE hotlists.id = "hotlistId"`,
    sql`DELETE FROM watchlist_sightings AS seen USING watchlist_alerts AS hits
      WHERE hotlist_id IS NOT NULL AND hits.entry_id = seen.entry_id AND hits.event_id = seen.event_id`,
    sql`UPDATE watchlist_alerts SET sightings = wrong.counted FROM (${WRONG_SIGHTINGS}) AS wrong WHERE id = "hitId"`,
  ];
  let changed = 0;
  for (const statement of statements) changed += (await tx.execute(statement)).rowCount ?? 0;
  return changed;
}

/** Number of hits that are raised at once. */
const RAISED_AT_ONCE = 1_000;

async function raiseMissing(tx: Transaction, outbox: Outbox): Promise<number> {
  const missing = await findMissing(tx, Number.POSITIVE_INFINITY);
  for (let at = 0; at < missing.length; at += RAISED_AT_ONCE)
    await raiseAlerts({ outbox }, tx, missing.slice(at, at + RAISED_AT_ONCE));
  return missing.length;
}

export const rebuildHits: Rebuild = async ({ db, change, outboxOf }) => {
  const { rows: lists } = await db.execute<{ id: string; n: number }>(sql`
    SELECT hotlist_id AS id, count(*) AS n FROM hotlist_entries
    WHERE hotlist_id IN (SELECT "hotlistId" FROM (${WRONG_VERSIONS}) AS wrong) GROUP BY 1`);
  let changed = 0;
  for (const { id, n } of lists) changed += await clearVersions(db, id, n);
  changed += await change(countAgain);
  return changed + (await change(async (tx) => raiseMissing(tx, await outboxOf(tx))));
};
