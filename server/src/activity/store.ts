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
  | `faults.${'report' | 'update'}`
  | `${'locations' | 'points' | 'assignments'}.${'create' | 'update' | 'delete'}`
  | `events.${'markAsProcessed' | 'markAsArchived' | 'undoArchive' | 'review' | 'undoReview' | 'delete' | 'lookUpPlate' | 'view'}`
  | `incidents.${'create' | 'update' | 'acknowledge' | 'assign' | 'start' | 'resolve' | 'reopen' | 'close' | 'addNote' | 'attachEvent'}`
  | `incidents.${'verify' | 'rejectFalse' | 'setTimes' | 'setLanes' | 'setFacts'}`
  | `incidents.${'addAgency' | 'updateAgency' | 'removeAgency' | 'takeOver' | 'merge'}`
  | `incidents.${'setPlan' | 'completeStep' | 'skipStep' | 'reopenStep' | 'makeReport'}`
  | `${'agencies' | 'plans'}.${'create' | 'update' | 'delete'}`
  | `works.${'create' | 'update' | 'approve' | 'cancel'}`
  | `cases.${'open' | 'addItem' | 'measure' | 'check' | 'verify' | 'reject' | 'dispute' | 'decide' | 'unlock' | 'close' | 'updateRules' | 'export' | 'download'}`
  | `certificates.${'add' | 'withdraw'}`
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
  | `audit.${'drawSample' | 'judge'}`
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
  | `privacy.${'find' | 'export' | 'erase'}`
  | `map.${'receiveFile' | 'applyFile' | 'discardFile' | 'remove'}`
  | 'counts.import'
  | 'locations.import'
  | 'sensors.import'
  | 'sensors.updateMany'
  | 'sensors.restoreMany'
  | 'images.view'
  | 'system.updateTimezoneSettings';

/** The user id of activity under an unknown e-mail address; no user has it. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Maximum length of a stored user agent, in characters. */
const USER_AGENT_MAX = 300;

/** The callers of which an entry names what they did. */
const recorded = new WeakSet<Caller>();

/** Whether an entry was written for this call, which then needs no further one for what its answer shows. */
export function isRecorded(caller: Caller): boolean {
  return recorded.has(caller);
}

/** Records an action in the transaction that performs it. */
export async function recordActivity(
  db: Executor,
  userId: string,
  caller: Caller,
  action: ActivityAction,
  details?: Record<string, unknown>,
): Promise<void> {
  recorded.add(caller);
  await db.insert(activity).values({
    userId,
    action,
    ipAddress: caller.address,
    userAgent: userAgentOf(caller),
    details: withToken(caller, details) ?? null,
  });
}

/** The details with the API token that the call was made with, if any. */
function withToken({ apiToken }: Pick<Caller, 'apiToken'>, details?: Readonly<Record<string, unknown>>) {
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

/** The entries with these ids, as far as they exist. */
export async function findActivities(
  db: Executor,
  ids: readonly (string | number)[],
): Promise<ActivityRow[]> {
  const wanted = ids.map(String).filter((id) => ID.test(id));
  const { rows } = await db.execute<ActivityRow & Record<string, unknown>>(
    sql`SELECT ${COLUMNS} FROM activity WHERE id = ANY (${sql.param(wanted)}::bigint[])`,
  );
  return rows;
}

/** One page of the actions of all users that match the filters, newest first, with their total number. */
export async function listActivityLog(
  db: Executor,
  input: ActivityLogInput,
  interval: Interval,
): Promise<Page<ActivityRow>> {
  const wanted = conditions(input, interval, await plateSpellings(db, input.about, interval));
  // Plan: activity_pkey from its end, or activity_of_user.
  const { rows } = await db.execute<ActivityRow & Record<string, unknown>>(sql`
    SELECT ${COLUMNS} FROM activity WHERE ${wanted} ORDER BY id DESC LIMIT ${input.take} OFFSET ${input.skip}`);
  const { rows: counted } = await db.execute<{ total: number }>(
    sql`SELECT count(*) AS total FROM activity WHERE ${wanted}`,
  );
  return { items: rows, total: counted[0]?.total ?? 0 };
}

/** The plates and patterns in the log of an interval that are the same as a text. Only the contract can compare plates. */
async function plateSpellings(
  db: Executor,
  about: string | undefined,
  interval: Interval,
): Promise<string[]> {
  const key = about === undefined || isUuid(about) || about.includes('@') ? '' : plateKey(about);
  if (key === '') return [];
  const { rows } = await db.execute<{ plate: string }>(sql`
    SELECT DISTINCT coalesce(details ->> 'plate', details ->> 'pattern') AS plate FROM activity
    WHERE (starts_with(action, 'watchlist.') OR starts_with(action, 'hotlists.') OR starts_with(action, 'hits.')
      OR action = 'events.lookUpPlate') AND details ?| ARRAY['plate', 'pattern'] AND ${within(interval)}`);
  return rows.flatMap(({ plate }) => (plateKey(plate) === key ? [plate] : []));
}

/** @param spellings further texts for `about` */
function conditions(
  { userId, action, about, purpose, caseNumber }: ActivityLogInput,
  interval: Interval,
  spellings: readonly string[],
): SQL {
  const wanted = [sql`true`];
  if (userId !== undefined) wanted.push(isUuid(userId) ? sql`user_id = ${userId}::uuid` : sql`false`);
  if (action !== undefined) {
    wanted.push(action.endsWith('.') ? sql`starts_with(action, ${action})` : sql`action = ${action}`);
  }
  if (purpose !== undefined) wanted.push(sql`details ->> 'purpose' = ${purpose}`);
  if (caseNumber !== undefined) wanted.push(sql`lower(details ->> 'caseNumber') = lower(${caseNumber})`);
  if (about !== undefined) {
    wanted.push(
      sql`EXISTS (SELECT FROM jsonb_each_text(details || coalesce(details -> 'filter', '{}')) AS detail
        WHERE lower(detail.value) = lower(${about}) OR detail.value = ANY (${sql.param(spellings)}::text[]))`,
    );
  }
  return sql.join([...wanted, within(interval)], sql` AND `);
}

function within({ from, until }: Interval): SQL {
  const wanted = [sql`true`];
  if (from !== Number.NEGATIVE_INFINITY) wanted.push(sql`at >= ${moment(from)}`);
  if (until !== Number.POSITIVE_INFINITY) wanted.push(sql`at < ${moment(until)}`);
  return sql.join(wanted, sql` AND `);
}

/** An action that may occur many times in a short time, so that one row represents all occurrences. */
export interface Gathered {
  readonly userId: string;
  readonly caller: Pick<Caller, 'address' | 'userAgent' | 'apiToken'>;
  readonly action: ActivityAction;
  /** Distinguishes the row from others of the same user and action. */
  readonly about: string;
  /** How long a row is used, in seconds. */
  readonly seconds: number;
  /** The number of the period since 1970; by default the one of now. */
  readonly period?: number;
  /** They never change. */
  readonly details: Readonly<Record<string, unknown>>;
  /** How many occurrences this is, 1 by default. A row of one occurrence has no count. */
  readonly count?: number;
}

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
  const failed = { userId: userId ?? NOBODY, caller, action: 'auth.loginFailed', seconds: 60 } as const;
  return gather(db, [{ ...failed, about: String(group), details: { count: 1 } }]);
}

/** A search for a plate. A caller may request several pages of it, and a stream may resume it. */
interface PlateSearch {
  /** The filters, which are the same on every page. */
  readonly search: object;
  readonly isFirstPage: boolean;
  readonly details: { readonly plate: string; readonly total?: number } & Record<string, unknown>;
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
  recorded.add(caller);
  const about = hash('sha256', JSON.stringify(search), 'base64url');
  const searched = { userId, caller, action: 'events.lookUpPlate', about, seconds: 600, details } as const;
  return gather(db, [searched], isFirstPage);
}

/** Records the download of a report: one row a minute for each user and report, with a count. */
export function recordReportDownload(
  db: Executor,
  userId: string,
  caller: Caller,
  details: { readonly reportId: string; readonly kind: string; readonly format: string },
): Promise<void> {
  const download = { userId, caller, action: 'reports.download', seconds: 60 } as const;
  return gather(db, [{ ...download, about: details.reportId, details: { ...details, count: 1 } }]);
}

/**
 * Inserts the rows of a period, or counts the occurrences in those that exist.
 * @param rows of different periods, users, actions or `about`
 * @param counts whether rows that exist count the occurrences
 */
export async function gather(db: Executor, rows: readonly Gathered[], counts = true): Promise<void> {
  const given = rows.map(({ caller, details, count, ...row }) => ({
    ...row,
    ipAddress: caller.address,
    userAgent: userAgentOf(caller),
    apiTokenId: caller.apiToken?.id,
    details: withToken(caller, { ...details, ...(count !== undefined && count > 1 && { count }) }),
  }));
  // In the order of the keys, so that processes that write the same rows do not wait for each other in a circle.
  await db.execute(sql`
    INSERT INTO activity (user_id, action, ip_address, user_agent, details, gathered)
    SELECT "userId", action, "ipAddress", "userAgent", details, concat_ws(' ', action, "userId", "apiTokenId", about,
      coalesce(period, floor(extract(epoch FROM now()) / seconds))) AS gathered
    FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb) AS given ("userId" uuid, action text, "ipAddress" text,
      "userAgent" text, details jsonb, "apiTokenId" uuid, about text, seconds integer, period numeric)
    ORDER BY gathered
    ON CONFLICT (gathered) WHERE gathered IS NOT NULL DO ${counts ? ADD_COUNT : sql`NOTHING`}`);
}

const ADD_COUNT = sql`UPDATE SET details = coalesce(activity.details, '{}') || jsonb_build_object('count',
    coalesce((activity.details ->> 'count')::integer, 1) + coalesce((excluded.details ->> 'count')::integer, 1))
  || CASE WHEN activity.ip_address IS DISTINCT FROM excluded.ip_address THEN '{"otherAddresses": true}' ELSE '{}' END::jsonb`;

function userAgentOf({ userAgent }: Pick<Caller, 'userAgent'>): string | null {
  return userAgent?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null;
}
