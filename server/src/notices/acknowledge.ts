import { hash } from 'node:crypto';
import { HIDDEN_PLATE } from '@gantry/contract/events';
import type { NoticeLanguage } from '@gantry/contract/notices';
import { mayDo } from '@gantry/contract/permissions';
import { mayRolesSeePlates } from '../accounts/role-settings.ts';
import type { AuthServices } from '../accounts/start.ts';
import { replacePlates } from '../events/plate-rules.ts';
import type { Core } from '../platform/context.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { findReachable } from './contacts-store.ts';
import { findByTokenHash, type LinkedNotice, useLink } from './notices-store.ts';

/** The token of the link by which the recipient of a message acknowledges its alarms: 128 bits, always the same. */
export function tokenOf(secrets: AuthServices['secrets'], noticeId: string): string {
  return secrets.mac(`acknowledge ${noticeId}`);
}

export function hashOfToken(token: string): string {
  return hash('sha256', token);
}

/** Who acknowledges a group of alarms by a link. */
export interface LinkedRecipient {
  readonly noticeId: string;
  readonly groupId: string;
  readonly recipient: { readonly userId: string; readonly name: string };
}

/**
 * Acknowledges the alarms of a group as the recipient of a link, in the transaction that uses the link up.
 * @returns false when the group is closed
 */
export type AcknowledgeGroup = (
  tx: Transaction,
  by: LinkedRecipient & { address: string },
) => Promise<boolean>;

/** The characters of a token: 128 bits in base64url. */
const TOKEN = /^[\w-]{22}$/;

/**
 * The message of a link, and its recipient; null for a wrong token, and after 24 hours. Plates that the recipient may not be
 * shown any more are hidden in it.
 */
export async function findNoticeByToken(
  { db, config }: Pick<Core, 'db' | 'config'>,
  token: string,
): Promise<
  | (LinkedRecipient &
      Pick<LinkedNotice, 'language' | 'subject' | 'body' | 'isUsed'> & { mayAcknowledge: boolean })
  | null
> {
  const notice = TOKEN.test(token) ? await findByTokenHash(db, hashOfToken(token)) : null;
  const [user] = notice ? await findReachable(db, [notice.userId]) : [];
  if (!notice || !user) return null;
  const { userId, plates, channelShowsPlates, subject, body, ...rest } = notice;
  const showsPlates = channelShowsPlates && mayRolesSeePlates(config, user.role);
  const shown = replacePlates(showsPlates ? [] : plates, HIDDEN_PLATE);
  return {
    ...rest,
    subject: shown(subject),
    body: shown(body),
    recipient: { userId, name: user.name },
    mayAcknowledge: mayDo(user.role, 'manageIncidents'),
  };
}

/** What became of the use of a link. */
export type LinkOutcome = 'done' | 'already' | 'closed' | 'forbidden' | 'notValid';

/** Uses a link once, as its recipient. @param address of the caller, which is recorded */
export async function acknowledgeByLink(
  app: Pick<Core, 'db' | 'config'>,
  token: string,
  address: string,
  acknowledge: AcknowledgeGroup,
): Promise<{ readonly outcome: LinkOutcome; readonly language: NoticeLanguage }> {
  const found = await findNoticeByToken(app, token);
  if (!found) return { outcome: 'notValid', language: 'en' };
  const { noticeId, groupId, recipient, language, mayAcknowledge } = found;
  if (!mayAcknowledge) return { outcome: 'forbidden', language };
  const outcome = await inTransaction(app.db, async (tx) => {
    if (!(await useLink(tx, noticeId, address))) return 'already' as const;
    const isOpen = await acknowledge(tx, { noticeId, groupId, recipient, address });
    return isOpen ? ('done' as const) : ('closed' as const);
  });
  return { outcome, language };
}
