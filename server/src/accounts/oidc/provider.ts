import { HOUR_MS } from '@gantry/contract/durations';
import type { Role } from '@gantry/contract/permissions';
import { email } from '@gantry/contract/users';
import * as oidc from 'openid-client';
import type { Logger } from 'pino';
import type { Config } from '../../platform/config.ts';
import { safeText } from '../../platform/describe-error.ts';
import { AppError, unavailable } from '../../platform/error.ts';

/** The data of a login that begins at the provider. */
export interface StartedLogin {
  /** The page of the provider where the user logs in. */
  readonly url: URL;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** A user as the provider knows them. */
export interface ExternalUser {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case; null when the provider does not say, or has not verified it. */
  readonly email: string | null;
  readonly firstName: string;
  readonly lastName: string;
  /** null when none of the user's groups has a role. */
  readonly role: Role | null;
}

/** An OpenID Connect provider: the authorization code flow with PKCE, state and nonce. */
export interface OidcProvider {
  /** @throws AppError `unavailable` when the provider cannot be reached */
  begin(redirectUrl: URL): Promise<StartedLogin>;
  /**
   * @param answer the address to which the provider returned the user
   * @throws AppError `unauthorized` when the answer is not valid; `unavailable` when the provider cannot be reached
   */
  finish(answer: URL, started: Omit<StartedLogin, 'url'>): Promise<ExternalUser>;
}

/** Time limit of each request to the provider, in seconds. */
const TIMEOUT_SECONDS = 8;

/** The discovery document of the provider is fetched again after this time, in milliseconds. */
const DESCRIPTION_MS = HOUR_MS;

type Settings = Pick<
  Config,
  'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET' | 'OIDC_SCOPES' | 'OIDC_ROLE_CLAIM' | 'OIDC_ROLES'
>;

/** @param issuer address of the provider; it is not called before the first login */
export function createOidcProvider(issuer: string, settings: Settings, log: Logger): OidcProvider {
  const { OIDC_CLIENT_ID: clientId = '', OIDC_CLIENT_SECRET: secret, OIDC_SCOPES: scope } = settings;
  const address = new URL(issuer);
  const discover = () =>
    oidc.discovery(address, clientId, undefined, authenticationWith(secret), {
      timeout: TIMEOUT_SECONDS,
      execute: [
        // Signatures of ID tokens are checked even though they come over TLS, which may end at a proxy.
        oidc.enableNonRepudiationChecks,
        ...(address.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
      ],
    });
  const description = keptFor(discover, DESCRIPTION_MS);

  const within = async <Result>(work: (config: oidc.Configuration) => Promise<Result>): Promise<Result> => {
    try {
      return await work(await description());
    } catch (error) {
      if (error instanceof AppError) throw error;
      const detail = { reason: safeText(error), code: (error as { code?: unknown }).code };
      log.warn(detail, 'a login at the OpenID Connect provider failed');
      throw isRefusal(error) ? invalidAnswer() : unreachable(error);
    }
  };

  return {
    begin: (redirectUrl) =>
      within(async (config) => {
        const state = oidc.randomState();
        const nonce = oidc.randomNonce();
        const codeVerifier = oidc.randomPKCECodeVerifier();
        const url = oidc.buildAuthorizationUrl(config, {
          redirect_uri: redirectUrl.href,
          scope,
          state,
          nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
        });
        return { url, state, nonce, codeVerifier };
      }),

    finish: (answer, { state, nonce, codeVerifier }) =>
      within(async (config) => {
        const tokens = await oidc.authorizationCodeGrant(config, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const claimed = tokens.claims();
        if (!claimed) throw invalidAnswer();
        const more = config.serverMetadata().userinfo_endpoint
          ? await oidc.fetchUserInfo(config, tokens.access_token, claimed.sub)
          : {};
        const claims = { ...more, ...claimed };
        return {
          issuer: claimed.iss,
          subject: claimed.sub,
          email: emailOf(claims),
          ...nameOf(claims),
          role: roleOf(claims, settings),
        };
      }),
  };
}

/** The authentication of this client. Providers that do not state a method accept HTTP Basic. */
function authenticationWith(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}

/** Whether the provider answered, but not with a valid login. Otherwise it could not be reached. */
function isRefusal(error: unknown): boolean {
  if (error instanceof oidc.WWWAuthenticateChallengeError) return true;
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError)
    return true;
  const { code } = error as { code?: unknown };
  return (
    error instanceof oidc.ClientError &&
    typeof code === 'string' &&
    code.startsWith('OAUTH_') &&
    code !== 'OAUTH_TIMEOUT' &&
    code !== 'OAUTH_RESPONSE_IS_NOT_CONFORM'
  );
}

/** The provider answered, but not with a valid login. */
export function invalidAnswer(): AppError {
  return new AppError('unauthorized', 'The login at the provider was not completed: try again');
}

function unreachable(cause: unknown): AppError {
  return unavailable(
    'The login provider cannot be reached: try again later, or log in with a password',
    cause,
  );
}

/**
 * Returns a function that reads a value when it is needed and caches it for some time. Failures are not cached, and
 * concurrent callers share one call of `read`.
 * @param keptMs how long the value is cached, in milliseconds
 */
function keptFor<Value>(read: () => Promise<Value>, keptMs: number): () => Promise<Value> {
  let kept: { readonly value: Promise<Value>; readonly until: number } | null = null;
  return () => {
    if (kept && performance.now() < kept.until) return kept.value;
    const reading = { value: read(), until: performance.now() + keptMs };
    kept = reading;
    reading.value.catch(() => {
      if (kept === reading) kept = null;
    });
    return reading.value;
  };
}

/** What a provider says about a user. */
export type Claims = Readonly<Record<string, unknown>>;

/** The e-mail address in lower case; null unless the provider says that it was verified. */
function emailOf({ email: address, email_verified: isVerified }: Claims): string | null {
  if (isVerified !== true && isVerified !== 'true') return null;
  return email.safeParse(address).data ?? null;
}

/**
 * The first and the last name of the user. Both are required, so a missing one is taken from other claims or replaced
 * by a placeholder.
 */
function nameOf(claims: Claims): { firstName: string; lastName: string } {
  const { given_name, family_name, name, preferred_username } = claims;
  const [first, ...rest] = textOf(name).split(/\s+/);
  return {
    firstName: textOf(given_name) || first || textOf(preferred_username) || 'User',
    lastName: textOf(family_name) || rest.join(' ') || '-',
  };
}

/** The role for the user's groups: the first in the settings that the user has; null when there is none. */
function roleOf(
  claims: Claims,
  { OIDC_ROLE_CLAIM: claim, OIDC_ROLES: roles }: Pick<Config, 'OIDC_ROLE_CLAIM' | 'OIDC_ROLES'>,
): Role | null {
  const held = new Set([claimAt(claims, claim)].flat());
  return roles.find(({ value }) => held.has(value))?.role ?? null;
}

/** A claim by its name or, for one within objects, by its path. */
function claimAt(claims: Claims, names: string): unknown {
  if (Object.hasOwn(claims, names)) return claims[names];
  return names
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Claims)[name]
          : undefined,
      claims,
    );
}

const NAME_MAX = 100;

function textOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  return [...value.toWellFormed().replaceAll('\u0000', '').trim()].slice(0, NAME_MAX).join('');
}
