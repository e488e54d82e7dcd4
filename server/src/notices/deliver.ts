import { HIDDEN_PLATE } from '@gantry/contract/events';
import { acknowledgeBy } from '@gantry/contract/notice-texts';
import { mayRolesSeePlates } from '../accounts/role-settings.ts';
import type { AuthServices } from '../accounts/start.ts';
import { replacePlates } from '../events/plate-rules.ts';
import type { Core } from '../platform/context.ts';
import { startJobs } from '../platform/database/jobs.ts';
import { channels, type Listener } from '../platform/database/notify.ts';
import { createDeliverer } from '../platform/deliverer.ts';
import { ATTEMPT_LIMIT_MS, type AttemptResult, type SendRequest } from '../platform/outbound.ts';
import { tokenOf } from './acknowledge.ts';
import { type ChannelRow, noteChannel } from './channels-store.ts';
import { type Message, requestOf } from './compose.ts';
import {
  claimDueNotices,
  giveUpOld,
  listDueChannels,
  markFailed,
  markSent,
  type NoticeAttempt,
} from './notices-store.ts';

/** Maximum number of concurrent attempts of this process for one channel. */
const MAX_PER_CHANNEL = 4;

/** How much longer than an attempt may take other processes leave its message alone, in milliseconds. */
const LEASE_MARGIN_MS = 10_000;

/** How much the interval of the sweep grows while nothing waits. */
const REST = 30;

/** Makes one attempt to send a message through a channel. It never rejects. */
export type SendNotice = (
  channel: Pick<ChannelRow, 'kind' | 'settings' | 'secret'>,
  message: Message & { readonly thread?: string },
  ending?: AbortSignal,
) => Promise<AttemptResult>;

type SendingApp = Pick<Core, 'config' | 'mailer'> & Pick<AuthServices, 'secrets'>;

export function createNoticeSender(
  { config, mailer, secrets }: SendingApp,
  request: SendRequest,
): SendNotice {
  const host = config.SMTP_FROM?.address.split('@')[1] ?? 'gantry';
  return async ({ kind, settings, secret: sealed }, message, ending) => {
    const secret = sealed === null ? null : secrets.open(sealed);
    if (sealed !== null && secret === null)
      return failed('The secret of the channel cannot be read since JWT_SECRET was changed: enter it again');
    if (kind !== 'SMTP') return request(requestOf({ kind, settings, secret }, message));
    const { id, recipient: to, subject, text, thread } = message;
    const letter = {
      ...{ to, subject, text },
      messageId: `<notice-${id}@${host}>`,
      // Mail programs show the messages of one group of alarms together.
      ...(thread !== undefined && { headers: { References: `<group-${thread}@${host}>` } }),
    };
    const sent = await mailer.send(letter, ending);
    return sent.accepted
      ? { status: null, answer: null, error: null }
      : // Without a mail server, messages wait for one.
        { ...failed(sent.reason), isPermanent: sent.isPermanent && mailer.isConfigured };
  };
}

function failed(error: string): AttemptResult {
  return { status: null, answer: null, error };
}

/**
 * The message of a row, with the link by which its recipient acknowledges the alarms. Plates that may not be shown any more
 * are hidden: it may have waited.
 */
function messageOf(
  attempt: NoticeAttempt,
  { config, secrets }: SendingApp,
): Message & { readonly thread?: string } {
  const { id, kind, severity, total, recipient, groupId, language, role, channelPlates } = attempt;
  const showsPlates = channelPlates === 'SHOW' && (role === null || mayRolesSeePlates(config, role));
  const shown = replacePlates(showsPlates ? [] : attempt.plates, HIDDEN_PLATE);
  const body = shown(attempt.body);
  const base = config.PUBLIC_URL;
  const acknowledge = attempt.hasLink && base !== undefined ? `${base}/ack/${tokenOf(secrets, id)}` : null;
  return {
    ...{ id, kind, severity, total, subject: shown(attempt.subject), recipient, acknowledge },
    policy: shown(attempt.policyName ?? ''),
    text: acknowledge === null ? body : `${body}\n\n${acknowledgeBy(language, acknowledge)}`,
    link: base === undefined ? '' : `${base}/alarms`,
    ...(groupId !== null && { thread: groupId }),
  };
}

export interface SendingOptions {
  readonly app: SendingApp & Pick<Core, 'db' | 'log'>;
  readonly send: SendNotice;
  readonly listener: Pick<Listener, 'on'>;
  /** How often to look for messages that are due, in milliseconds, which bounds the delay of retries. */
  readonly sweepMs: number;
  /** Maximum duration of sending an e-mail, in milliseconds. */
  readonly mailMs: number;
  /** The wait after each failed attempt, in milliseconds; by default about a day in total. */
  readonly backOff?: readonly number[];
  readonly leaseMarginMs?: number;
}

/** Sends messages as soon as they are due. Disposing waits for the attempts in progress. */
export function startSending(options: SendingOptions): AsyncDisposable {
  const { app, send, listener, sweepMs, mailMs, backOff, leaseMarginMs = LEASE_MARGIN_MS } = options;
  const { db, log } = app;
  const runner = createDeliverer<NoticeAttempt>({
    ...{ log, backOff, leaseMarginMs },
    failure: 'messages about alarms are delayed until the next sweep',
    concurrency: MAX_PER_CHANNEL,
    limitMs: ATTEMPT_LIMIT_MS,
    claim: (channelId, most, leaseMs) =>
      claimDueNotices(db, channelId, {
        ...{ most, leaseMs, mailLeaseMs: mailMs + leaseMarginMs },
        hideFrom: app.config.HIDE_PLATES_FROM,
      }),
    async send(attempt, ending) {
      if (attempt.userId !== null && attempt.role === null)
        return { ...failed('The user was deleted or deactivated'), isPermanent: true };
      if (attempt.isWithheld)
        return { ...failed('It is about a hit whose hotlist has become covert'), isPermanent: true };
      const { channelKind: kind, settings, secret } = attempt;
      return send({ kind, settings, secret }, messageOf(attempt, app), ending);
    },
    async succeed(attempt, result) {
      await markSent(db, attempt.id, result);
      await noteChannel(db, attempt.channelId, null);
    },
    async fail(attempt, result, waitMs) {
      await markFailed(db, attempt, result, waitMs);
      // A message that is refused for good says nothing of the channel.
      if (!result.isPermanent) await noteChannel(db, attempt.channelId, result.error);
    },
  });
  return startJobs({
    ...{ runner, listener, log },
    channel: channels.notices,
    everyMs: sweepMs,
    restMs: REST * sweepMs,
    failure: 'messages that are due cannot be looked for now; the next sweep will try again',
    async sweep() {
      if (!(await giveUpOld(db))) return false;
      for (const channelId of await listDueChannels(db)) runner.wake(channelId);
      return true;
    },
  });
}
