import { eventType } from '@gantry/contract/events';
import type { PreviewedRemoval, RetentionPreview, RetentionRules } from '@gantry/contract/storage';
import { type EventMonth, holdsMonth, listEventMonths, readMonthSizes } from '../../events/partitions.ts';
import type { Database } from '../../platform/database/pool.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { type Cutoffs, coversEveryType, cutoffsOf } from './cutoffs.ts';
import {
  countActivityBefore,
  countEventsBefore,
  countHeldDue,
  countImagesDue,
  countReportsBefore,
  countTrafficBefore,
  listHeldMonths,
  type MonthCount,
} from './preview-store.ts';

const END_OF_TIME = Date.UTC(9000, 0);

/** Whether retention drops the partition as a whole. */
export function dropsWholeMonth(
  due: Cutoffs,
  partition: EventMonth,
  heldMonths: ReadonlySet<string>,
): boolean {
  return (
    coversEveryType(due, partition.until) && ![...heldMonths].some((month) => holdsMonth(partition, month))
  );
}

/**
 * What the rules would remove at a time (Unix milliseconds). Images count if nothing refers to them after the removals.
 */
export async function previewRemovals(
  db: Database,
  rules: RetentionRules,
  now: number,
): Promise<RetentionPreview> {
  const due = cutoffsOf(rules, now);
  const events = await previewEvents(db, due);
  const images = await countImagesDue(db, due);
  const reports = due.reports === null ? [] : await countReportsBefore(db, due.reports);
  const activity = due.activity === null ? [] : await countActivityBefore(db, due.activity);
  const traffic = due.traffic === null ? [] : await countTrafficBefore(db, due.traffic);
  const removals = [
    ...events,
    ...plain('images', images ?? [], true),
    ...plain('reports', reports, true),
    ...plain('activity', activity, false),
    ...plain('traffic', traffic, false),
  ];
  const order = (each: PreviewedRemoval): string => `${each.class} ${each.month} ${each.eventType}`;
  return {
    rules,
    removals: removals
      .filter(({ rows, held }) => rows > 0 || held > 0)
      .sort((a, b) => (order(a) < order(b) ? -1 : 1)),
    totals: {
      events: sumOf(events),
      images: images && sumOf(images),
      reports: sumOf(reports),
      activity: sumOf(activity),
      traffic: sumOf(traffic),
    },
    held: events.reduce((sum, { held }) => sum + held, 0),
  };
}

function sumOf(counts: readonly { rows: number }[]): number {
  return counts.reduce((sum, { rows }) => sum + rows, 0);
}

function keyOf({ month, eventType: type }: MonthCount): string {
  return `${month} ${type}`;
}

async function previewEvents(db: Executor, due: Cutoffs): Promise<PreviewedRemoval[]> {
  if (due.events.size === 0) return [];
  const cutoffs = [...new Set(due.events.values())];
  const counts: MonthCount[] = [];
  for (const cutoff of cutoffs) {
    const types = [...due.events].filter(([, each]) => each === cutoff).map(([type]) => type);
    counts.push(...(await countEventsBefore(db, types, cutoff)));
  }
  const held = new Map((await countHeldDue(db, due)).map((count) => [keyOf(count), count.rows]));
  const heldMonths = await listHeldMonths(db);
  const partitions = await listEventMonths(db);
  const sizes = await readMonthSizes(db, partitions);
  const all = await countEventsBefore(db, eventType.options, END_OF_TIME);
  return counts.map((count) => {
    const partition = partitions.find((each) => holdsMonth(each, count.month));
    const beside = sumOf(all.filter(({ month }) => partition !== undefined && holdsMonth(partition, month)));
    const size = partition && sizes.get(partition.table);
    const staying = held.get(keyOf(count)) ?? 0;
    const rows = count.rows - staying;
    return {
      class: 'events',
      eventType: count.eventType,
      month: count.month,
      rows,
      bytes: size === undefined || size === null ? null : Math.round((size * rows) / Math.max(1, beside)),
      held: staying,
      wholeMonth: partition !== undefined && dropsWholeMonth(due, partition, heldMonths),
    };
  });
}

function plain(name: PreviewedRemoval['class'], counts: readonly MonthCount[], sized: boolean) {
  return counts.map(
    ({ month, rows, bytes }): PreviewedRemoval => ({
      class: name,
      eventType: null,
      month,
      rows,
      bytes: sized ? bytes : null,
      held: 0,
      wholeMonth: false,
    }),
  );
}
