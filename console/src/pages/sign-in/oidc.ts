import { addressOf } from '../../shared/service/url.ts';

// A login at the provider of the organisation. The browser keeps a random verifier; without it, the code in the
// redirect cannot be exchanged for a session.

const KEY = 'gantry.oidc';

interface Begun {
  readonly verifier: string;
  /** Path to open after the login. */
  readonly to: string;
}

/** The result of a login at the provider, which the service passes in the URL fragment. */
export type OidcAnswer = { readonly code: string; readonly begun: Begun } | { readonly error: string };

// Read before the router reads the URL, so that the code appears neither in the address bar nor in the history.
let answer = readAnswer();

/** Whether this page was opened with the result of a login that `takeOidcAnswer` has not returned yet. */
export function hasOidcAnswer(): boolean {
  return answer !== null;
}

/** Returns the result of the login with which this page was opened; null from the second call on. */
export function takeOidcAnswer(): OidcAnswer | null {
  const taken = answer;
  answer = null;
  return taken;
}

/** Whether the browser has the Web Crypto API that a login needs: only over https or on localhost. */
export const canUseOidc = typeof crypto !== 'undefined' && crypto.subtle !== undefined;

/** Redirects to the provider. @param path as in `auth.getLoginMethods` @param to path to open after the login */
export async function beginOidcLogin(path: string, to: string): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const hashed = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const begun: Begun = { verifier, to };
  sessionStorage.setItem(KEY, JSON.stringify(begun));
  const address = new URL(addressOf(path));
  address.searchParams.set('challenge', base64url(new Uint8Array(hashed)));
  location.assign(address);
}

function readAnswer(): OidcAnswer | null {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get('oidcCode');
  const error = given.get('oidcError');
  if (code === null && error === null) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  const begun = takeBegun();
  if (error !== null) return { error };
  return code !== null && begun ? { code, begun } : { error: '' };
}

function takeBegun(): Begun | null {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return text === null ? null : (JSON.parse(text) as Begun);
  } catch {
    return null;
  }
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
