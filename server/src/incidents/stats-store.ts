import { severity } from '@gantry/contract/events';
import { type IncidentStats, incidentStatus, incidentType } from '@gantry/contract/incidents';
import { count, sql } from 'drizzle-orm';
import { rankOf } from '../events/severity.ts';
import { incidents } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { openedIn } from './list-store.ts';

const { openedAt, acknowledgedAt, resolvedAt, backlog } = incidents;

// An event may be dated up to five minutes ahead, and what it opens be dealt with before: that took no time.
const secondsUntil = (moment: typeof acknowledgedAt, which = sql``) =>
  sql<number>`coalesce(sum(greatest(0, extract(epoch FROM ${moment} - ${openedAt}))) ${which}, 0)::double precision`;

/** Nobody could acknowledge what came in late when it happened. */
const inTime = sql`FILTER (WHERE NOT ${backlog})`;

const toMilliseconds = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** Counts the incidents that were opened in the interval, and how long it took to act upon them. */
export const getIncidentStats = async (db: Executor, interval: Interval): Promise<IncidentStats> => {
  const rows = await db
    .select({
      status: incidents.status,
      type: incidents.type,
      rank: incidents.severity,
      n: count(),
      acknowledged: sql<number>`(count(${acknowledgedAt}) ${inTime})::int`,
      untilAcknowledged: secondsUntil(acknowledgedAt, inTime),
      resolved: count(resolvedAt),
      untilResolved: secondsUntil(resolvedAt),
    })
    .from(incidents)
    .where(openedIn(interval))
    .groupBy(incidents.status, incidents.type, incidents.severity);
  type Row = (typeof rows)[number];
  const sum = (of: (row: Row) => number, counts: (row: Row) => boolean = () => true): number =>
    rows.reduce((total, row) => (counts(row) ? total + of(row) : total), 0);
  const n = ({ n }: Row): number => n;
  const isOpen = ({ status }: Row): boolean => status !== 'RESOLVED' && status !== 'CLOSED';
  const mean = (seconds: number, times: number): number | null =>
    times === 0 ? null : toMilliseconds(seconds / times);
  return {
    total: sum(n),
    open: sum(n, isOpen),
    openBySeverity: severity.options.map((value) => ({
      severity: value,
      count: sum(n, (row) => isOpen(row) && row.rank === rankOf(value)),
    })),
    byStatus: incidentStatus.options.map((status) => ({
      status,
      count: sum(n, (row) => row.status === status),
    })),
    byType: incidentType.options.map((type) => ({ type, count: sum(n, (row) => row.type === type) })),
    meanTimeToAcknowledge: mean(
      sum((row) => row.untilAcknowledged),
      sum((row) => row.acknowledged),
    ),
    meanTimeToResolve: mean(
      sum((row) => row.untilResolved),
      sum((row) => row.resolved),
    ),
  };
};
