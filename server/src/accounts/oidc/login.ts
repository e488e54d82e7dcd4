import { hash, randomBytes } from 'node:crypto';
import { type CompleteOidcLoginInput, type LoginMethods, OIDC_CHALLENGE } from '@gantry/contract/auth';
import type { Role } from '@gantry/contract/permissions';
import { recordActivity } from '../../activity/store.ts';
import type { Core, RequestContext } from '../../platform/context.ts';
import { isUniqueViolation } from '../../platform/database/failure.ts';
import { inTransaction, type Transaction } from '../../platform/database/transaction.ts';
import { AppError, invalidInput, notFound, unavailable } from '../../platform/error.ts';
import { beginSession } from '../login.ts';
import { offersReset } from '../password-reset.ts';
import { generatePassword } from '../passwords.ts';
import type { AuthServices } from '../start.ts';
import { insertUser, lockUser, type UserRow, updateLockedUser } from '../users-store.ts';
import { type ExternalUser, invalidAnswer, type OidcProvider } from './provider.ts';
import {
  findIdentity,
  findUserByEmail,
  insertConfirmed,
  insertIdentity,
  insertStartedLogin,
  takeBegun,
  takeConfirmed,
} from './store.ts';

/** Time for a user at the provider, in seconds. */
const AT_PROVIDER_SECONDS = 600;

/** Time for the browser to exchange its code, in seconds. */
const EXCHANGE_SECONDS = 60;

/** Maximum number of logins under way, so that nobody can fill the table. */
const MAX_UNDER_WAY = 10_000;

/** Path of this service at which a login at the provider begins. */
export const OIDC_PATH = '/login/oidc';

type Context = RequestContext<Core & AuthServices>;

export function viewLoginMethods(app: Context['app']): LoginMethods {
  const { config, oidc } = app;
  return {
    password: true,
    oidc: oidc && { name: config.OIDC_NAME, path: OIDC_PATH },
    passwordReset: offersReset(app),
    accessibilityUrl: config.ACCESSIBILITY_URL ?? null,
  };
}

/**
 * Begins a login at the provider.
 * @param challenge of the browser, whose answer completes the login
 * @param redirectUrl to which the provider returns the user
 * @returns the page of the provider
 * @throws AppError `notFound` when there is no provider; `badRequest` for an invalid challenge; `tooManyRequests`;
 * `unavailable` when the provider cannot be reached
 */
export async function beginOidcLogin(
  { app, caller }: Context,
  challenge: string,
  redirectUrl: URL,
): Promise<URL> {
  const provider = requireProvider(app);
  if (!OIDC_CHALLENGE.test(challenge)) {
    throw invalidInput('challenge', 'Send the SHA-256 of a random text, in base64url, as challenge');
  }
  await app.loginThrottle.beginExternal(caller.address);
  const { url, state, nonce, codeVerifier } = await provider.begin(redirectUrl);
  const started = { stateHash: digest(state), codeVerifier, nonce, challenge };
  const limits = { seconds: AT_PROVIDER_SECONDS, most: MAX_UNDER_WAY };
  if (!(await insertStartedLogin(app.db, started, limits))) {
    throw new AppError('tooManyRequests', 'Too many logins are in progress: try again in a few minutes', {
      retryAfterSeconds: AT_PROVIDER_SECONDS,
    });
  }
  return url;
}

/**
 * Takes the answer of the provider, which can be done once.
 * @param answer the address to which the provider returned the user
 * @returns a code with which the browser that began the login completes it
 * @throws AppError `unauthorized` when the answer is not valid, was used, or is late; `forbidden` as
 * `admitExternalUser`; `notFound` when there is no provider; `unavailable` when it cannot be reached
 */
export async function takeOidcAnswer(ctx: Context, answer: URL): Promise<string> {
  const { app } = ctx;
  const provider = requireProvider(app);
  const state = answer.searchParams.get('state') ?? '';
  const started = await takeBegun(app.db, digest(state));
  if (!started) throw invalidAnswer();
  const userId = await admitExternalUser(ctx, await provider.finish(answer, { ...started, state }));
  const code = randomBytes(32).toString('base64url');
  const confirmed = { codeHash: digest(code), challenge: started.challenge, userId };
  await insertConfirmed(app.db, confirmed, EXCHANGE_SECONDS);
  return code;
}

/**
 * Completes a login with the code of the sign-in page, for the browser that began it.
 * @throws AppError `unauthorized` when the code is not valid, was used, is late, or belongs to another browser;
 * `notFound` when there is no provider
 */
export async function completeOidcLogin(ctx: Context, { code, verifier }: CompleteOidcLoginInput) {
  requireProvider(ctx.app);
  const confirmed = await takeConfirmed(ctx.app.db, digest(code));
  if (!confirmed || confirmed.challenge !== hash('sha256', verifier, 'base64url')) throw invalidAnswer();
  const started = await beginSession(ctx, confirmed.userId, { method: 'oidc' });
  if (!started) throw invalidAnswer();
  return started;
}

function requireProvider({ oidc }: Pick<AuthServices, 'oidc'>): OidcProvider {
  if (!oidc) throw notFound('Login provider');
  return oidc;
}

function digest(text: string): string {
  return hash('sha256', text, 'hex');
}

/**
 * Finds the user to whom an account at the login provider belongs, and gives them the role that the provider states. An
 * account that is new here is linked to the user with its verified e-mail address, or gets a user of its own.
 * @returns the id of the user
 * @throws AppError `forbidden` when the user has no role, is deactivated, or is new and has no verified e-mail address;
 * `unavailable` when the account logs in twice at the same time
 */
async function admitExternalUser(ctx: Context, account: ExternalUser): Promise<string> {
  const { app } = ctx;
  if (account.role === null) throw noRole();
  try {
    return await inTransaction(app.db, async (tx) => {
      const known = await findIdentity(tx, account.issuer, account.subject);
      const userId = known ?? (await link(ctx, tx, account));
      await keepInStep(ctx, tx, userId, account);
      return userId;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw unavailable('Two logins of this account came at the same time: try again', error);
  }
}

async function link(ctx: Context, tx: Transaction, account: ExternalUser): Promise<string> {
  const { issuer, subject, email, role } = account;
  if (role === null) throw noRole();
  if (email === null) {
    throw refusal(
      'The login provider has not verified your e-mail address: verify it there, then log in again',
    );
  }
  const existing = await findUserByEmail(tx, email);
  const userId = existing ?? (await createUser(ctx, tx, { ...account, email, role }));
  await insertIdentity(tx, { issuer, subject, userId });
  if (existing === null)
    await recordActivity(tx, userId, ctx.caller, 'users.create', { userId, email, role, issuer });
  else await recordActivity(tx, userId, ctx.caller, 'users.linkIdentity', { userId, email, issuer, subject });
  return userId;
}

/** Creates a user with a random password, which is never shown; an administrator can set another one. */
async function createUser(
  { app }: Context,
  tx: Transaction,
  { email, firstName, lastName, role }: ExternalUser & { readonly email: string; readonly role: Role },
): Promise<string> {
  const passwordHash = await app.passwords.hash(generatePassword());
  const fields = { email, firstName, lastName, role, phone: null, department: null, passwordHash };
  return (await insertUser(tx, fields)).id;
}

/** Gives the user the role of the provider, unless that would demote the last active administrator. */
async function keepInStep(
  { app, caller }: Context,
  tx: Transaction,
  userId: string,
  { role, issuer }: ExternalUser,
): Promise<void> {
  const { user, isLastAdministrator } = await lockUser(tx, userId);
  requireActive(user);
  if (role === null) throw noRole();
  if (role === user.role) return;
  if (isLastAdministrator) {
    app.log.warn(
      { userId, role },
      'the last active administrator keeps that role, although the login provider gives another one',
    );
    return;
  }
  await updateLockedUser(tx, userId, { role }, { endSessions: true });
  const changes = { role: { from: user.role, to: role } };
  await recordActivity(tx, userId, caller, 'users.updateRole', {
    userId,
    email: user.email,
    changes,
    issuer,
  });
}

function requireActive({ isActive }: UserRow): void {
  if (!isActive) throw refusal('Your account is deactivated: ask an administrator');
}

function noRole(): AppError {
  return refusal('Your account at the login provider has no role here: ask an administrator');
}

function refusal(message: string): AppError {
  return new AppError('forbidden', message);
}
