import { hash } from 'node:crypto';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { plateKey } from '@gantry/contract/plate';
import type { Activity, ActivityLogInput } from '@gantry/contract/users';
import { count, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { Caller } from '../platform/context.ts';
import { moment } from '../platform/database/moment.ts';
import { activity } from '../platform/database/tables.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

/** Actions of users that are recorded, as `noun.verb`. */
export type ActivityAction =
  | `auth.${'login' | 'logout' | 'loginFailed' | 'passwordChanged' | 'sessionRevoked'}`
  | `auth.${'secondFactorEnabled' | 'secondFactorDisabled' | 'recoveryCodeUsed' | 'recoveryCodesRenewed'}`
  | `auth.${'passwordResetRequested' | 'passwordReset'}`
  | `apiTokens.${'create' | 'revoke'}`
  | `users.${'create' | 'update' | 'delete' | 'updateRole' | 'resetPassword' | 'resetSecondFactor' | 'linkIdentity'}`
  | `sensors.${'create' | 'update' | 'delete' | 'rotateKey' | 'revealKey'}`
  | `${'locations' | 'points' | 'assignments'}.${'create' | 'update' | 'delete'}`
  | `events.${'markAsProcessed' | 'markAsArchived' | 'undoArchive' | 'review' | 'undoReview' | 'delete' | 'lookUpPlate'}`
  | `incidents.${'create' | 'update' | 'acknowledge' | 'assign' | 'start' | 'resolve' | 'reopen' | 'close' | 'addNote' | 'attachEvent'}`
  | `incidents.${'verify' | 'rejectFalse' | 'setTimes' | 'setLanes' | 'setFacts'}`
  | `incidents.${'addAgency' | 'updateAgency' | 'removeAgency' | 'takeOver' | 'merge'}`
  | `incidents.${'setPlan' | 'completeStep' | 'skipStep'}`
  | `${'agencies' | 'plans'}.${'create' | 'update' | 'delete'}`
  | `watchlist.${'create' | 'update' | 'delete' | 'acknowledgeAlert' | 'undoAcknowledgeAlert'}`
  | `hotlists.${'create' | 'update' | 'delete' | 'addEntry' | 'updateEntry' | 'endEntry' | 'stage' | 'applyImport' | 'cancelImport' | 'revert' | 'lookBack' | 'cancelLookBack'}`
  | `hits.${'confirm' | 'reject' | 'setOutcome'}`
  | `views.${'create' | 'update' | 'delete' | 'setDefault'}`
  | `connections.${'create' | 'update' | 'rotate' | 'delete' | 'replay' | 'register'}`
  | 'alarms.acknowledge'
  | `${'alarmRules' | 'policies'}.${'create' | 'update' | 'delete'}`
  | `silences.${'create' | 'end'}`
  | 'log.correct'
  | `shifts.${'start' | 'handOver' | 'accept' | 'close'}`
  | `webhooks.${'create' | 'update' | 'delete' | 'test' | 'redeliver'}`
  | `channels.${'create' | 'update' | 'delete' | 'test'}`
  | `contacts.${'create' | 'update' | 'delete' | 'verify' | 'sendCode'}`
  | `rotas.${'create' | 'update' | 'delete'}`
  | 'notices.redeliver'
  | `reports.${'generate' | 'download' | 'cancel' | 'delete' | 'createSchedule' | 'updateSchedule' | 'deleteSchedule'}`
  | `studies.${'create' | 'freeze' | 'sign' | 'reject' | 'delete' | 'export'}`
  | `storage.${'setRetention' | 'runRetention' | 'setHold' | 'releaseHold'}`
  | 'traffic.reviewData'
  | `calendars.${'create' | 'delete'}`
  | 'backups.create'
  | 'counts.import'
  | 'locations.import'
  | 'sensors.import'
  | 'sensors.updateMany'
  | 'images.view'
  | 'system.updateTimezoneSettings';

/** The user id of activity under an unknown e-mail address; no user has it. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Maximum length of a stored user agent, in characters. */
const USER_AGENT_MAX = 300;

/** Records an action in the transaction that performs it. */
export async function recordActivity(
  db: Executor,
  userId: string,
  caller: Caller,
  action: ActivityAction,
  details?: Record<string, unknown>,
): Promise<void> {
  await db.insert(activity).values({
    userId,
    action,
    ipAddress: caller.address,
    userAgent: caller.userAgent?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null,
    details: withToken(caller, details) ?? null,
  });
}

/** The details with the API token that the call was made with, if any. */
function withToken({ apiToken }: Caller, details?: Readonly<Record<string, unknown>>) {
  return apiToken ? { ...details, apiToken: apiToken.name, apiTokenId: apiToken.id } : details;
}

/** The actions of a user, newest first. */
export async function listActivity(
  db: Executor,
  userId: string,
  { skip, take }: { skip: number; take: number },
): Promise<Page<Activity>> {
  const ofUser = eq(activity.userId, userId);
  const [rows, [counted]] = await Promise.all([
    db.select().from(activity).where(ofUser).orderBy(desc(activity.id)).limit(take).offset(skip),
    db.select({ total: count() }).from(activity).where(ofUser),
  ]);
  const items = rows.map((row) => ({
    action: row.action,
    timestamp: row.at,
    ...(row.ipAddress !== null && { ipAddress: row.ipAddress }),
    ...(row.userAgent !== null && { userAgent: row.userAgent }),
    ...(row.details !== null && { details: row.details }),
  }));
  return { items, total: counted?.total ?? 0 };
}

/** An entry of the activity log as it is read. */
export interface ActivityRow {
  readonly id: number;
  readonly userId: string;
  readonly action: string;
  readonly at: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  readonly details: Record<string, unknown> | null;
}

const COLUMNS = sql.raw(
  'id, user_id AS "userId", action, at, ip_address AS "ipAddress", user_agent AS "userAgent", details',
);

/** Ids are numbers of at most 18 digits. */
const ID = /^[1-9]\d{0,17}$/;

/** One entry; null when there is none. */
export async function findActivity(db: Executor, id: string): Promise<ActivityRow | null> {
  if (!ID.test(id)) return null;
  const { rows } = await db.execute<ActivityRow & Record<string, unknown>>(
    sql`SELECT ${COLUMNS} FROM activity WHERE id = ${id}::bigint`,
  );
  return rows[0] ?? null;
}

/** One page of the actions of all users that match the filters, newest first, with their total number. */
export async function listActivityLog(
  db: Executor,
  input: ActivityLogInput,
  interval: Interval,
): Promise<Page<ActivityRow>> {
  const wanted = conditions(input, interval, await plateSpellings(db, input.about));
  // Plan: activity_pkey from its end, or activity_of_user.
  const { rows } = await db.execute<ActivityRow & Record<string, unknown>>(sql`
    SELECT ${COLUMNS} FROM activity WHERE ${wanted} ORDER BY id DESC LIMIT ${input.take} OFFSET ${input.skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*) AS total FROM activity WHERE ${wanted}`,
  );
  return { items: rows, total: counted[0]?.total ?? 0 };
}

/** The plates and patterns in the log that are the same as a text. Only the contract can compare plates. */
async function plateSpellings(db: Executor, about: string | undefined): Promise<string[]> {
  const key = about === undefined || isUuid(about) || about.includes('@') ? '' : plateKey(about);
  if (key === '') return [];
  const { rows } = await db.execute<{ plate: string }>(sql`
    SELECT DISTINCT coalesce(details ->> 'plate', details ->> 'pattern') AS plate FROM activity
    WHERE (starts_with(action, 'watchlist.') OR starts_with(action, 'hotlists.') OR starts_with(action, 'hits.')
      OR action = 'events.lookUpPlate') AND details ?| ARRAY['plate', 'pattern']`);
  return rows.flatMap(({ plate }) => (plateKey(plate) === key ? [plate] : []));
}

/** @param spellings further texts for `about` */
function conditions(
  { userId, action, about }: ActivityLogInput,
  { from, until }: Interval,
  spellings: readonly string[],
): SQL {
  const wanted = [sql`true`];
  if (userId !== undefined) wanted.push(isUuid(userId) ? sql`user_id = ${userId}::uuid` : sql`false`);
  if (action !== undefined) {
    wanted.push(action.endsWith('.') ? sql`starts_with(action, ${action})` : sql`action = ${action}`);
  }
  if (about !== undefined) {
    wanted.push(
      sql`EXISTS (SELECT FROM jsonb_each_text(details) AS detail
        WHERE lower(detail.value) = lower(${about}) OR detail.value = ANY (${sql.param(spellings)}::text[]))`,
    );
  }
  if (from !== Number.NEGATIVE_INFINITY) wanted.push(sql`at >= ${moment(from)}`);
  if (until !== Number.POSITIVE_INFINITY) wanted.push(sql`at < ${moment(until)}`);
  return sql.join(wanted, sql` AND `);
}

/** An action that may occur many times in a short time, so that one row represents all occurrences. */
interface Gathered {
  readonly userId: string;
  readonly action: ActivityAction;
  /** Distinguishes the row from others of the same user and action. */
  readonly about: string;
  /** How long a row is used, in seconds. */
  readonly seconds: number;
  readonly details?: Readonly<Record<string, unknown>>;
}

const COUNT_ONE_MORE = sql`UPDATE SET details = activity.details
  || jsonb_build_object('count', (activity.details ->> 'count')::integer + 1)
  || CASE WHEN activity.ip_address IS DISTINCT FROM excluded.ip_address THEN '{"otherAddresses": true}' ELSE '{}' END::jsonb`;

/** Counts a repetition in a row that has no count before the first repetition. */
const COUNT_ANOTHER = sql`UPDATE SET details = activity.details
  || jsonb_build_object('count', coalesce((activity.details ->> 'count')::integer, 1) + 1)`;

/** Maximum number of rows for the failed logins of one account in a minute, from any number of addresses. */
export const ADDRESS_GROUPS = 16;

/**
 * Records a failed login: one row a minute for each account and group of addresses, with a count, so that a flood cannot
 * fill the log.
 * @param userId null for an unknown e-mail address, which is not stored because people type passwords into that field
 * too
 */
export function recordFailedLogin(db: Executor, userId: string | null, caller: Caller): Promise<void> {
  const group = Number.parseInt(hash('sha256', caller.address, 'hex').slice(0, 8), 16) % ADDRESS_GROUPS;
  const failed: Gathered = {
    userId: userId ?? NOBODY,
    action: 'auth.loginFailed',
    about: String(group),
    seconds: 60,
    details: { count: 1 },
  };
  return gather(db, caller, failed, COUNT_ONE_MORE);
}

/** A search for a plate. A caller may request several pages of it, and a stream may resume it. */
interface PlateSearch {
  /** The filters, which are the same on every page. */
  readonly search: object;
  readonly isFirstPage: boolean;
  readonly details: { readonly plate: string; readonly reason?: string; readonly total?: number };
}

/**
 * Records a search for a plate: one row in ten minutes for each user, plate, reason and other filters, whichever pages
 * are read. If the search is made again, that is counted.
 */
export function recordPlateSearch(
  db: Executor,
  userId: string,
  caller: Caller,
  { search, isFirstPage, details }: PlateSearch,
): Promise<void> {
  const about = hash('sha256', JSON.stringify(search), 'base64url');
  const searched: Gathered = { userId, action: 'events.lookUpPlate', about, seconds: 600, details };
  return gather(db, caller, searched, isFirstPage ? COUNT_ANOTHER : undefined);
}

/** Records the download of a report: one row a minute for each user and report, with a count. */
export function recordReportDownload(
  db: Executor,
  userId: string,
  caller: Caller,
  details: { readonly reportId: string; readonly kind: string; readonly format: string },
): Promise<void> {
  const about = details.reportId;
  const download: Gathered = {
    userId,
    action: 'reports.download',
    about,
    seconds: 60,
    details: { ...details, count: 1 },
  };
  return gather(db, caller, download, COUNT_ONE_MORE);
}

/** Records that an image was viewed: at most one row in ten minutes for each user and image. */
export function recordImageView(db: Executor, userId: string, caller: Caller, sha256: string): Promise<void> {
  return gather(db, caller, {
    userId,
    action: 'images.view',
    about: sha256,
    seconds: 600,
    details: { sha256 },
  });
}

/** Inserts the row of this period, or applies `onMore` to it if it exists. */
async function gather(
  db: Executor,
  caller: Caller,
  { userId, action, about, seconds, details }: Gathered,
  onMore = sql`NOTHING`,
): Promise<void> {
  const { address, userAgent, apiToken } = caller;
  await db.execute(sql`
    INSERT INTO activity (user_id, action, ip_address, user_agent, details, gathered)
    VALUES (${userId}::uuid, ${action}, ${address}, ${userAgent?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null},
      ${JSON.stringify(withToken(caller, details) ?? {})}::jsonb,
      concat_ws(' ', ${action}::text, ${userId}::text, ${apiToken?.id ?? null}::text, ${about}::text, floor(extract(epoch FROM now()) / ${seconds}::integer)))
    ON CONFLICT (gathered) WHERE gathered IS NOT NULL DO ${onMore}`);
}
