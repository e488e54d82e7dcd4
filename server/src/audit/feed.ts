import type { ActivityPage, ReadActivityInput } from '@gantry/contract/audit';
import { HOUR_MS } from '@gantry/contract/durations';
import type { ActivityLogEntry } from '@gantry/contract/users';
import { viewEntries } from '../accounts/users.ts';
import type { ActorContext } from '../platform/context.ts';
import { type Executor, inTransaction } from '../platform/database/transaction.ts';
import { invalidInput } from '../platform/error.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Foundation } from '../platform/start.ts';
import type { WebhookDispatch } from '../webhooks/dispatch.ts';
import {
  type ActivityPosition,
  adoptActivity,
  type FeedRow,
  hasActivityToForward,
  isPossible,
  lastActivity,
  lockForwarding,
  moveForwarding,
  readActivity,
} from './feed-store.ts';

/** Before all entries. */
const START: ActivityPosition = { xid: '0', id: '0' };

/**
 * Entries of the activity log in the order of their commits, none left out.
 * @throws AppError `badRequest` for a position of another database
 */
export async function viewActivityFeed(
  { app }: ActorContext,
  { after, take }: ReadActivityInput,
): Promise<ActivityPage> {
  const from = after === undefined ? START : positionOf(after);
  if (!(await isPossible(app.db, from)))
    throw invalidInput('after', 'This position is of another database: begin again without `after`');
  const rows = await readActivity(app.db, from, take);
  const last = rows.at(-1);
  return { entries: await viewEntries(app.db, rows), next: last ? textOf(last) : textOf(from) };
}

function positionOf(text: string): ActivityPosition {
  const [xid = '', id = ''] = text.split('-');
  return { xid, id };
}

function textOf({ xid, id }: { readonly xid: string; readonly id: string | number }): string {
  return `${xid}-${id}`;
}

/** Number of entries that are forwarded in one transaction. */
const AT_ONCE = 500;

/** The longest time between looks for new entries, in milliseconds. */
const REST_MS = 10_000;

/** What was written this long ago cannot be of a transaction that has only ended now, in milliseconds. */
const LONG_AGO_MS = HOUR_MS;

interface ForwardingParts {
  readonly db: Foundation['core']['db'];
  readonly webhooks: WebhookDispatch;
  readonly now: () => number;
  /** Writes an entry to a log outside of the service; null if there is none. */
  readonly print: ((entry: ActivityLogEntry) => void) | null;
}

/**
 * Forwards new entries to webhooks and to standard output, in the order of their commits, in one of the processes that
 * call it at the same time. What is sent to webhooks is sent once; a line is printed again if the process dies between
 * its printing and the commit.
 * @returns whether there may be more
 */
export function forwardActivity(parts: ForwardingParts): Promise<boolean> {
  return inTransaction(parts.db, async (tx) => {
    const forwarded = await lockForwarding(tx);
    if (forwarded === null) return false;
    const { after, lastId } = forwarded;
    const isHeard = parts.print !== null || parts.webhooks.wants('activity');
    const last = isHeard ? undefined : await lastActivity(tx, after);
    const rows = isHeard ? await readActivity(tx, after, AT_ONCE) : [];
    const end = last ?? rows.at(-1);
    if (end === undefined) return false;
    const cutoff = parts.now() - LONG_AGO_MS;
    // After a restore, the entries of before have new transactions.
    const isNew = ({ id, at }: FeedRow): boolean => id > lastId || Date.parse(at) > cutoff;
    await send(tx, parts, rows.filter(isNew));
    await moveForwarding(tx, end, Math.max(lastId, end.id, ...rows.map(({ id }) => id)));
    return rows.length === AT_ONCE;
  });
}

async function send(
  tx: Executor,
  { webhooks, print }: ForwardingParts,
  rows: readonly FeedRow[],
): Promise<void> {
  const entries = await viewEntries(tx, rows);
  await webhooks.enqueue(
    tx,
    entries.map((subject) => ({ kind: 'activity' as const, subject })),
  );
  if (print !== null) for (const entry of entries) print(entry);
}

/** Starts forwarding entries of the activity log. */
export async function startForwarding(
  { core: { config, db, clock, log, timings }, resources }: Foundation,
  webhooks: WebhookDispatch,
): Promise<void> {
  await adoptActivity(db);
  const print =
    config.ACTIVITY_LOG === 'stdout'
      ? (entry: ActivityLogEntry) => void process.stdout.write(`${JSON.stringify(entry)}\n`)
      : null;
  const parts = { db, webhooks, now: clock.now, print };
  const failure = 'entries of the activity log cannot be forwarded now; the next round continues';
  resources.use(
    startPeriodic(
      {
        everyMs: timings.forwardActivityMs,
        restMs: Math.max(timings.forwardActivityMs, REST_MS),
        log,
        failure,
      },
      async (isOver) => {
        if (!(await hasActivityToForward(db))) return false;
        while ((await forwardActivity(parts)) && !isOver());
        return true;
      },
    ),
  );
}
