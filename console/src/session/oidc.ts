import { addressOf } from '../service/address.ts';

// A login at the provider of the organisation. The browser keeps a random text, and only with it can the code that comes
// back be exchanged for a session.

const KEY = 'gantry.oidc';

interface Begun {
  readonly verifier: string;
  /** Where the user wanted to go. */
  readonly to: string;
}

/** What the service says after the login at the provider. */
export type OidcAnswer = { readonly code: string; readonly begun: Begun } | { readonly error: string };

// Read before the router reads the address, so that the code is neither shown nor in the history.
let answer = readAnswer();

/** Whether this page was opened with the answer of a provider that nobody has taken yet. */
export function hasOidcAnswer(): boolean {
  return answer !== null;
}

/** The answer with which this page was opened, once. */
export function takeOidcAnswer(): OidcAnswer | null {
  const taken = answer;
  answer = null;
  return taken;
}

/** Whether the browser offers what a login needs: only where the page came over https or from the same machine. */
export const canUseOidc = typeof crypto !== 'undefined' && crypto.subtle !== undefined;

/** Leaves for the provider. @param path as `auth.getLoginMethods` names it @param to where to go afterwards */
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
