import { randomUUID } from 'node:crypto';
import { type AnnouncedAlarm, type Announcement, announce } from '../src/notices/announce.ts';
import type { Target } from '../src/notices/recipients.ts';
import { inTransaction } from '../src/platform/database/transaction.ts';
import { eventually, type Gantry } from './harness.ts';

// What the tests of messages about alarms share.

export interface NoticeJson {
  readonly id: string;
  readonly kind: string;
  readonly channelId: string;
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly status: string;
  readonly attempts: number;
  readonly dueAt: string | null;
  readonly lastError: string | null;
  readonly lastAnswer: string | null;
  readonly acknowledgedAt: string | null;
}

export const alarm = (fields: Partial<AnnouncedAlarm> = {}): AnnouncedAlarm => ({
  id: randomUUID(),
  ruleName: 'Slow traffic',
  text: 'The mean speed is below 40 km/h',
  severity: 'HIGH',
  state: 'FIRING',
  since: new Date('2026-11-28T09:05:00Z'),
  value: '36 km/h',
  place: 'A9 km 12',
  plate: null,
  isReleased: true,
  runbook: null,
  ...fields,
});

/** Announces one step of a group of alarms. */
export const announceTo = (
  gantry: Gantry,
  to: readonly Target[],
  fields: Partial<Announcement> = {},
): Promise<Awaited<ReturnType<typeof announce>>> => {
  const { context } = gantry.app;
  const alarms = fields.alarms ?? [alarm()];
  return inTransaction(context.db, (tx) =>
    announce(context, tx, {
      groupId: randomUUID(),
      step: 0,
      kind: 'FIRST',
      severity: 'HIGH',
      total: alarms.length,
      policyId: randomUUID(),
      policyName: 'Traffic',
      dueAt: new Date(),
      ...fields,
      alarms,
      to,
    }),
  );
};

/** The messages in the log, once all of them have a status. */
export const settledNotices = async (
  gantry: Gantry,
  token: string,
  isSettled = (notices: readonly NoticeJson[]): boolean =>
    notices.length > 0 && notices.every(({ status }) => status !== 'PENDING'),
): Promise<NoticeJson[]> =>
  eventually(
    async () => (await gantry.ok('notices.getAll', { take: 100 }, { token })).notices,
    (notices) => isSettled(notices),
  );

/** Adds a confirmed contact of a user, as if the code had been given. @returns its id */
export const addContact = async (
  gantry: Gantry,
  userId: string,
  { kind = 'EMAIL', address = 'duty@example.org', language = 'en', quiet = null as object | null } = {},
): Promise<string> => {
  const { rows } = await gantry.pool.query(
    `INSERT INTO contacts (user_id, kind, address, language, quiet, verified_at) VALUES ($1, $2, $3, $4, $5, now()) RETURNING id`,
    [userId, kind, address, language, quiet && JSON.stringify(quiet)],
  );
  return rows[0].id;
};
