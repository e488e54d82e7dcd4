import { randomUUID } from 'node:crypto';
import { HIDDEN_PLATE, type Severity } from '@gantry/contract/events';
import { type NoticeContent, type NoticedAlarm, noticeText } from '@gantry/contract/notice-texts';
import { MAX_PER_HOUR, MAX_PER_HOUR_CRITICAL, type NoticeKind } from '@gantry/contract/notices';
import { mayDo } from '@gantry/contract/permissions';
import { severities } from '@gantry/contract/values';
import { mayRolesSeePlates } from '../accounts/role-settings.ts';
import type { AuthServices } from '../accounts/start.ts';
import { replacePlates } from '../events/plate-rules.ts';
import type { Core } from '../platform/context.ts';
import type { Transaction } from '../platform/database/transaction.ts';
import { createLocalTime, type LocalTime } from '../platform/local-time.ts';
import { hashOfToken, tokenOf } from './acknowledge.ts';
import { listChannelRows } from './channels-store.ts';
import {
  countSent,
  insertNotices,
  lockNotices,
  type NewNotice,
  OVER_LIMIT,
  type SentBefore,
  wakeChannels,
} from './notices-store.ts';
import { type Drop, findRecipients, type Recipient, type Target } from './recipients.ts';

export interface AnnouncedAlarm {
  readonly id: string;
  readonly ruleName: string;
  /** The rule's own words, or what it says of the alarm. */
  readonly text: string;
  readonly severity: Severity;
  readonly state: 'FIRING' | 'CLEARED';
  readonly since: Date;
  readonly value: string | null;
  readonly place: string | null;
  readonly plate: string | null;
  /** Whether the hit of which it is, if any, was released. */
  readonly isReleased: boolean;
  readonly runbook: string | null;
}

export interface Announcement {
  readonly groupId: string;
  readonly step: number;
  readonly kind: Exclude<NoticeKind, 'TEST' | 'PLAN'>;
  readonly severity: Severity;
  readonly alarms: readonly AnnouncedAlarm[];
  /** Number of alarms of the group, of which `alarms` may be some. */
  readonly total: number;
  readonly to: readonly Target[];
  readonly policyId: string;
  readonly policyName: string;
  readonly dueAt: Date;
}

export interface Announced {
  /** Number of recipients to whom the step is sent, or was before. */
  readonly recipients: number;
  readonly dropped: readonly Drop[];
}

type AnnouncingApp = Pick<Core, 'config' | 'settings' | 'clock'> & Pick<AuthServices, 'secrets'>;

/**
 * Writes the messages of one step of a group of alarms, which are sent after the commit of the caller's transaction.
 * Each recipient gets a step once (FIRST and ESCALATED), and a repeated message once for each `dueAt`. What exceeds the
 * limit of an hour is stored as DROPPED, and counted in the next message to that recipient.
 */
export async function announce(
  app: AnnouncingApp,
  tx: Transaction,
  announcement: Announcement,
): Promise<Announced> {
  await lockNotices(tx);
  const local = createLocalTime(app.settings.current());
  const now = app.clock.now();
  const { recipients, dropped } = await findRecipients(
    tx,
    announcement.to,
    Math.max(now, announcement.dueAt.getTime()),
    {
      channels: await listChannelRows(tx),
      severity: announcement.severity,
      timeOfDay: local.wall(now).toISOString().slice(11, 16),
    },
  );
  const before = await countSent(
    tx,
    recipients.map(({ channel, address }) => ({ channelId: channel.id, recipient: address })),
  );
  const rows = recipients.map((recipient, n) =>
    noticeFor(app, announcement, recipient, { before: before[n] ?? { sent: 0, withheld: 0 }, local }),
  );
  const stored = await insertNotices(tx, rows);
  await wakeChannels(
    tx,
    stored.map(({ channelId }) => channelId),
  );
  const overLimit = recipients.flatMap(({ target }, n) =>
    rows[n]?.status === 'DROPPED' ? [{ target, reason: 'OVER_LIMIT' as const }] : [],
  );
  return {
    recipients: recipients.length - overLimit.length,
    dropped: [...dropped, ...overLimit],
  };
}

function noticeFor(
  { config, secrets }: AnnouncingApp,
  { groupId, step, kind, severity, alarms, total, policyName, dueAt }: Announcement,
  { channel, address, language, user }: Recipient,
  { before, local }: { readonly before: SentBefore; readonly local: LocalTime },
): NewNotice {
  const isOver = before.sent >= (severity === 'CRITICAL' ? MAX_PER_HOUR_CRITICAL : MAX_PER_HOUR);
  const showsPlates = channel.plates === 'SHOW' && (!user || mayRolesSeePlates(config, user.role));
  const content: NoticeContent = {
    ...{ kind, severity, total, withheld: before.withheld },
    alarms: alarmsFor(alarms, showsPlates, local),
    policyName: withoutPlates(alarms, showsPlates)(policyName),
    link: config.PUBLIC_URL === undefined ? null : `${config.PUBLIC_URL}/alarms`,
  };
  const { subject, text } = noticeText(language, content);
  const hasLink =
    config.PUBLIC_URL !== undefined &&
    kind !== 'CLEARED' &&
    user !== null &&
    mayDo(user.role, 'manageIncidents');
  const id = randomUUID();
  return {
    ...{ groupId, step, kind, severity, total, language, subject, body: text },
    policyName: content.policyName,
    announcedFor: dueAt.getTime(),
    channelId: channel.id,
    channelName: channel.name,
    userId: user?.userId ?? null,
    recipient: address,
    status: isOver ? 'DROPPED' : 'PENDING',
    lastError: isOver ? OVER_LIMIT : null,
    ack: hasLink ? { id, hash: hashOfToken(tokenOf(secrets, id)) } : null,
  };
}

/** Maximum length of a text of a rule in a message, in UTF-16 units. */
const MAX_TEXT = 1_000;

/** The alarms as a message lists them: the most urgent first, then the oldest. */
function alarmsFor(
  alarms: readonly AnnouncedAlarm[],
  showsPlates: boolean,
  local: LocalTime,
): NoticedAlarm[] {
  const clean = withoutPlates(alarms, showsPlates);
  const cleaned = (text: string | null) => text && clean(text).slice(0, MAX_TEXT).toWellFormed();
  const rank = ({ severity }: AnnouncedAlarm) => severities.indexOf(severity);
  return [...alarms]
    .sort((a, b) => rank(b) - rank(a) || a.since.getTime() - b.since.getTime())
    .map((alarm) => {
      const { ruleName, severity, state, since, isReleased } = alarm;
      const said = isReleased
        ? {
            text: cleaned(withPlate(alarm, showsPlates)),
            value: cleaned(alarm.value),
            place: cleaned(alarm.place),
          }
        : { text: null, value: null, place: null };
      return {
        ...said,
        severity,
        ruleName: clean(ruleName),
        isCleared: state === 'CLEARED',
        since: local.show(since.getTime()),
        runbook: isReleased ? cleaned(alarm.runbook) : null,
        isWithheld: !isReleased,
      };
    });
}

/** The text of an alarm, with its plate where plates are shown. */
function withPlate({ text, plate }: AnnouncedAlarm, showsPlates: boolean): string {
  return showsPlates && plate !== null && !text.includes(plate) ? `${text}\n${plate}` : text;
}

/** Removes the plates of these alarms from texts: of hits that are not released and, unless plates are shown, of all. */
function withoutPlates(alarms: readonly AnnouncedAlarm[], showsPlates: boolean): (text: string) => string {
  const platesOf = (which: (alarm: AnnouncedAlarm) => boolean) =>
    alarms.filter(which).flatMap(({ plate }) => plate ?? []);
  const released = new Set(platesOf(({ isReleased }) => isReleased && showsPlates));
  return replacePlates(
    platesOf(() => true).filter((plate) => !released.has(plate)),
    HIDDEN_PLATE,
  );
}
