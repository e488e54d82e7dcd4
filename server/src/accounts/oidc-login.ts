import { hash, randomBytes } from 'node:crypto';
import { type CompleteOidcLoginInput, type LoginMethods, OIDC_CHALLENGE } from '@gantry/contract/auth';
import type { Core, RequestContext } from '../platform/context.ts';
import { AppError, invalidInput, notFound } from '../platform/error.ts';
import { admitExternalUser } from './external-login.ts';
import { beginSession } from './login.ts';
import { invalidAnswer, type OidcProvider } from './oidc/provider.ts';
import { insertConfirmed, insertStartedLogin, takeBegun, takeConfirmed } from './oidc/store.ts';
import type { AuthServices } from './start.ts';

/** Time for a user at the provider, in seconds. */
const AT_PROVIDER_SECONDS = 600;

/** Time for the browser to exchange its code, in seconds. */
const EXCHANGE_SECONDS = 60;

/** Maximum number of logins under way, so that nobody can fill the table. */
const MAX_UNDER_WAY = 10_000;

/** Path of this service at which a login at the provider begins. */
export const OIDC_PATH = '/login/oidc';

type Context = RequestContext<Core & AuthServices>;

export function viewLoginMethods({ config, oidc }: Context['app']): LoginMethods {
  return { password: true, oidc: oidc && { name: config.OIDC_NAME, path: OIDC_PATH } };
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
