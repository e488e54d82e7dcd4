import { GantryError } from '@gantry/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { addressOf } from '../../shared/service/files.ts';
import { api, service } from '../../shared/service/service.ts';
import { keepSession } from '../../shared/session/session.ts';
import { Button } from '../../ui/button.tsx';

interface OidcLoginProps {
  /** Path to open after the login. */
  readonly to: string;
  /** Text above the button. */
  readonly note?: string;
}

/** The button for signing in at the login provider of the organisation; renders nothing if there is none. */
export function OidcLogin({ to, note }: OidcLoginProps) {
  const { t } = useTranslation('session');
  const { data } = useQuery({ ...service.auth.getLoginMethods.queryOptions(), staleTime: 300_000 });
  const begin = useMutation({ mutationFn: (path: string) => beginOidcLogin(path, to) });
  if (!data?.oidc) return null;
  const { name, path } = data.oidc;
  return (
    <div className="flex flex-col gap-2 border-t pt-4">
      {note && <p className="text-sm text-muted">{note}</p>}
      <Button icon="key" disabled={!canUseOidc || begin.isPending} onClick={() => begin.mutate(path)}>
        <bdi className="one-line">{t('oidc.signIn', { name })}</bdi>
      </Button>
      {!canUseOidc && <p className="text-sm text-muted">{t('oidc.insecure')}</p>}
      {begin.error && <Failure error={begin.error} />}
    </div>
  );
}

/** Completes the login after the redirect back from the provider, and shows the error if it failed. */
export function OidcReturn({ onSignedIn }: { readonly onSignedIn: (to: string) => void }) {
  const { t } = useTranslation('session');
  const { mutate, error, isPending } = useMutation({
    mutationFn: async (answer: OidcAnswer) => {
      if ('error' in answer) throw new GantryError('UNAUTHORIZED', answer.error || t('oidc.notBegunHere'));
      const { code, started } = answer;
      keepSession(await api.auth.completeOidcLogin.mutate({ code, verifier: started.verifier }));
      return started.to;
    },
    onSuccess: onSignedIn,
  });
  useEffect(() => {
    const answer = takeOidcAnswer();
    if (answer) mutate(answer);
  }, [mutate]);
  if (error) return <Failure error={error} />;
  return isPending ? <p role="status">{t('oidc.completing')}</p> : null;
}

// A login at the provider of the organisation. The browser keeps a random verifier; without it, the code in the
// redirect cannot be exchanged for a session.

const KEY = 'gantry.oidc';

interface Started {
  readonly verifier: string;
  /** Path to open after the login. */
  readonly to: string;
}

/** The result of a login at the provider, which the service passes in the URL fragment. */
type OidcAnswer = { readonly code: string; readonly started: Started } | { readonly error: string };

// Read before the router reads the URL, so that the code appears neither in the address bar nor in the history.
let answer = readAnswer();

/** Whether this page was opened with the result of a login that `takeOidcAnswer` has not returned yet. */
export function hasOidcAnswer(): boolean {
  return answer !== null;
}

/** Returns the result of the login with which this page was opened; null from the second call on. */
function takeOidcAnswer(): OidcAnswer | null {
  const taken = answer;
  answer = null;
  return taken;
}

/** Whether the browser has the Web Crypto API that a login needs: only over https or on localhost. */
const canUseOidc = typeof crypto !== 'undefined' && crypto.subtle !== undefined;

/** Redirects to the provider. @param path as in `auth.getLoginMethods` @param to path to open after the login */
async function beginOidcLogin(path: string, to: string): Promise<void> {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const hashed = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const started: Started = { verifier, to };
  sessionStorage.setItem(KEY, JSON.stringify(started));
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
  const started = takeBegun();
  if (error !== null) return { error };
  return code !== null && started ? { code, started } : { error: '' };
}

function takeBegun(): Started | null {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return text === null ? null : (JSON.parse(text) as Started);
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
