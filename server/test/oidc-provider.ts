import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** The claims of an account, besides its subject. */
export type AccountClaims = Record<string, unknown>;

/** A real OpenID Connect provider on this machine, whose login page logs `account` in without asking for anything. */
export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The accounts by their subjects. */
  readonly accounts: Map<string, AccountClaims>;
  /** The subject of the account that logs in; null if the user cancels. */
  account: string | null;
  /**
   * Makes the claims of ID tokens from the nonce of the login. A foreign token is signed with another key. If null, the
   * provider makes its own tokens.
   */
  forge: ((nonce: string) => { claims: AccountClaims; isForeign?: boolean }) | null;
  /** Starts to answer, for a client at the address. Until then, connections are cut. */
  open(redirectUri: string): Promise<void>;
  /** Cuts connections from now on. */
  shut(): void;
  close(): Promise<void>;
}

const CLIENT = { clientId: 'gantry', clientSecret: 'the secret of this test that is long enough' };

export const startProvider = async (): Promise<TestProvider> => {
  let provider: Provider | null = null;
  let isShut = false;
  let lastNonce = '';
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const foreign = await generateKeyPair('RS256');

  const finishLogin = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const result =
      self.account === null ? { error: 'access_denied' } : { login: { accountId: self.account } };
    await provider?.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };

  const answerForged = async (response: ServerResponse): Promise<void> => {
    const forged = self.forge?.(lastNonce);
    const idToken = await new SignJWT({ ...forged?.claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'test' })
      .sign(forged?.isForeign ? foreign.privateKey : privateKey);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: idToken }),
    );
  };

  const server = createServer((request, response) => {
    if (!provider || isShut) return void request.socket.destroy();
    const { pathname, searchParams } = new URL(request.url ?? '', self.issuer);
    lastNonce = searchParams.get('nonce') ?? lastNonce;
    if (pathname.startsWith('/interaction/')) return void finishLogin(request, response);
    if (pathname === '/token' && self.forge) return void answerForged(response);
    if (pathname === '/me' && self.forge) {
      const { sub } = self.forge('').claims;
      response.setHeader('content-type', 'application/json');
      return void response.end(JSON.stringify({ sub, ...self.accounts.get(String(sub)) }));
    }
    return void provider.callback()(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const self: TestProvider = {
    issuer,
    ...CLIENT,
    accounts: new Map(),
    account: null,
    forge: null,
    async open(redirectUri) {
      const jwk = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'RS256', use: 'sig' };
      provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT.clientId,
            client_secret: CLIENT.clientSecret,
            redirect_uris: [redirectUri],
            response_types: ['code'],
            grant_types: ['authorization_code'],
          },
        ],
        jwks: { keys: [jwk] },
        cookies: { keys: [randomBytes(16).toString('hex')] },
        claims: {
          openid: ['sub'],
          email: ['email', 'email_verified'],
          profile: ['given_name', 'family_name', 'name', 'groups'],
        },
        pkce: { required: () => true },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        findAccount: (_, accountId) => ({
          accountId,
          claims: () => ({ sub: accountId, ...self.accounts.get(accountId) }),
        }),
        async loadExistingGrant({ oidc }) {
          const { accountId } = oidc.session ?? {};
          const clientId = oidc.client?.clientId;
          if (accountId === undefined || clientId === undefined) return undefined;
          const grant = new oidc.provider.Grant({ accountId, clientId });
          grant.addOIDCScope('openid email profile');
          await grant.save();
          return grant;
        },
      });
    },
    shut() {
      isShut = true;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
};

/** A verifier, as a browser makes it, and its challenge. */
export const newChallenge = (): { verifier: string; challenge: string } => {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
};

/** Follows the redirects of a login page with cookies, as a browser does, until one leaves the provider. */
export const passProvider = async (page: string): Promise<string> => {
  const cookies = new Map<string, string>();
  const { origin } = new URL(page);
  let address = page;
  for (let step = 0; step < 12; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null)
      throw new Error(`${address} answered ${response.status}: ${await response.text()}`);
    address = new URL(location, address).href;
    if (new URL(address).origin !== origin) return address;
  }
  throw new Error('The login page redirects without end');
};
