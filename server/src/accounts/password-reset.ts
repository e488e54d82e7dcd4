import { randomBytes } from 'node:crypto';
import type { RequestPasswordResetInput, ResetOwnPasswordInput } from '@gantry/contract/auth';
import { recordActivity } from '../activity/store.ts';
import type { Config } from '../platform/config.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { invalidInput, notFound } from '../platform/error.ts';
import type { Mailer } from '../platform/mail.ts';
import { hashOf, settleApiTokens } from './api-tokens-store.ts';
import { findResettable, type Resettable } from './login-store.ts';
import { findReset, insertReset, takeReset } from './password-resets-store.ts';
import { requireUncommon } from './passwords.ts';
import type { AuthServices } from './start.ts';
import { updateLockedUser } from './users-store.ts';

type Context = RequestContext<Core & AuthServices>;

/** 128 bits. */
const TOKEN_BYTES = 16;

/**
 * Where the console is, for the link in the e-mail; null if there is no mail server or `PUBLIC_URL` is unset. The Host of the
 * request is not used, because whoever asks for a link chooses it.
 */
function originOfLinks({ config, mailer }: { config: Config; mailer: Mailer }): string | null {
  return mailer.isConfigured ? (config.PUBLIC_URL ?? null) : null;
}

/** Whether users can set a new password by e-mail. */
export function offersReset(app: Context['app']): boolean {
  return originOfLinks(app) !== null;
}

/**
 * Sends a user a link by which they set a new password. Whether there is such a user shows neither in the answer nor in its time:
 * all that depends on it is done after the answer.
 * @throws AppError `notFound` when the service sends no e-mail; `tooManyRequests`
 */
export async function requestPasswordReset(
  ctx: Context,
  { email, language }: RequestPasswordResetInput,
): Promise<{ success: true }> {
  const { app, caller } = ctx;
  const origin = originOfLinks(app);
  if (origin === null) throw notFound('Reset of passwords by e-mail');
  await app.loginThrottle.beginReset(email, caller.address);
  void sendLink(ctx, email, (token) => textOf(language, `${origin}/sign-in#reset=${token}`)).catch(
    (err: unknown) => app.log.warn({ err }, 'an e-mail with a link for a new password could not be made'),
  );
  return { success: true };
}

interface Message {
  readonly subject: string;
  readonly text: string;
}

async function sendLink(
  { app, caller }: Context,
  email: string,
  write: (token: string) => Message,
): Promise<void> {
  const user: Resettable | null = await findResettable(app.db, email);
  if (user === null) return;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  await inTransaction(app.db, async (tx) => {
    await insertReset(tx, { tokenHash: hashOf(token), userId: user.id, epoch: user.sessionEpoch });
    await recordActivity(tx, user.id, caller, 'auth.passwordResetRequested');
  });
  // A failure is logged by the mailer; the user asks again.
  await app.mailer.send({ to: user.email, ...write(token) });
}

/**
 * Sets the password of the user to whom a link was sent, whose sessions end. The link is valid once.
 * @throws AppError `badRequest` for a link that is not valid, or a common password
 */
export async function resetOwnPassword(
  { app, caller }: Context,
  { token, newPassword, endApiTokens }: ResetOwnPasswordInput,
): Promise<{ success: true; remainingApiTokens: number }> {
  const tokenHash = hashOf(token);
  // Done before hashing, which is more expensive than finding that the link is not valid.
  if (!(await findReset(app.db, tokenHash))) throw invalidLink();
  requireUncommon('newPassword', newPassword);
  const passwordHash = await app.passwords.hash(newPassword);
  return inTransaction(app.db, async (tx) => {
    const userId = await takeReset(tx, tokenHash);
    if (userId === null) throw invalidLink();
    await updateLockedUser(tx, userId, { passwordHash }, { endSessions: true });
    const { remainingApiTokens, details } = await settleApiTokens(tx, userId, endApiTokens);
    await recordActivity(tx, userId, caller, 'auth.passwordReset', details);
    return { success: true, remainingApiTokens };
  });
}

function invalidLink() {
  return invalidInput('token', 'This link is not valid any more: ask for a new one');
}

const TEXTS: Readonly<Record<RequestPasswordResetInput['language'], (link: string) => Message>> = {
  en: (link) => ({
    subject: 'Gantry: set a new password',
    text: `Somebody, probably you, asked for a new password. Set it here within one hour:\n\n${link}\n\nIf it was not you, do nothing: your password stays as it is.\n`,
  }),
  tr: (link) => ({
    subject: 'Gantry: yeni parola belirleyin',
    text: `Birisi, büyük olasılıkla siz, yeni bir parola istedi. Parolayı bir saat içinde buradan belirleyin:\n\n${link}\n\nİsteyen siz değilseniz bir şey yapmayın: parolanız değişmez.\n`,
  }),
  ar: (link) => ({
    subject: 'Gantry: تعيين كلمة مرور جديدة',
    text: `طلب شخص ما، وهو أنت على الأرجح، كلمة مرور جديدة. عيّنها هنا خلال ساعة واحدة:\n\n${link}\n\nإن لم تكن أنت، فلا تفعل شيئًا: تبقى كلمة مرورك كما هي.\n`,
  }),
};

function textOf(language: RequestPasswordResetInput['language'], link: string): Message {
  return TEXTS[language](link);
}
